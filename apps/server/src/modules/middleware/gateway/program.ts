import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import type { PortSpec } from '@zhisuan/contract/middleware/gateway'

/** Whom the platform is to HAProxy's own page of statistics, and where that is. */
export const statsUser = 'zhisuan'
export const statsPath = '/stats'
/** What a proxy and a server are called in the configuration: whatever people call them is not in it. */
export const proxyName = (portId: string): string => `port-${portId}`
export const serverName = (targetId: string): string => `target-${targetId}`

export interface GatewayShape {
  readonly control_port: number
  readonly connections_most: number
  readonly drain_minutes: number
}

const loopback = '127.0.0.1'
const addressOf = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address)
const isName = (address: string): boolean => isIP(address) === 0

/** One port, as lines of HAProxy's configuration. All texts in it are of the schemas of the contract: ids, numbers, addresses, a path. */
function linesOf(id: string, spec: PortSpec): string[] {
  const { protocol, port, balance, sticky, check, idle_seconds, connections_most, allowed, targets } = spec
  return [
    '',
    `listen ${proxyName(id)}`,
    `    mode ${protocol}`,
    `    bind *:${port}`,
    ...(connections_most === null ? [] : [`    maxconn ${connections_most}`]),
    `    timeout client ${idle_seconds}s`,
    `    timeout server ${idle_seconds}s`,
    `    timeout check ${check.timeout_seconds}s`,
    `    balance ${balance}`,
    // Of one name each is enough; a line has 64 words.
    ...allowed.map((range) => `    acl allowed src ${range}`),
    ...(allowed.length === 0 ? [] : ['    tcp-request connection reject if !allowed']),
    // Who asks does not say itself where it comes from.
    ...(protocol === 'http' ? ['    http-request del-header X-Forwarded-For', '    option forwardfor', '    option http-server-close'] : []),
    ...(sticky ? ['    cookie ZSTARGET insert indirect nocache httponly'] : []),
    ...(check.kind === 'http' ? [`    option httpchk`, `    http-check send meth GET uri ${check.path}`, '    http-check expect status 200-399'] : []),
    ...targets.map((target) =>
      [
        `    server ${serverName(target.id)} ${addressOf(target.address)}:${target.port}`,
        // What has no weight is given nothing new, and keeps what it has.
        `weight ${target.enabled ? target.weight : 0}`,
        ...(check.kind === 'none' ? [] : [`check inter ${check.interval_seconds}s rise ${check.rise} fall ${check.fall}`]),
        ...(target.backup ? ['backup'] : []),
        ...(sticky ? [`cookie ${target.id}`] : []),
        // Also where its name is not known yet: it is down, and the others serve.
        ...(isName(target.address) ? ['resolvers node init-addr last,libc,none'] : []),
      ].join(' '),
    ),
  ]
}

/** The configuration of a gateway, whole (HAProxy 2.6, configuration manual). */
export function configOf({ control_port, connections_most, drain_minutes }: GatewayShape, secret: string, ports: ReadonlyMap<string, PortSpec>): string {
  const named = [...ports.values()].some(({ targets }) => targets.some(({ address }) => isName(address)))
  return [
    'global',
    '    log stdout format raw local0 notice',
    `    maxconn ${connections_most}`,
    // Where the node lets a program have fewer, it has those.
    '    no strict-limits',
    `    hard-stop-after ${drain_minutes}m`,
    '    user haproxy',
    '    group haproxy',
    'defaults',
    '    log global',
    '    mode tcp',
    '    timeout connect 5s',
    '    timeout queue 10s',
    '    timeout client 60s',
    '    timeout server 60s',
    '    timeout http-request 30s',
    '    retries 2',
    '    option redispatch',
    ...(named ? ['resolvers node', '    parse-resolv-conf', '    hold valid 10s'] : []),
    'frontend own',
    '    mode http',
    '    no log',
    '    maxconn 50',
    `    bind ${loopback}:${control_port}`,
    `    monitor-uri ${healthPath(ports, { control_port, connections_most, drain_minutes })}`,
    '    stats enable',
    `    stats uri ${statsPath}`,
    `    stats auth ${statsUser}:${secret}`,
    ...[...ports].flatMap(([id, spec]) => linesOf(id, spec)),
    '',
  ].join('\n')
}

/** Answers only where this very configuration is served: one that could not be taken in leaves the one before. */
const healthPath = (ports: ReadonlyMap<string, PortSpec>, { control_port, connections_most, drain_minutes }: GatewayShape): string =>
  `/health/${createHash('sha256')
    .update(JSON.stringify([[...ports], control_port, connections_most, drain_minutes]))
    .digest('hex')
    .slice(0, 32)}`

/** A gateway as its node keeps it. A change of its ports is read anew, and closes nothing. */
export const wantedGateway = (shape: GatewayShape, secret: string, ports: ReadonlyMap<string, PortSpec>): KeptWanted => ({
  name: 'haproxy',
  program: { kind: 'path', name: 'haproxy', version_arguments: ['-v'] },
  arguments: ['-W', '-f', '${KEPT_FILES}/haproxy.cfg'],
  check_arguments: ['-c', '-q', '-f', '${KEPT_FILES}/haproxy.cfg'],
  files: [{ path: 'haproxy.cfg', text: configOf(shape, secret, ports), secret: true, mode: 0o600 }],
  ports: [{ port: shape.control_port, address: loopback }, ...[...ports.values()].map(({ port }) => ({ port }))],
  // Only root listens below 1024; who serves is haproxy.
  user: 'root',
  health: { kind: 'http', port: shape.control_port, path: healthPath(ports, shape) },
  health_times: { every_ms: 2_000 },
  stop: { timeout_ms: 10_000 },
  reload_signal: 'SIGUSR2',
})
