#!/usr/bin/env bash
# Checks the types of every part, two at a time, the longest first; of each what changed since the last time. With one
# checker each: several work out again what all of the part share, which took three times as long.
#   scripts/types.sh [PART…]
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
mkdir -p node_modules/.cache/types
[ $# -gt 0 ] || set -- apps/web tests apps/server apps/agent packages/engines packages/contract packages/tunnel
# shellcheck disable=SC2016
printf '%s\n' "$@" |
  xargs -P 2 -I '{}' bash -c 'tsc -p "$1" --checkers 1 --incremental --tsBuildInfoFile "$PWD/node_modules/.cache/types/${1//\//-}.json"' - '{}'
