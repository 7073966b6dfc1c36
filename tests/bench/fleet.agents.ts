import { agentPaths, type NodeFacts, type NodeMetrics } from '@zhisuan/contract/agent/node'
import { keepTunnel } from '../../apps/agent/src/tunnel.ts'

/** What {@link benchFleet} hands to a process of agents. */
export type ToAgents =
  | {
      readonly start: { readonly url: string; readonly publicKey: string; readonly agents: readonly { readonly edgeId: string; readonly privateKey: string }[] }
    }
  /** Only so many of them go on. */
  | { readonly keep: number }
/** What it hears of them, several times a second. */
export interface FromAgents {
  readonly connected: number
  /** Connections that ended so far. */
  readonly ended: number
  /** Metrics that were asked for so far. */
  readonly asked: number
}

const version = '0.1.0'
const gib = 2 ** 30
const sayEveryMs = 200

const connected = new Set<string>()
const stops: AbortController[] = []
let ended = 0
let asked = 0

/** A node of eight cards, such as this platform is for. */
const uuidOf = (n: number, card: number): string => `GPU-${String(n).padStart(8, '0')}-0000-4000-8000-${String(card).padStart(12, '0')}`
const cards = Array.from({ length: 8 }, (_, index) => index)
const factsOf = (n: number): NodeFacts => ({
  host_name: `edge-${n}`,
  machine_id: n.toString(16).padStart(32, '0'),
  os: 'Debian GNU/Linux 13 (trixie)',
  kernel: '6.12.0',
  architecture: 'x86_64',
  cpu: { model: 'Some CPU', cores: 64, threads: 128 },
  memory_bytes: 1024 * gib,
  swap_bytes: 0,
  disks: ['/', '/data'].map((mount) => ({ mount, device: `/dev/disk${mount}`, file_system: 'ext4', total_bytes: 4096 * gib })),
  nics: [{ name: 'eth0', mac: '52:54:00:00:00:01', addresses: [`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}/8`], speed_mbps: 25_000 }],
  gpus: cards.map((index) => ({
    index,
    uuid: uuidOf(n, index),
    vendor: 'nvidia',
    model: 'NVIDIA H100 80GB HBM3',
    memory_bytes: 80 * gib,
    driver: '550.54.15',
  })),
  docker: null,
  docker_error: 'connect ENOENT /var/run/docker.sock',
  booted_at: new Date(0).toISOString(),
  agent_version: version,
})
const hundredths = (most: number): number => Math.round(Math.random() * most * 100) / 100
/** As exact as Linux and nvidia-smi are. */
const metricsOf = (n: number): NodeMetrics => ({
  at: new Date().toISOString(),
  cpu_share: Math.random(),
  load: [hundredths(64), hundredths(64), hundredths(64)],
  memory: { total_bytes: 1024 * gib, used_bytes: Math.round(Math.random() * 1024 * 2 ** 20) * 1024 },
  disks: ['/', '/data'].map((mount) => ({ mount, total_bytes: 4096 * gib, used_bytes: Math.round(Math.random() * 2 ** 30) * 4096 })),
  nics: [{ name: 'eth0', received_bytes: Date.now() * 1_000, sent_bytes: Date.now() * 2_000 }],
  gpus: cards.map((index) => ({
    uuid: uuidOf(n, index),
    share: hundredths(1),
    memory_used_bytes: Math.round(Math.random() * 80 * 1024) * 2 ** 20,
    temperature_celsius: 40 + Math.round(Math.random() * 40),
    power_watts: hundredths(700),
  })),
})

function start({ url, publicKey, agents }: Extract<ToAgents, { start: unknown }>['start']): void {
  for (const [n, { edgeId, privateKey }] of agents.entries()) {
    const stop = new AbortController()
    stops.push(stop)
    void keepTunnel({
      edgeId,
      privateKey,
      server: { url, public_key: publicKey },
      version,
      signal: stop.signal,
      up: () => connected.add(edgeId),
      say: () => {
        if (connected.delete(edgeId)) ended++
      },
      handler: (request, response) => {
        if (request.url === agentPaths.metrics) {
          asked++
          response.end(JSON.stringify(metricsOf(n)))
        } else if (request.url === agentPaths.facts) response.end(JSON.stringify(factsOf(n)))
        else if (request.url === agentPaths.gateway) response.end(JSON.stringify({ port: null, connections: 0 }))
        else response.writeHead(404).end(JSON.stringify({ message: 'no such path' }))
      },
    }).finally(() => connected.delete(edgeId))
  }
}

process.on('message', (message: ToAgents) => {
  if ('start' in message) start(message.start)
  else for (const stop of stops.splice(message.keep)) stop.abort()
})
// The bench has ended, however it did.
process.on('disconnect', () => process.exit(0))
setInterval(() => process.send?.({ connected: connected.size, ended, asked } satisfies FromAgents), sayEveryMs)
