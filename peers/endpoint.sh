# shellcheck shell=bash
# What the start scripts of this folder share. A script names itself and its version
# with 'pin', says with obtain how the endpoint is had and with serve how it is run,
# and ends with 'endpoint "$@"'. All of them then answer to the same three words:
#
#   peers/NAME version      the pinned version
#   peers/NAME install      get it into .cache/peers/NAME-VERSION, once
#   peers/NAME start PORT   run it on 127.0.0.1 in the foreground; the process is the
#                           server itself, so that its id is the one to stop it by
#
# Exit 69 (EX_UNAVAILABLE): cannot be had on this machine; the last line of standard
# error is the reason. 64: usage.

peers=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$peers")
pins=$peers/pins
cache=${PEERS_CACHE:-$root/.cache/peers}
unavailable=69 usage=64

say() { printf '%s\n' "$*" >&2; }

# unavailable REASON: one sentence, no full stop.
unavailable() {
  say "$1"
  exit $unavailable
}

# need PROGRAM WHAT
need() { command -v "$1" >/dev/null || unavailable "needs $2, and there is no $1 here"; }

# attempt LOG COMMAND...: what fails is a reason not to have the endpoint.
attempt() {
  local log=$1 last
  shift
  if ! "$@" >"$log" 2>&1 </dev/null; then
    last=$(grep -v '^[[:space:]]*$' "$log" | tail -n 1)
    unavailable "'${1##*/}' failed: ${last:-no output} (log: $log)"
  fi
}

# at_least HAVE WANT: compares dotted versions.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# python_with PINS: makes $folder/venv with exactly the packages of that file.
python_with() {
  local candidate python=
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      python=$candidate
      break
    fi
  done
  [ -n "$python" ] || unavailable 'needs Python 3.11 or newer with venv (PYTHON names one)'
  attempt "$folder.log" "$python" -m venv "$folder/venv"
  attempt "$folder.log" "$folder/venv/bin/pip" install --disable-pip-version-check --no-input --require-hashes -r "$1"
}

# answers PORT: an HTTP status for ListQueues in the protocol that all of today's SDKs
# speak; 000 where nobody answers.
answers() {
  curl --noproxy '*' -s -o /dev/null -m 5 -w '%{http_code}' --aws-sigv4 aws:amz:us-east-1:sqs --user test:test \
    -H 'Content-Type: application/x-amz-json-1.0' -H 'X-Amz-Target: AmazonSQS.ListQueues' -d '{}' "http://127.0.0.1:$1/" || true
}

# free_port: one of 127.0.0.1 that nobody listens on.
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

# pin NAME VERSION: the files of that version go into $folder.
pin() {
  name=$1 version=$2 folder=$cache/$1-$2
}

# pinned: a checksum of what an installation is made from.
pinned() {
  local file
  for file in "$peers/$name" "$pins/$name".* "$pins/$name"/*; do
    [ ! -f "$file" ] || cat "$file"
  done | cksum
}

install_once() {
  local want
  want=$(pinned)
  mkdir -p "$cache"
  # Two runs at a time: the second waits for the first's installation.
  if command -v flock >/dev/null; then
    exec 9>"$folder.lock"
    flock 9
  fi
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$want" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    obtain
    echo "$want" >"$folder/installed"
  fi
  exec 9>&-
}

endpoint() {
  case ${1-}/$# in
  version/1) echo "$version" ;;
  install/1) install_once ;;
  start/2)
    if ! [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || [ "$2" -gt 65535 ]; then
      say "peers/$name: '$2' is not a port"
      exit $usage
    fi
    install_once
    serve "$2"
    ;;
  *)
    say "usage: peers/$name install | start PORT | version"
    exit $usage
    ;;
  esac
}
