import { readFileSync } from 'node:fs'
import type { AgentBundle, NodeProgram } from './agent.files.ts'

/** The agent's own unit, with the paths that the script finds. */
const unit = readFileSync(new URL('../../../../../agent/deploy/zhisuan-agent.service', import.meta.url), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/^ExecStart=.*$/m, 'ExecStart=$node $program/agent.mjs run --data $data')
  .trimEnd()

/**
 * What the printed command runs on a node, as root. The program is checked against the hash that
 * stands here, and the agent checks the server's key that the command names. The token comes in front
 * of the script and goes on in the environment: arguments are read by everybody on the node.
 */
export const installScript = (
  { version, sha256 }: Pick<AgentBundle, 'version' | 'sha256'>,
  node: Pick<NodeProgram, 'version' | 'machine' | 'sha256'> | null,
): string => `#!/bin/sh
# Installs the Zhisuan edge agent ${version}.
set -eu
server= key= via= token=\${ZHISUAN_TOKEN:-}
unset ZHISUAN_TOKEN
while [ $# -gt 0 ]; do
  case "$1" in
    --server) server=$2 ;;
    --key) key=$2 ;;
    --via) via=$2 ;;
    *) echo "unknown option: $1" >&2; exit 2 ;;
  esac
  shift 2
done
[ -n "$server" ] && [ -n "$token" ] && [ -n "$key" ] || { echo 'usage: ZHISUAN_TOKEN=TOKEN install.sh --server URL --key KEY [--via GATEWAY:PORT]' >&2; exit 2; }
program=\${ZHISUAN_PROGRAM_DIR:-/opt/zhisuan-agent}
data=\${ZHISUAN_DATA_DIR:-/var/lib/zhisuan-agent}
runs() { [ -n "$1" ] && [ "$("$1" -p 'process.versions.node.split(".")[0] >= 22' 2>/dev/null)" = true ]; }
mkdir -p "$program" "$data"
node=$(command -v node || true)
runs "$node" || node=$program/node
if ! runs "$node"; then
  [ "$(uname -s) $(uname -m)" = '${node === null ? '' : `Linux ${node.machine}`}' ] || { echo 'Node.js 22 or newer is needed, and the platform has none for this machine: https://nodejs.org' >&2; exit 1; }
  echo 'This machine has no Node.js 22: the agent gets one of its own.'
  curl -fsSL \${via:+-p -x "http://$via"} "$server/agent/node/${node?.version ?? ''}" -o "$node.new"
  echo "${node?.sha256 ?? ''}  $node.new" | sha256sum -c - >/dev/null || { rm -f "$node.new"; echo 'Node.js is not the one that was announced: another SHA-256' >&2; exit 1; }
  chmod 755 "$node.new"
  mv "$node.new" "$node"
  runs "$node" || { echo 'The Node.js of the platform does not run on this system; install Node.js 22 or newer: https://nodejs.org' >&2; exit 1; }
fi
chmod 700 "$data"
curl -fsSL \${via:+-p -x "http://$via"} "$server/agent/${version}/agent.mjs" -o "$program/agent.mjs.new"
echo "${sha256}  $program/agent.mjs.new" | sha256sum -c - >/dev/null || { rm -f "$program/agent.mjs.new"; echo 'the program is not the one that was announced: another SHA-256' >&2; exit 1; }
mv "$program/agent.mjs.new" "$program/agent.mjs"
ZHISUAN_TOKEN=$token "$node" "$program/agent.mjs" enrol --server "$server" --key "$key" --data "$data" \${via:+--via "$via"}
if [ -d /run/systemd/system ] && [ -z "\${ZHISUAN_NO_SERVICE:-}" ]; then
  cat >/etc/systemd/system/zhisuan-agent.service <<UNIT
${unit}
UNIT
  systemctl daemon-reload
  systemctl enable --now zhisuan-agent.service
  systemctl restart zhisuan-agent.service
  echo 'The agent is running: systemctl status zhisuan-agent'
else
  echo "No service was set up. Start the agent with: $node $program/agent.mjs run --data $data"
fi
`
