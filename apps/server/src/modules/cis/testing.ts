import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { agentPaths, type nodeListeners } from '@zhisuan/contract/agent/node'
import { extract, pack } from 'tar-stream'
import type { z } from 'zod'
import type { startAgent } from '../ecrm/testing.ts'

interface Held {
  readonly id: string
  name: string
  readonly body: {
    Image: string
    Env: string[]
    Labels: Record<string, string>
    HostConfig: {
      PortBindings: Record<string, { HostIp?: string; HostPort: string }[]>
      Mounts?: { Type: string; Source: string; Target: string }[]
      Memory?: number
      NanoCpus?: number
      NetworkMode?: string
    }
  }
  state: string
  startedAt: Date | null
  exitCode: number
  outOfMemory: boolean
  readonly files: Map<string, Buffer>
  /** Volumes that its image asked for: name by path. */
  readonly volumes: Map<string, string>
}

/** As much of a Docker Engine as the server asks of one, in memory: for tests of rules. What is true of Docker is tested on Docker. */
export interface FakeDocker {
  readonly answers: NonNullable<Parameters<typeof startAgent>[2]>
  readonly images: Set<string>
  /** What was pulled by an account, and by which. */
  readonly pulls: readonly { readonly image: string; readonly auth: Readonly<Record<string, string>> }[]
  readonly containers: Map<string, Held>
  /** To which terminals were set: `h=24&w=80`. */
  readonly sizes: readonly string[]
  readonly removedVolumes: readonly string[]
  /** Named ones, with their labels. */
  readonly volumes: Map<string, Record<string, string>>
  /** What each container computes, of 400 ticks of two processors. */
  readonly load: { ticks: number }
  /** Somebody else on the node does something. */
  change(id: string, change: (one: Held) => void): void
  /** A program of the node has this port from now on. */
  listen(port: number): void
  /** Somebody else on the node makes one that runs, or removes one. */
  make(name: string, of: { image: string; labels: Record<string, string>; ports?: Held['body']['HostConfig']['PortBindings'] }): Held
  drop(id: string): void
  /** From now on such requests are refused by Docker, or wait; null: no longer. */
  fail(refuse: ((method: string, path: string) => { status: number; message: string } | null | Promise<null>) | null): void
}

export function fakeDocker(): FakeDocker {
  const images = new Set(['app:1', 'app:2'])
  const pulls: { image: string; auth: Record<string, string> }[] = []
  const containers = new Map<string, Held>()
  const listeners = new Set<Http2ServerResponse>()
  const programs: z.input<typeof nodeListeners> = []
  const commands = new Map<string, string[]>()
  const sizes: string[] = []
  const load = { ticks: 200 }
  const removedVolumes: string[] = []
  const volumes: FakeDocker['volumes'] = new Map()
  let refuse: Parameters<FakeDocker['fail']>[0] = null

  const tell = (action: string, { id, body }: Held): void => {
    for (const listener of listeners)
      listener.write(
        `${JSON.stringify({ Type: 'container', Action: action, Actor: { ID: id, Attributes: body.Labels }, time: Math.floor(Date.now() / 1_000), timeNano: Date.now() * 1e6 })}\n`,
      )
  }
  const portsOf = ({ body }: Held) =>
    Object.entries(body.HostConfig.PortBindings).flatMap(([key, bound]) =>
      bound.map(({ HostIp, HostPort }) => ({
        ...(HostIp !== undefined && { IP: HostIp }),
        PrivatePort: Number(key.split('/')[0]),
        PublicPort: Number(HostPort),
        Type: key.split('/')[1] ?? 'tcp',
      })),
    )
  const summary = (one: Held) => ({
    Id: one.id,
    Names: [`/${one.name}`],
    Image: one.body.Image,
    Created: 1,
    State: one.state,
    Labels: one.body.Labels,
    Ports: one.state === 'running' ? portsOf(one) : [],
  })
  const detail = (one: Held) => ({
    Id: one.id,
    Name: `/${one.name}`,
    Created: new Date(0).toISOString(),
    Image: one.body.Image,
    RestartCount: 0,
    State: { Status: one.state, ExitCode: one.exitCode, OOMKilled: one.outOfMemory, StartedAt: one.startedAt?.toISOString() ?? '0001-01-01T00:00:00Z' },
    Config: { Image: one.body.Image, Env: one.body.Env, Labels: one.body.Labels },
    HostConfig: one.body.HostConfig,
    Mounts: [...one.volumes].map(([path, name]) => ({ Type: 'volume', Name: name, Source: '', Destination: path, RW: true })),
  })

  const answer = async (request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> => {
    const url = new URL(request.url.slice(agentPaths.docker.length), 'http://docker')
    const path = url.pathname.replace(/^\/v[\d.]+/, '')
    const { method } = request
    const say = (status: number, body?: unknown): void =>
      void response.writeHead(status, { 'api-version': '1.41' }).end(body === undefined ? '' : JSON.stringify(body))
    const refused = await refuse?.(method, path)
    if (refused !== undefined && refused !== null) return say(refused.status, { message: refused.message })
    if (path === '/_ping') return say(200)
    if (path === '/events') {
      response.writeHead(200)
      // Sends the head; an empty line is no event.
      response.write('\n')
      listeners.add(response)
      response.on('close', () => listeners.delete(response))
      return
    }
    if (path === '/containers/json') {
      const { label = [] } = JSON.parse(url.searchParams.get('filters') ?? '{}') as { label?: string[] }
      const has = (one: Held) =>
        label.every((text) => (text.includes('=') ? one.body.Labels[text.split('=')[0] ?? ''] === text.split('=')[1] : text in one.body.Labels))
      return say(200, [...containers.values()].filter((one) => has(one) && (url.searchParams.get('all') === '1' || one.state === 'running')).map(summary))
    }
    const image = /^\/images\/(.+)\/json$/.exec(path)?.[1]
    if (image !== undefined) return images.has(decodeURIComponent(image)) ? say(200, { Id: image, Size: 1 }) : say(404, { message: `No such image: ${image}` })
    const distributed = /^\/distribution\/(.+)\/json$/.exec(path)?.[1]
    if (distributed !== undefined) {
      if (distributed.startsWith('away')) return say(500, { message: 'Get "https://away/v2/": dial tcp: lookup away: no such host' })
      return distributed.startsWith('public') ? say(200, {}) : say(404, { message: `manifest unknown: ${distributed}` })
    }
    if (path === '/images/create') {
      const auth = request.headers['x-registry-auth']
      const [name, tag] = [url.searchParams.get('fromImage') ?? '', url.searchParams.get('tag')]
      // What the client under test sends.
      const account = typeof auth === 'string' ? (JSON.parse(Buffer.from(auth, 'base64url').toString('utf8')) as Record<string, string>) : null
      if (account === null || account['password'] === '' || account['password'] === 'wrong') return say(404, { message: 'pull access denied' })
      const image = tag === null || tag === '' ? name : `${name}:${tag}`
      pulls.push({ image, auth: account })
      images.add(image)
      return say(200, { status: 'Downloaded newer image' })
    }
    if (path === '/containers/create') {
      const name = url.searchParams.get('name') ?? ''
      if ([...containers.values()].some((one) => one.name === name)) return say(409, { message: `Conflict. The container name "/${name}" is already in use` })
      // What the client under test sends.
      const body = JSON.parse((await buffer(request)).toString('utf8')) as Held['body']
      const one: Held = {
        id: randomBytes(32).toString('hex'),
        name,
        body,
        state: 'created',
        startedAt: null,
        exitCode: 0,
        outOfMemory: false,
        files: new Map(),
        volumes: new Map((body.HostConfig.Mounts ?? []).filter(({ Type }) => Type === 'volume').map(({ Source, Target }) => [Target, Source])),
      }
      containers.set(one.id, one)
      tell('create', one)
      return say(201, { Id: one.id })
    }
    if (path === '/networks/create') return say(201, {})
    if (path === '/volumes') {
      const { label = [] } = JSON.parse(url.searchParams.get('filters') ?? '{}') as { label?: string[] }
      const fitting = [...volumes].filter(([, labels]) => label.every((text) => labels[text.split('=')[0] ?? ''] === text.split('=')[1]))
      return say(200, { Volumes: fitting.map(([Name, Labels]) => ({ Name, Driver: 'local', Mountpoint: '', Labels })) })
    }
    if (method === 'DELETE' && path.startsWith('/volumes/')) {
      volumes.delete(path.slice('/volumes/'.length))
      removedVolumes.push(path.slice('/volumes/'.length))
      return say(204)
    }
    const exec = /^\/exec\/(\w+)\/(resize|json)$/.exec(path)
    if (exec !== null) {
      if (exec[2] === 'json') return say(200, { Running: false, ExitCode: 3 })
      sizes.push(url.searchParams.toString())
      return say(200)
    }
    const [, id = '', verb = ''] = /^\/containers\/([0-9a-f]+)(?:\/(\w+))?$/.exec(path) ?? []
    const one = containers.get(id)
    if (one === undefined) return say(404, { message: `No such container: ${id}` })
    const becomes = (state: string, action: string): void => {
      one.state = state
      if (state === 'running') one.startedAt = new Date()
      tell(action, one)
      say(204)
    }
    if (method === 'DELETE') {
      containers.delete(id)
      tell('destroy', one)
      return say(204)
    }
    if (verb === 'json') return say(200, detail(one))
    if (verb === 'start' || verb === 'restart') return becomes('running', verb)
    if (verb === 'stop') return becomes('exited', 'die')
    if (verb === 'kill') {
      if (one.state !== 'running') return say(409, { message: 'is not running' })
      one.exitCode = 137
      return becomes('exited', 'die')
    }
    if (verb === 'rename') {
      one.name = url.searchParams.get('name') ?? ''
      return say(204)
    }
    if (verb === 'stats')
      return say(200, {
        read: new Date().toISOString(),
        cpu_stats: { cpu_usage: { total_usage: 100 + load.ticks }, system_cpu_usage: 1_000, online_cpus: 2 },
        precpu_stats: { cpu_usage: { total_usage: 100 }, system_cpu_usage: 600 },
        memory_stats: { usage: 10, limit: 20 },
      })
    if (verb === 'logs') {
      response.writeHead(200)
      for (const [kind, text] of [
        [1, '2026-11-21T18:00:00.000000001Z 一\n'],
        [2, '2026-11-21T18:00:01.000000001Z two\n'],
        [1, '2026-11-21T18:00:02.000000001Z three\n'],
      ] as const) {
        const head = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0])
        head.writeUInt32BE(Buffer.byteLength(text), 4)
        response.write(Buffer.concat([head, Buffer.from(text)]))
      }
      return void response.end()
    }
    if (verb === 'exec') {
      const { Cmd } = JSON.parse((await buffer(request)).toString('utf8')) as { Cmd: string[] }
      const execId = randomBytes(8).toString('hex')
      commands.set(execId, Cmd)
      return say(201, { Id: execId })
    }
    if (verb === 'archive') return archive(one, method, url.searchParams.get('path') ?? '', request, response)
    return say(501, { message: `${method} ${path}: not in this Docker` })
  }

  return {
    images,
    pulls,
    containers,
    sizes,
    removedVolumes,
    volumes,
    load,
    listen: (port) => void programs.push({ port, protocol: 'tcp', address: '' }),
    make(name, { image, labels, ports = {} }) {
      const one: Held = {
        id: randomBytes(32).toString('hex'),
        name,
        body: { Image: image, Env: [], Labels: labels, HostConfig: { PortBindings: ports } },
        state: 'running',
        startedAt: new Date(),
        exitCode: 0,
        outOfMemory: false,
        files: new Map(),
        volumes: new Map(),
      }
      containers.set(one.id, one)
      tell('start', one)
      return one
    },
    drop(id) {
      const one = containers.get(id)
      containers.delete(id)
      if (one !== undefined) tell('destroy', one)
    },
    change(id, change) {
      const one = [...containers.values()].find(({ body }) => body.Labels['zhisuan.container'] === id)
      if (one === undefined) throw new Error(`no container ${id}`)
      change(one)
      tell('die', one)
    },
    fail: (with_) => {
      refuse = with_
    },
    answers(request, response) {
      if (request.url?.startsWith(`${agentPaths.exec}/`) === true) {
        // As below; the stream of one goes both ways.
        terminal(commands.get(request.url.slice(agentPaths.exec.length + 1).split('?')[0] ?? '') ?? [], (request as Http2ServerRequest).stream)
        return true
      }
      if (request.url === agentPaths.listeners) {
        response.end(JSON.stringify(programs))
        return true
      }
      if (request.url?.startsWith(`${agentPaths.docker}/`) !== true) return false
      // An agent's requests are of HTTP/2.
      answer(request as Http2ServerRequest, response).catch((error: unknown) => response.stream.destroy(error as Error))
      return true
    },
  }
}

/** Says again what it is told, until it is told to end. */
function terminal([command = '']: readonly string[], stream: ServerHttp2Stream): void {
  stream.on('error', () => undefined)
  stream.respond({ ':status': 200 })
  if (command !== '/bin/sh') return void stream.end(`OCI runtime exec failed: exec failed: "${command}": executable file not found in $PATH: unknown\r\n`)
  stream.write('$ ')
  stream.on('data', (data: Buffer) => {
    if (data.includes(4) || data.toString() === 'exit\n') stream.end()
    else stream.write(data)
  })
}

async function archive(one: Held, method: string, path: string, request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  if (method === 'PUT') {
    const reader = extract()
    reader.on('entry', (header, stream, next) => {
      buffer(stream as AsyncIterable<Buffer>).then((content) => {
        if (header.type === 'file') one.files.set(posix.join(path, header.name), content)
        next()
      }, next)
    })
    reader.end(await buffer(request))
    await new Promise((resolve) => reader.once('finish', resolve))
    return void response.writeHead(200).end()
  }
  const content = one.files.get(path)
  const below = path === '/' ? '/' : `${path}/`
  const inside = [...one.files.keys()].filter((name) => name.startsWith(below))
  if (content === undefined && inside.length === 0 && path !== '/')
    return void response.writeHead(404).end(method === 'HEAD' ? '' : JSON.stringify({ message: 'Could not find the file' }))
  const stat = {
    name: path.split('/').at(-1) ?? '',
    size: content?.length ?? 0,
    mode: content === undefined ? 0x800001ed : 0o644,
    mtime: new Date(0).toISOString(),
    linkTarget: '',
  }
  response.writeHead(200, { 'x-docker-container-path-stat': Buffer.from(JSON.stringify(stat)).toString('base64') })
  if (method === 'HEAD') return void response.end()
  const tar = pack()
  const base = path.split('/').at(-1) ?? ''
  if (content === undefined) {
    tar.entry({ name: `${base}/`, type: 'directory' })
    for (const name of inside) tar.entry({ name: `${base}/${name.slice(below.length)}`, mode: 0o640 }, one.files.get(name))
  } else tar.entry({ name: base }, content)
  tar.finalize()
  for await (const part of tar as AsyncIterable<Buffer>) response.write(part)
  response.end()
}
