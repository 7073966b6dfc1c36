#!/usr/bin/env bash
# What guards main, and what is finished.
#   scripts/test.sh              the quick ones: types, lint, the build, unit tests, and one journey of each engine and product group
#   scripts/test.sh all          everything there is
#   scripts/test.sh SUITE…       of unit, long, lxd, cluster, docker, browser
#   scripts/test.sh PATH…        what lies where its path has that in it, with types and lint of it
# Engine tests run where an engine's socket is; in CI a missing one is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/install.sh
# What is installed, once, is not what is measured.
started=$SECONDS
export PATH="$PWD/node_modules/.bin:$PATH"
# Node keeps what it compiled: a server starts in three quarters of the time.
export NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE:-$PWD/node_modules/.cache/node}

# shellcheck source=scripts/packages.sh
. scripts/packages.sh

# All that tests write, in one folder that goes with them. In memory where there is room for it: hundreds of databases
# come and go, and ext4 looks for a free inode among all those that went in the last seconds, which took a third of
# both processors.
memory=/dev/shm
[ "$(df --output=avail -k "$memory" 2>/dev/null | tail -n 1)" -gt $((4 << 20)) ] 2>/dev/null || memory=$(dirname "$(mktemp -u)")
# What a run left that was killed. A folder is in use as long as its lock is.
for scratch in "$memory"/zs.*; do
  [ -e "$scratch" ] && flock --nonblock "$scratch" rm -rf "$scratch" || true
done
# A short name: sockets that lie deep within have to fit into 107 bytes.
scratch=$(mktemp -d "$memory/zs.XXXX")
exec {in_use}<"$scratch"
flock "$in_use"
# PostgreSQL runs as a system user of its own.
chmod 755 "$scratch"
export TMPDIR=$scratch
logs=$(mktemp -d)
declare -A running=()
trap 'for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done; wait; rm -rf "$scratch"' EXIT
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
  if [ "$2" != 0 ] && ! once_more "$1"; then word=FAILED failed=1; fi
  results+=("$(told_of "$1" "$word" "$3")")
}

# In CI a few files with failures run once more, each whole and by itself, as its tests may lean on one another: what
# passes then has wavered, which is told of and has to be mended, and keeps nobody's work away. What is broken fails twice.
once_more() {
  local log=$logs/$1 files
  case $1 in unit | long | lxd | cluster | docker | *.journey) ;; *) return 1 ;; esac
  [ -n "${CI:-}" ] || return 1
  sed -i 's/\x1b\[[0-9;]*m//g' "$log"
  mapfile -t files < <(sed -nE 's#^ *FAIL +[a-z]+ +([^ ]+\.tsx?)( .*|$)#\1#p' "$log" | sort -u)
  [ ${#files[@]} -gt 0 ] && [ ${#files[@]} -le 3 ] || return 1
  printf '\n== %s, once more\n' "$1"
  vitest run --project "${1%.journey}" "${files[@]}" 2>&1 | tee "$log.again" || return 1
  sed -i -E 's/^ *FAIL +/ WAVERED /' "$log"
}

# What each suite may take on two quiet processors, in seconds; what is over is said at the end, and refuses nothing.
declare -A budgets=(
  [types]=110 [lint]=15 [console]=20 [unit]=240 [lxd.journey]=60 [docker.journey]=60 [browser.journeys]=180 [all.quick]=600
  [long]=420 [lxd]=900 [cluster]=900 [docker]=900 [browser]=1500 [all]=3600
)

told_of() {
  local budget=${budgets[$1]:-}
  printf '%-20s %-6s %4d s' "$1" "$2" "$3"
  [ -z "$budget" ] || printf ' of %4d%s' "$budget" "$([ "$3" -le "$budget" ] || echo '  OVER')"
}

step() {
  case $1 in
    types) exec bash scripts/types.sh ;;
    *.journey) exec vitest run --project "${1%.journey}" "engines/$1" ;;
    *) exec vitest run --project "$1" ;;
  esac
}

# beside NAME…: these steps one after the other, while others run; outcomes_of tells of them.
beside() {
  (
    child=
    trap 'kill "$child" 2>/dev/null || true; exit 1' TERM
    for name in "$@"; do
      started=$SECONDS status=0
      step "$name" >"$logs/$name" 2>&1 &
      child=$!
      wait "$child" || status=$?
      echo "$status $((SECONDS - started))" >"$logs/.$name"
    done
  ) &
  running[$*]=$!
}

outcomes_of() {
  local name status seconds
  wait "${running[$*]}" || true
  unset "running[$*]"
  for name in "$@"; do
    printf '\n== %s\n' "$name"
    cat "$logs/$name" || true
    read -r status seconds <"$logs/.$name" || status=1 seconds=0
    outcome "$name" "$status" "$seconds"
  done
}

# What failed, at the very end: that is what is read first.
failures() {
  printf '\n== failures\n'
  # With where it failed, and what was looked for and seen there.
  sed 's/\x1b\[[0-9;]*m//g' "$logs"/* | grep -aE '^ *(FAIL |✘|[A-Za-z]*Error: |error TS|.*: error |> *[0-9]+ \||Locator: |Expected[^:]*: |Received[^:]*: |❯ .*:[0-9]+:[0-9]+$|\+  +")' | cut -c1-300 | awk '!seen[$0]++' | head -80 || true
}

# Tests that passed the second time only: nobody may get used to them.
wavered() {
  local seen
  seen=$(sed 's/\x1b\[[0-9;]*m//g' "$logs"/* | grep -aE '^ *(WAVERED |✓ .*\(retry #1\))' | cut -c1-300 || true)
  [ -z "$seen" ] || printf '\n== wavered\n%s\n' "$seen"
}

# A browser breaks off what it asks whenever an interface of the host comes or goes, as they do beside engine
# tests: it and its servers get a network of their own. They reach the engines by their sockets.
browser_tests() {
  # nginx stands in front of the server in one of the tests, as docs/operations.md says it should.
  need_packages fonts-noto-cjk iproute2 nginx-light openssl
  # Or the whole browser, where there is no other: it keeps a bar and a process for it around each page, which takes a
  # fifth of the tests' time.
  [ -n "${CHROMIUM:-}" ] || need_packages chromium-headless-shell || need_packages chromium
  local command=(playwright test --config tests/browser/playwright.config.ts "$@")
  if [ "$(id -u)" = 0 ] && unshare --net true 2>/dev/null; then
    # shellcheck disable=SC2016
    HOST_NETWORK=/proc/$$/ns/net unshare --net sh -c 'ip link set lo up && exec "$@"' sh "${command[@]}"
  else
    "${command[@]}"
  fi
}

# Where they cannot be installed, the tests that need them fail.
long_tests() {
  need_packages radosgw ceph-mon ceph-osd ceph-common || true
  vitest run --project long
}

lxd=${LXD_DIR:-/var/lib/lxd}/unix.socket
# There is one, or nobody asked for it.
engines_are_there() {
  [ -S "$lxd" ] && return
  if [ -n "${CI:-}" ]; then
    echo "No LXD at $lxd: scripts/engines.sh has to run first." >&2
    exit 1
  fi
  echo "Engine tests left out: no LXD at $lxd (scripts/engines.sh starts one)."
  return 1
}

checked() {
  beside types
  run lint npm run -s lint
  run console vite build apps/web --logLevel warn
  outcomes_of types
}

quick() {
  checked
  # What keeps the processors busy runs alone: beside others it takes a third more of them, as whoever waits goes on looking.
  run unit vitest run --project unit
  local engines=()
  if engines_are_there; then engines=(lxd.journey docker.journey); fi
  [ ${#engines[@]} = 0 ] || beside "${engines[@]}"
  run browser.journeys browser_tests --grep @journey
  [ ${#engines[@]} = 0 ] || outcomes_of "${engines[@]}"
}

everything() {
  checked
  run unit vitest run --project unit
  run long long_tests
  if engines_are_there; then
    beside lxd
    beside docker
    outcomes_of docker
    outcomes_of lxd
    # This mostly waits.
    beside cluster
    run browser browser_tests
    outcomes_of cluster
  else
    run browser browser_tests
  fi
}

suite() {
  case $1 in
    browser)
      run console vite build apps/web --logLevel warn
      run browser browser_tests
      ;;
    long) run long long_tests ;;
    *) run "$1" vitest run --project "$1" ;;
  esac
}

# What an engineer runs every few minutes.
paths() {
  local files parts specs tests
  files=$({ git ls-files; git ls-files --others --exclude-standard; } | grep -F "${@/#/-e}" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
  [ -n "$files" ] || { echo "There is nothing at $*." >&2; exit 2; }
  parts=$(sed -nE 's#^((apps|packages)/[^/]+|tests)/.*#\1#p' <<<"$files" | sort -u)
  specs=$(grep -E '\.spec\.ts$' <<<"$files" || true)
  tests=$(grep -E '\.test\.tsx?$' <<<"$files" | grep -vE '\.(long|openstack)\.test\.ts$' || true)
  # shellcheck disable=SC2086
  run types bash scripts/types.sh $parts
  # shellcheck disable=SC2086
  run lint sh -c 'oxlint --deny-warnings "$@" && oxfmt --check "$@"' sh $(grep -E '\.(ts|tsx|mjs|js)$' <<<"$files")
  # shellcheck disable=SC2086
  [ -z "$tests" ] || run tests vitest run $tests
  if [ -n "$specs" ]; then
    run console vite build apps/web --logLevel warn
    # shellcheck disable=SC2086
    run browser browser_tests $specs
  fi
}

all=all
case ${1:-} in
  '')
    all=all.quick
    quick
    ;;
  all) everything ;;
  unit | long | lxd | cluster | docker | browser) for name in "$@"; do suite "$name"; done ;;
  *)
    all=together
    paths "$@"
    ;;
esac
node scripts/slowest.mjs "$logs"/*
[ "$failed" = 0 ] || failures
wavered
printf '\n== outcome\n'
printf '%s\n' "${results[@]}" "$(told_of "$all" '' $((SECONDS - started)))"
exit "$failed"
