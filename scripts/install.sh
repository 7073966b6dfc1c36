#!/usr/bin/env bash
# Installs the project's npm packages when they are missing or the lock file changed.
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=node_modules/.zhisuan-installed
if ! cmp -s package-lock.json "$stamp"; then
  echo "Installing packages …"
  # Not `npm ci`: it refuses a lock file without other platforms' optional binaries, which a registry
  # mirror may not carry. This installs what the lock file says all the same, and does not rewrite it.
  # Optional native parts would be compiled with headers from the internet: without them they are done without.
  npm_config_nodedir=/nonexistent npm install --no-save --no-fund --no-audit --loglevel=error
  cp package-lock.json "$stamp"
fi
