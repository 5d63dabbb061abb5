# shellcheck shell=bash disable=SC2034 # some are for the scripts that read this one
# What up, down, wait, logs and test share. One instance = one port = one state
# folder, .cache/localstack/run-PORT:
#
#   way         docker or python
#   pid, born   python: leader of the process group, and when it started
#   log         python: what LocalStack printed
#   exit        python: its exit code, once it has ended
#   files/      python: what LocalStack writes

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${LOCALSTACK_CACHE:-$root/.cache/localstack}
version=4.14.0
services=${LOCALSTACK_SERVICES:-sqs}
port=${LOCALSTACK_PORT:-4566}
url=http://127.0.0.1:$port
state=$cache/run-$port
container=fifoproof-localstack-$port
program=localstack/${0##*/}

# Exit codes, as those of the programs of this repository.
harness=3 usage=64

variables='Variables:
  LOCALSTACK_PORT        port on 127.0.0.1 (4566); each port has an instance of its own
  LOCALSTACK_SERVICES    which services (sqs); others, such as Terraform needs: sqs,sns,iam,sts,cloudwatch,kms
  LOCALSTACK_WAY         docker or python; else a Docker engine that answers, or Python
  LOCALSTACK_PYTHON      which Python >= 3.13 to use
  LOCALSTACK_IMAGE       another image (localstack/localstack:4.14.0), Docker only
  LOCALSTACK_AUTH_TOKEN  the token that images newer than 4.14.0 ask for
  LOCALSTACK_WAIT        seconds until LocalStack must be healthy (60)
  LOCALSTACK_CACHE       folder for the environment, state and logs (.cache/localstack)'

say() { printf '%s\n' "$*" >&2; }

# fail CODE SENTENCE [HINT]
fail() {
  say "$program: $2"
  [ $# -lt 3 ] || say "hint: $3"
  exit "$1"
}

# options TEXT ARGS...: for the scripts that take no arguments
options() {
  case ${2-} in
  '') ;;
  -h | --help)
    printf '%s\n\n%s\n' "$1" "$variables"
    exit 0
    ;;
  *) fail $usage "unknown argument '$2'" "'$program --help' tells what there is" ;;
  esac
  if ! [[ $port =~ ^[1-9][0-9]{0,4}$ ]] || [ "$port" -gt 65535 ]; then
    fail $usage "LOCALSTACK_PORT is '$port', which is not a port"
  fi
  [[ ,$services, =~ ^(,[a-z0-9]+)+,$ && ,$services, == *,sqs,* ]] ||
    fail $usage "LOCALSTACK_SERVICES is '$services', which is no list such as sqs,sns"
}

# limited SECONDS COMMAND...: macOS has no 'timeout'; there, without a limit.
limited() {
  if command -v timeout >/dev/null; then timeout "$@"; else "${@:2}"; fi
}

# --- what answers at the port

# No proxy, and not the user's .curlrc: this is a call to the own machine.
ask() { curl -q -s --noproxy '*' --max-time 3 "$@"; }

health() { ask "$url/_localstack/health" || true; }

# field NAME TEXT: the word after "NAME": in a health page.
field() { sed -nE "s/.*\"$1\": *\"([^\"]*)\".*/\1/p" <<<"$2" | head -n 1; }

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# lists_queues: one real call, as an SDK makes it. The first loads the service.
lists_queues() {
  ask --max-time 15 -f -o /dev/null -H 'Content-Type: application/x-amz-json-1.0' -H 'X-Amz-Target: AmazonSQS.ListQueues' \
    -H 'Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0' \
    -d '{}' "$url/"
}

# --- what was started

way() { cat "$state/way" 2>/dev/null || true; }

# born PID: the instant a process started. With it an id that the system has
# given to another process is not taken for ours.
born() {
  if [ -r "/proc/$1/stat" ]; then
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
  else
    ps -o lstart= -p "$1" 2>/dev/null || true
  fi
}

# ours PID: whether PID is still the process that up started.
ours() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null && [ "$(born "$1")" = "$(cat "$state/born" 2>/dev/null)" ]; }

leader() { cat "$state/pid" 2>/dev/null || true; }

# status: running, or 'ended CODE', or 'none' where up has started nothing here.
status() {
  case $(way) in
  python)
    if [ -s "$state/exit" ]; then
      echo "ended $(cat "$state/exit")"
    elif ours "$(leader)"; then
      echo running
    else
      echo 'ended by force'
    fi
    ;;
  docker)
    local seen
    seen=$(limited 20 docker inspect --format '{{.State.Status}} {{.State.ExitCode}}' "$container" 2>/dev/null) || seen='gone'
    case $seen in
    exited* | dead*) echo "ended ${seen#* }" ;;
    gone) echo 'ended by force' ;;
    *) echo running ;;
    esac
    ;;
  *) echo none ;;
  esac
}

# log_lines LINES: the last lines of the log, or 'all'. Without Docker also after down.
log_lines() {
  if [ "$(way)" = docker ]; then
    docker logs --tail "$1" "$container" 2>&1
  elif [ "$1" = all ]; then
    cat "$state/log"
  else
    tail -n "$1" "$state/log"
  fi
}

# compose COMMAND...: with the plugin, or with the older program.
compose() {
  local program=(docker-compose)
  ! docker compose version >/dev/null 2>&1 || program=(docker compose)
  LOCALSTACK_PORT=$port "${program[@]}" -p "$container" -f "$root/localstack/docker-compose.yml" "$@"
}

# --- which way

# engine: says on stdout why Docker can be used, or fails and says why not.
engine() {
  local answer
  if ! command -v docker >/dev/null; then
    echo 'there is no docker command'
    return 1
  fi
  if ! answer=$(limited 15 docker info --format '{{.ServerVersion}}' 2>/dev/null) || [ -z "$answer" ]; then
    echo 'no Docker engine answers'
    return 1
  fi
  if ! docker compose version >/dev/null 2>&1 && ! command -v docker-compose >/dev/null; then
    echo "Docker engine $answer answers, but neither 'docker compose' nor 'docker-compose' is there"
    return 1
  fi
  echo "Docker engine $answer answers"
}

# capable PYTHON: 4.14.0 says 'class Queue[T]' and 'from warnings import deprecated',
# which 3.12 does not know though the package admits it; Debian packs ensurepip apart.
capable() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 13))' >/dev/null 2>&1; }

# find_python: a Python that can run LocalStack. pyenv's shims are on PATH also for
# versions that are not switched on, so each is tried.
find_python() {
  local candidate
  if [ -n "${LOCALSTACK_PYTHON:-}" ]; then
    capable "$LOCALSTACK_PYTHON" && echo "$LOCALSTACK_PYTHON"
    return
  fi
  for candidate in python3.13 python3.14 python3.15 python3 python "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[3-9]*/bin/python3; do
    if command -v "$candidate" >/dev/null && capable "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}
