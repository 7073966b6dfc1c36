#!/usr/bin/env bash
# npm start: installs what is missing, builds the console if it is older than its sources, and starts the server.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/install.sh
export PATH="$PWD/node_modules/.bin:$PATH"
built=apps/web/dist/index.html
if [ ! -f "$built" ] || [ -n "$(find apps/web packages/contract/src package-lock.json -newer "$built" -type f -not -path '*/node_modules/*' -not -path 'apps/web/dist/*' -print -quit)" ]; then
  echo "Building the console …"
  vite build apps/web --logLevel warn
fi
exec node apps/server/src/main.ts
