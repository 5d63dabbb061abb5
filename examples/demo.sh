#!/usr/bin/env bash
# The story of SQS FIFO deduplication in a terminal: ten sends, a changed field,
# five minutes later, the receipts. Real programs, a virtual clock.
set -euo pipefail

bin=$(cd "${1:-bin}" && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"

say() {
  if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    printf '\n\033[1m%s\033[0m\n' "$*"
  else
    printf '\n%s\n' "$*"
  fi
}
show() {
  printf '$ %s\n' "$*"
  # In one stream, or the story comes out of order. That this queue has no dead-letter
  # queue is another story.
  "$bin/$1" "${@:2}" 2>&1 | grep -v 'has no redrive policy'
}

"$bin/fifoproof" serve --addr 127.0.0.1:0 --clock virtual --queue orders.fifo >exports 2>serve.log &
server=$!
for _ in $(seq 100); do
  grep -q AWS_SECRET_ACCESS_KEY exports && break
  kill -0 "$server" 2>/dev/null || { cat serve.log >&2; exit 3; }
  sleep 0.1
done
eval "$(cat exports)"

echo '{"order": 7301234567890123456, "amount": 10.00, "customer": "Zoë"}' >order.json
echo '{"order": 7301234567890123456, "amount": 10.01, "customer": "Zoë"}' >changed.json

say 'One order, sent ten times: SQS answers success ten times and keeps one.'
show producer --queue orders.fifo --repeat 10 --log sends.jsonl order.json
show consumer --queue orders.fifo --until-empty 1s

say 'The amount changes by a cent: a new message.'
show producer --queue orders.fifo --log sends.jsonl changed.json
show consumer --queue orders.fifo --until-empty 1s

say 'The first order again, though it was received and deleted: still suppressed.'
show producer --queue orders.fifo --log sends.jsonl order.json
show consumer --queue orders.fifo --until-empty 1s

say 'Five minutes later.'
echo "\$ curl -d '{\"by\":\"5m\"}' $AWS_ENDPOINT_URL/_fifoproof/clock/advance"
curl -fsS -d '{"by":"5m"}' "$AWS_ENDPOINT_URL/_fifoproof/clock/advance"
echo

say 'The same order once more: SQS delivers it again. The consumer has seen it, and does nothing.'
show producer --queue orders.fifo --log sends.jsonl order.json
show consumer --queue orders.fifo --until-empty 1s

say 'The receipts: every delivery is on record, every effect happened once.'
show consumer receipts
