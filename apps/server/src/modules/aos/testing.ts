import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { json } from 'node:stream/consumers'
import { agentPaths, type ComposeProject } from '@zhisuan/contract/agent/node'
import type { FakeDocker } from '../cis/testing.ts'
import type { startAgent } from '../ecrm/testing.ts'

interface Service {
  readonly image: string
  readonly labels: Record<string, string>
  readonly ports?: readonly string[]
}

/** `192.0.2.1:8080:80/udp` as Docker binds it; nothing of what has no port of the node. */
function bound(port: string): [string, { HostIp?: string; HostPort: string }[]][] {
  const [, address, host, inside = '', protocol = 'tcp'] = /^(?:(.+):)?(\d+):(\d+)(?:\/(\w+))?$/.exec(port) ?? []
  return host === undefined ? [] : [[`${inside}/${protocol}`, [{ ...(address !== undefined && { HostIp: address }), HostPort: host }]]]
}

/** As much of an agent's compose as the server asks of one, over a Docker in memory. What is true of compose is tested on compose. */
export interface FakeCompose {
  readonly answers: NonNullable<Parameters<typeof startAgent>[2]>
  /** In the order in which they came. */
  readonly orders: readonly ComposeProject[]
  /** From now on compose fails with this; null: no longer. */
  fail(reason: string | null): void
  /** The next order is taken, but its answer breaks off; or it is refused because another is still being carried out. */
  once(what: 'breaks' | 'busy'): void
}

export function fakeCompose(docker: FakeDocker): FakeCompose {
  const orders: ComposeProject[] = []
  const files = new Map<string, string>()
  let reason: string | null = null
  let next: 'breaks' | 'busy' | null = null

  const of = (project: string) => [...docker.containers.values()].filter(({ body }) => body.Labels['com.docker.compose.project'] === project)

  const up = ({ project, scale = {} }: ComposeProject): void => {
    const { services, volumes = {} } = JSON.parse(files.get(project) ?? '{}') as { services: Record<string, Service>; volumes?: Record<string, unknown> }
    for (const name of Object.keys(volumes)) docker.volumes.set(`${project}_${name}`, { 'com.docker.compose.project': project })
    const wanted = new Map<string, { name: string; service: Service; hash: string }>()
    for (const [name, service] of Object.entries(services))
      for (let index = 1; index <= (scale[name] ?? 1); index++) wanted.set(`${project}_${name}_${index}`, { name, service, hash: JSON.stringify(service) })
    for (const one of of(project)) {
      const wish = wanted.get(one.name)
      if (wish === undefined || wish.hash !== one.body.Labels['com.docker.compose.config-hash']) docker.drop(one.id)
      else {
        one.state = 'running'
        wanted.delete(one.name)
      }
    }
    for (const [
      name,
      {
        name: service,
        service: { image, labels, ports = [] },
        hash,
      },
    ] of wanted) {
      docker.make(name, {
        image,
        labels: { ...labels, 'com.docker.compose.project': project, 'com.docker.compose.service': service, 'com.docker.compose.config-hash': hash },
        ports: Object.fromEntries(ports.flatMap(bound)),
      })
    }
  }

  const answer = async (request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> => {
    // What the server under test sends.
    const order = (await json(request)) as ComposeProject
    orders.push(order)
    const now = next
    next = null
    if (now === 'busy') return void response.writeHead(409).end(JSON.stringify({ message: 'compose up of this project is still running' }))
    response.writeHead(200)
    const say = (line: object): void => void response.write(`${JSON.stringify(line)}\n`)
    say({ line: `compose ${order.action}` })
    if (reason !== null) say({ line: reason })
    if (reason === null) {
      if (order.file !== undefined) files.set(order.project, order.file)
      if (order.action === 'up') up(order)
      else {
        for (const { id } of of(order.project)) docker.drop(id)
        files.delete(order.project)
      }
    }
    if (now === 'breaks') return void response.stream.destroy()
    say({ ended: reason === null ? 'succeeded' : 'failed', error: reason })
    response.end()
  }

  return {
    orders,
    fail: (with_) => {
      reason = with_
    },
    once: (what) => {
      next = what
    },
    answers(request, response) {
      if (request.url !== agentPaths.compose) return docker.answers(request, response)
      // An agent's requests are of HTTP/2.
      answer(request as Http2ServerRequest, response).catch((error: unknown) => response.stream.destroy(error as Error))
      return true
    },
  }
}
