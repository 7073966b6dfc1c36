import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import { agentPaths, type NodeFacts, type NodeMetrics } from '@zhisuan/contract/agent/node'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges, enrolments, type Edge, type Enrolment } from '@zhisuan/contract/ecrm/edge'
import { newPrivateKey, publicKeyOf } from '../../../../agent/src/identity.ts'
import { keepTunnel, type TunnelParts } from '../../../../agent/src/tunnel.ts'
import type { TestApp } from '../../testing/app.ts'
import { call } from '../../testing/call.ts'

const someFacts = (wish: Partial<NodeFacts> = {}): NodeFacts => ({
  host_name: 'edge-01',
  machine_id: 'f'.repeat(32),
  os: 'Debian GNU/Linux 13',
  kernel: '6.12.0',
  architecture: 'x86_64',
  cpu: { model: 'Some CPU', cores: 4, threads: 8 },
  memory_bytes: 16 * 2 ** 30,
  swap_bytes: 0,
  disks: [{ mount: '/', device: '/dev/vda1', file_system: 'ext4', total_bytes: 100 * 2 ** 30 }],
  nics: [
    { name: 'lo', mac: '00:00:00:00:00:00', addresses: ['127.0.0.1'], speed_mbps: null },
    { name: 'eth0', mac: '52:54:00:00:00:01', addresses: ['192.0.2.7/24', 'fe80::1/64'], speed_mbps: 1_000 },
    { name: 'docker0', mac: '52:54:00:00:00:02', addresses: ['172.17.0.1/16'], speed_mbps: null },
  ],
  gpus: [],
  docker: { version: '20.10.24', api_version: '1.41', storage_driver: 'overlay2', root: '/var/lib/docker', compose_version: '1.29.2', gpu_runtime: false },
  docker_error: null,
  booted_at: new Date().toISOString(),
  agent_version: '0.1.0',
  ...wish,
})

export const someMetrics = (at = new Date()): NodeMetrics => ({
  at: at.toISOString(),
  cpu_share: 0.25,
  load: [1, 0.5, 0.25],
  memory: { total_bytes: 16 * 2 ** 30, used_bytes: 4 * 2 ** 30 },
  disks: [{ mount: '/', total_bytes: 100 * 2 ** 30, used_bytes: 10 * 2 ** 30 }],
  nics: [{ name: 'eth0', received_bytes: 1_000, sent_bytes: 2_000 }],
  gpus: [],
})

export interface TestAgent {
  readonly edge: Edge
  readonly enrolment: Enrolment
  readonly privateKey: string
  readonly publicKey: string
  /** What it said, in English. */
  readonly said: readonly string[]
  stop(): void
}

/** Listens, so that agents can dial in. */
export async function listening(app: TestApp): Promise<string> {
  if (!app.http.server.listening) {
    await app.http.listen({ port: 0, host: '127.0.0.1' })
    if (!app.http.server.listening) await once(app.http.server, 'listening')
  }
  // An address of TCP.
  return `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
}

/** A node that is registered. */
export const register = (app: TestApp, token: string, wish: Partial<BodyInput<typeof edges.create>> = {}) =>
  call(app, edges.create, { token, body: { name: `e-${randomUUID()}`, confirm: 'auto', ...wish } })

/** An agent at the tunnel, with the agent's own code, that answers what `answers` says and facts. */
export async function startAgent(
  app: TestApp,
  who: { edgeId: string; privateKey: string; serverKey: string },
  answers: (request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, response: Parameters<NonNullable<TunnelParts['handler']>>[1]) => boolean = () =>
    false,
  wish: { facts?: Partial<NodeFacts>; version?: string } = {},
): Promise<{ said: string[]; stop: () => void; done: Promise<void> }> {
  const url = await listening(app)
  const stop = new AbortController()
  const said: string[] = []
  const version = wish.version ?? '0.1.0'
  const done = keepTunnel({
    edgeId: who.edgeId,
    privateKey: who.privateKey,
    server: { url, public_key: who.serverKey },
    version,
    signal: stop.signal,
    say: (line) => said.push(line),
    handler: (request, response) => {
      if (answers(request, response)) return
      if (request.url === agentPaths.facts) response.end(JSON.stringify(someFacts({ agent_version: version, ...wish.facts })))
      else if (request.url === agentPaths.metrics) response.end(JSON.stringify(someMetrics()))
      else response.writeHead(404).end(JSON.stringify({ message: 'no such thing' }))
    },
  })
  return { said, stop: () => stop.abort(), done }
}

/** Registered, enrolled and dialling. */
export async function someNode(
  app: TestApp,
  token: string,
  wish: { create?: Partial<BodyInput<typeof edges.create>>; facts?: Partial<NodeFacts>; answers?: Parameters<typeof startAgent>[2]; version?: string } = {},
): Promise<TestAgent> {
  const { edge, enrolment } = await register(app, token, wish.create)
  const privateKey = newPrivateKey()
  const publicKey = publicKeyOf(privateKey)
  const { edge_id, server_public_key } = await call(app, enrolments.enrol, {
    body: { token: enrolment.token, public_key: publicKey, version: wish.version ?? '0.1.0' },
  })
  const { said, stop } = await startAgent(app, { edgeId: edge_id, privateKey, serverKey: server_public_key }, wish.answers, {
    ...(wish.facts && { facts: wish.facts }),
    ...(wish.version !== undefined && { version: wish.version }),
  })
  return { edge, enrolment, privateKey, publicKey, said, stop }
}
