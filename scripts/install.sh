#!/usr/bin/env bash
# Installs the project's npm packages when they are missing or the lock file changed.
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=node_modules/.zhisuan-installed
if ! cmp -s package-lock.json "$stamp"; then
  echo "Installing packages …"
  npm ci --no-fund --no-audit --loglevel=error
  cp package-lock.json "$stamp"
fi
