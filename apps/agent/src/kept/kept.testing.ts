import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer, type ClientHttp2Session, type Http2Server } from 'node:http2'
import { createServer as createHttp, type Server } from 'node:http'
import { createServer as createTcp, type AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { keptPaths, keptPreflight, keptState, type KeptAction, type KeptPreflight, type KeptState, type KeptWanted } from '@zhisuan/contract/agent/kept'
import { vi } from 'vitest'
import { answerError } from '../answers.ts'
import { createKept, type Kept } from './kept.ts'
import { allPids, markOf } from './processes.ts'
import { digestOf } from './store.ts'

/**
 * Listens where it is told, says so, and does what it is asked by `GET /exit?code`, `/say?words` and `/`. `check` and a file
 * instead: whether it understands that. `reads`: it reads its file `a` at its start and at SIGUSR1, and is ill of `ill`.
 */
const programText = `
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
const [port, ...rest] = process.argv.slice(2)
if (rest.includes('stubborn')) process.on('SIGTERM', () => console.log('not now'))
let a
const reads = () => { if (rest.includes('reads')) a = readFileSync(process.env.KEPT_FILES + '/a', 'utf8') }
if (port === 'check') {
  if (!readFileSync(rest[0], 'utf8').includes('nonsense')) process.exit(0)
  console.error(rest[0] + ': nonsense in line 1')
  process.exit(1)
}
reads()
process.on('SIGUSR1', () => { reads(); console.log('read anew') })
if (rest.includes('broken')) { console.error('cannot begin: no such thing'); process.exit(3) }
if (rest.includes('child')) (await import('node:child_process')).spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()
createServer((request, response) => {
  const url = new URL(request.url, 'http://x')
  if (url.pathname === '/exit') { console.error('told to end'); process.exit(Number(url.search.slice(1))) }
  if (url.pathname === '/say') console.log(decodeURIComponent(url.search.slice(1)))
  if (url.pathname === '/file') return response.end(readFileSync(decodeURIComponent(url.search.slice(1))))
  response.writeHead(rest.includes('ill') || a === 'ill' ? 503 : 200).end(JSON.stringify({ a, pid: process.pid, uid: process.getuid(), rest, env: process.env, cwd: process.cwd() }))
}).listen(Number(port), '127.0.0.1', () => console.log('listening on ' + port + ' ' + rest.join(' ')))
`

/** Below those that the kernel gives to whoever asks for any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 7_000)
    const probe = createTcp().listen(port, '127.0.0.1')
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}

/** What keeps programs, in a folder of its own, with a server that has bundles. */
export async function startKept() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'zhisuan-kept-')))
  // Programs that run as others pass through.
  chmodSync(directory, 0o755)
  const script = join(directory, 'program.mjs')
  writeFileSync(script, programText, { mode: 0o644 })
  const files = new Map<string, Buffer>()
  const said: string[] = []
  const origin: Server = createHttp((request, response) => {
    const file = files.get(request.url ?? '')
    if (file === undefined) response.writeHead(404).end()
    else response.end(file)
  })
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')

  const docker = process.env['DOCKER_SOCKET'] ?? '/var/run/docker.sock'
  let kept: Kept
  let server: Http2Server
  let session: ClientHttp2Session
  const begin = async (): Promise<void> => {
    const mine = createKept({
      directory,
      host: { root: '/', dockerSocket: docker },
      server: { url: `http://127.0.0.1:${(origin.address() as AddressInfo).port}` },
      say: (line) => said.push(line),
    })
    kept = mine
    server = createServer((request) => void mine.serve(request).catch((error: unknown) => answerError(request.stream, error)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }
  const end = async (): Promise<void> => {
    session.destroy()
    server.close()
    await kept.close()
  }
  await begin()

  const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; text: string; body: unknown }> => {
    const stream = session.request({ ':method': method, ':path': path })
    const answered = once(stream, 'response') as Promise<[{ ':status': number }]>
    stream.end(body === undefined ? undefined : JSON.stringify(body))
    const [headers] = await answered
    const text = (await buffer(stream)).toString('utf8')
    return { status: headers[':status'], text, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : undefined }
  }
  const state = async (id: string): Promise<KeptState> => {
    const { status, body, text } = await ask('GET', keptPaths.one(id))
    if (status !== 200) throw new Error(`${status} ${text}`)
    return keptState.parse(body)
  }
  const until = async (id: string, so: (state: KeptState) => boolean): Promise<KeptState> =>
    vi.waitFor(
      async () => {
        const now = await state(id)
        if (!so(now)) throw new Error(JSON.stringify(now, null, 1))
        return now
      },
      { interval: 30 },
    )
  const act = async (id: string, action: KeptAction): Promise<{ status: number; text: string }> => ask('POST', keptPaths.action(id), action)
  const wantedOf = (wanted: KeptWanted): { text: string; digest: string } => {
    const text = JSON.stringify(wanted)
    return { text, digest: digestOf(text) }
  }
  const put = async (id: string, wanted: KeptWanted) => ask('PUT', keptPaths.one(id), { wanted: wantedOf(wanted).text })
  const placed = async (id: string, wanted: KeptWanted): Promise<KeptState> => {
    const { digest } = wantedOf(wanted)
    const { status, text } = await put(id, wanted)
    if (status !== 202) throw new Error(`${status} ${text}`)
    return until(id, ({ placing, digest: now }) => now === digest || (placing?.digest === digest && placing.state !== 'placing'))
  }
  return {
    /** Where it answers, until it is begun anew. */
    url: (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    directory,
    script,
    files,
    said,
    ask,
    act,
    put,
    placed,
    state,
    until,
    log: async (id: string, tail: number): Promise<string> => (await ask('GET', `${keptPaths.log(id)}?tail=${tail}`)).text,
    stream: (path: string) => session.request({ ':method': 'GET', ':path': path }),
    wantedOf,
    /** A program that listens there. */
    wanted: (port: number, wish: Partial<KeptWanted> & { with?: readonly string[] } = {}): KeptWanted => {
      const { with: more = [], ...rest } = wish
      return {
        name: 'listener',
        program: { kind: 'path', name: process.execPath, version_arguments: ['--version'] },
        arguments: [script, String(port), ...more],
        ports: [{ port, address: '127.0.0.1' }],
        user: userInfo().username,
        health: { kind: 'http', port },
        health_times: { every_ms: 200, timeout_ms: 2_000, failures: 2, start_ms: 5_000 },
        restart: { first_ms: 100, most_ms: 1_000 },
        stop: { timeout_ms: 5_000 },
        ...rest,
      }
    },
    async preflight(id: string, wanted: KeptWanted): Promise<KeptPreflight> {
      const { status, body, text } = await ask('POST', keptPaths.preflight(id), { wanted: wantedOf(wanted).text })
      if (status !== 200) throw new Error(`${status} ${text}`)
      return keptPreflight.parse(body)
    },
    /** Placed, applied, and decided. */
    async apply(id: string, wanted: KeptWanted, within = 20_000): Promise<KeptState> {
      const { digest } = wantedOf(wanted)
      const { placing } = await placed(id, wanted)
      if (placing?.error !== null && placing !== null) throw new Error(placing.error)
      const { status, text } = await act(id, { action: 'apply', digest, healthy_within_ms: within })
      if (status !== 202) throw new Error(`${status} ${text}`)
      return until(id, ({ applied }) => applied?.digest === digest && applied.result !== 'trying')
    },
    /** Begins to take it away, and waits for that. */
    async remove(id: string, data: boolean): Promise<void> {
      await ask('DELETE', `${keptPaths.one(id)}?data=${data}`)
      await vi.waitFor(async () => {
        const { status, text } = await ask('GET', keptPaths.one(id))
        if (status !== 404) throw new Error(text)
      })
    },
    /** All that it keeps, and whatever is left of what it kept: files, and processes. */
    async everything(): Promise<string[]> {
      const folder = join(directory, 'kept')
      const left = allPids().filter((pid) => markOf(pid)?.startsWith(`${folder}/`) === true)
      return [...readdirSync(join(folder, 'programs')), ...left.map((pid) => `process ${pid}`)]
    },
    /** As when the agent is started anew: what runs goes on. */
    async anew(meanwhile: () => void | Promise<void> = () => undefined): Promise<void> {
      await end()
      await meanwhile()
      await begin()
    },
    async stop(): Promise<void> {
      const { body } = await ask('GET', keptPaths.all)
      const { items } = body as { items: KeptState[] }
      for (const { id } of items) await this.remove(id, true)
      await end()
      origin.closeAllConnections()
      origin.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
export type StartedKept = Awaited<ReturnType<typeof startKept>>
