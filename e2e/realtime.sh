#!/usr/bin/env bash
# One full window in real time: the suite against 'fifoproof serve --clock real',
# which must pass within 375 s, and beside it against moto, which must be found out:
# it delivers a duplicate once the first copy is deleted.
#
# usage: realtime.sh BIN OUT     (needs python3 with venv, and PyPI once)
set -euo pipefail

bin=$1 out=$2
limit=375
moto=5.2.5
mkdir -p "$out" .cache
pids=()
trap 'for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done' EXIT

if [ ! -x .cache/moto/bin/moto_server ] || [ "$(cat .cache/moto/version 2>/dev/null)" != "$moto" ]; then
  echo "installing moto $moto"
  rm -rf .cache/moto
  python3 -m venv .cache/moto
  .cache/moto/bin/pip install --quiet --disable-pip-version-check "moto[server]==$moto"
  echo "$moto" >.cache/moto/version
fi

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
await() { # NAME PID URL
  for _ in $(seq 300); do
    curl -s -o /dev/null "$3" && return
    kill -0 "$2" 2>/dev/null || break
    sleep 0.1
  done
  echo "$1 does not answer at $3" >&2
  exit 3
}

serve_port=$(free_port)
"$bin/fifoproof" serve --addr "127.0.0.1:$serve_port" >"$out/serve.txt" 2>"$out/serve.log" &
pids+=($!)
await 'fifoproof serve' $! "http://127.0.0.1:$serve_port/_fifoproof/health"

moto_port=$(free_port)
.cache/moto/bin/moto_server -H 127.0.0.1 -p "$moto_port" >"$out/moto.log" 2>&1 &
pids+=($!)
await moto $! "http://127.0.0.1:$moto_port/"

verdict=0
"$bin/fifoproof" verify --target "http://127.0.0.1:$moto_port" --case lifecycle --case scope --case window/basic --out "$out/moto" >/dev/null 2>"$out/moto-verify.log" || verdict=$?
grep -E 'FAIL|inconclusive|error|exit' "$out/moto/report.txt" || true
if [ "$verdict" != 1 ] || ! grep -q '^  fail .*lifecycle/resend/after-delete' "$out/moto/report.txt"; then
  cat "$out/moto/report.txt"
  echo "moto: exit $verdict, and lifecycle/resend/after-delete must fail with exit 1" >&2
  exit 1
fi
echo "moto $moto: a duplicate after delete is delivered, found with exit 1 as it must be"

began=$SECONDS
"$bin/fifoproof" verify --target "http://127.0.0.1:$serve_port" --out "$out/serve"
took=$((SECONDS - began))
echo "fifoproof serve --clock real: all cases in $took s, at most $limit s are allowed"
[ "$took" -le "$limit" ]
