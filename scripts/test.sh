#!/usr/bin/env bash
# npm test: everything. Engine tests run where an engine's socket is; in CI a missing one is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/install.sh
export PATH="$PWD/node_modules/.bin:$PATH"
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}

need() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" != 0 ]; then
    echo "Browser tests need ${missing[*]}. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

logs=$(mktemp -d)
declare -A running=()
trap 'for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done; rm -rf "$logs"' EXIT
results=()
failed=0

# run NAME COMMAND…: a step that the others go on after, so that one run tells all that is wrong.
run() {
  local name=$1 started=$SECONDS status=0
  shift
  printf '\n== %s\n' "$name"
  "$@" 2>&1 | tee "$logs/$name" || status=$?
  outcome "$name" "$status" $((SECONDS - started))
}

outcome() {
  local word=ok
  if [ "$2" != 0 ]; then word=FAILED failed=1; fi
  results+=("$(printf '%-20s %-6s %4d s' "$1" "$word" "$3")")
}

# What failed, at the very end: that is what is read first.
failures() {
  printf '\n== failures\n'
  # With where it failed, and what was looked for and seen there.
  sed 's/\x1b\[[0-9;]*m//g' "$logs"/* | grep -aE '^ *(FAIL |✘|[A-Za-z]*Error: |error TS|.*: error |> *[0-9]+ \||Locator: |Expected[^:]*: |Received[^:]*: |❯ .*:[0-9]+:[0-9]+$|\+  +")' | cut -c1-300 | awk '!seen[$0]++' | head -80 || true
}

# A browser breaks off what it asks whenever an interface of the host comes or goes, as they do beside engine
# tests: it and its servers get a network of their own. They reach the engines by their sockets.
browser_tests() {
  if [ "$(id -u)" = 0 ] && unshare --net true 2>/dev/null; then
    HOST_NETWORK=/proc/$$/ns/net unshare --net sh -c 'ip link set lo up && exec npm run -s test:browser'
  else
    npm run -s test:browser
  fi
}

run types npm run -s types
run lint npm run -s lint
lxd=${LXD_DIR:-/var/lib/lxd}/unix.socket
if [ -S "$lxd" ]; then
  # Beside the others: these mostly wait for their engines, those keep the processors busy.
  engines_started=$SECONDS
  for engine in lxd cluster docker; do
    vitest run --project "$engine" >"$logs/$engine" 2>&1 &
    running[$engine]=$!
  done
elif [ -n "${CI:-}" ]; then
  echo "No LXD at $lxd: scripts/engines.sh has to run first." >&2
  exit 1
else
  echo "Engine tests left out: no LXD at $lxd (scripts/engines.sh starts one)."
fi
run unit npm run -s test:unit
run console vite build apps/web --logLevel warn
need chromium fonts-noto-cjk iproute2
run browser browser_tests
for engine in "${!running[@]}"; do
  printf '\n== %s\n' "$engine"
  status=0
  wait "${running[$engine]}" || status=$?
  cat "$logs/$engine"
  outcome "$engine" "$status" $((SECONDS - engines_started))
done
[ "$failed" = 0 ] || failures
printf '\n== outcome\n'
printf '%s\n' "${results[@]}"
exit "$failed"
