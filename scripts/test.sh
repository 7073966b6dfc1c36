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

step() { printf '\n== %s\n' "$1"; }

step 'types' && npm run -s types
step 'lint' && npm run -s lint
step 'unit and API tests' && npm run -s test:unit
lxd=${LXD_DIR:-/var/lib/lxd}/unix.socket
if [ -S "$lxd" ]; then
  step 'engine tests' && npm run -s test:engines
elif [ -n "${CI:-}" ]; then
  echo "No LXD at $lxd: scripts/engines.sh has to run first." >&2
  exit 1
else
  echo "Engine tests left out: no LXD at $lxd (scripts/engines.sh starts one)."
fi
step 'console' && vite build apps/web --logLevel warn
