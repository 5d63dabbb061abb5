# What build and check have in common. Sourced.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # by those who source this
platforms='linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64'
# shellcheck disable=SC2034
programs='fifoproof producer consumer'

fail() { # CODE SENTENCE [HINT]
  printf '%s: %s\n' "${0#"$root/"}" "$2" >&2
  [ -z "${3:-}" ] || printf 'hint: %s\n' "$3" >&2
  exit "$1"
}

version() { sed -nE 's/^const Version = "(.*)"$/\1/p' "$root/internal/cli/version.go"; }

# commit: as the programs say it. A build of what is not committed says so. Where Git is
# not at hand, as in a container, FIFOPROOF_COMMIT tells it.
commit() {
  local id
  [ -z "${FIFOPROOF_COMMIT:-}" ] || { printf %s "$FIFOPROOF_COMMIT"; return; }
  id=$(git -C "$root" rev-parse HEAD 2>/dev/null) || { printf unknown; return; }
  [ -z "$(git -C "$root" status --porcelain)" ] || id+=', modified'
  printf %s "$id"
}
