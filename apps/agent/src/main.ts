import { chmodSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createCompose } from './compose.ts'
import { enrol, EnrolmentRefused } from './enrol.ts'
import { createGateway } from './gateway.ts'
import { createHandler } from './handler.ts'
import { fingerprintOf, readKept, type Kept } from './identity.ts'
import { createKept } from './kept/kept.ts'
import { launch, type ToLauncher } from './launcher.ts'
import { gatewayOf } from './server.ts'
import { keepTunnel } from './tunnel.ts'
import { version } from './version.ts'

const usage = `usage:
  agent enrol --server URL --data DIRECTORY [--key SERVER_PUBLIC_KEY] [--via GATEWAY:PORT]
  agent run --data DIRECTORY [--server URL [--key SERVER_PUBLIC_KEY] [--via GATEWAY:PORT]] [--docker SOCKET] [--root DIRECTORY] [--allow-reboot]
  agent version
A node that is not enrolled comes in with the token in $ZHISUAN_TOKEN: arguments are read by everybody on it.
`
/** What compose is doing is given this long to end. */
const composeGraceMs = 60_000
const say = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`)

class UsageError extends Error {}

function understood() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        server: { type: 'string' },
        data: { type: 'string' },
        key: { type: 'string' },
        /** A node of the site that leads to the server, where this one does not reach it. */
        via: { type: 'string' },
        /** Docker's socket. */
        docker: { type: 'string', default: (process.env['DOCKER_HOST'] ?? '').replace(/^unix:\/\//, '').replace(/^[^/].*$/, '') || '/var/run/docker.sock' },
        /** Where the node's root is, from inside of a container. */
        root: { type: 'string', default: '/' },
        'allow-reboot': { type: 'boolean', default: false },
      },
    })
    return { values, command: positionals.length === 1 ? positionals[0] : undefined }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
type Values = ReturnType<typeof understood>['values']

/** Taken away, so that nothing it starts inherits it. */
function tokenOf(): string | undefined {
  const { ZHISUAN_TOKEN: token } = process.env
  delete process.env['ZHISUAN_TOKEN']
  return token === '' ? undefined : token
}

const needed = (values: Values, name: 'server' | 'data'): string => {
  const value = values[name]
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing`)
  if (name === 'server' && !/^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : '')) throw new UsageError('--server is not an http(s) address')
  return value
}

function viaOf({ via }: Values): string | undefined {
  try {
    if (via !== undefined) gatewayOf(via)
    return via
  } catch (error) {
    throw new UsageError(`--via: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function directoryOf(values: Values): string {
  const directory = resolve(needed(values, 'data'))
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return directory
}

/** Programs that it keeps for other users pass through its directory, and see nothing; nobody enters what containers read of it. */
function letPass(directory: string): void {
  const stacks = join(directory, 'stacks')
  mkdirSync(stacks, { recursive: true, mode: 0o700 })
  chmodSync(stacks, 0o700)
  if (process.getuid?.() === 0) chmodSync(directory, 0o711)
}

/** Until the server lets it in; a server that is not there yet is waited for. */
async function enrolled(values: Values, directory: string, signal: AbortSignal): Promise<NonNullable<Kept['enrolled']> & { readonly privateKey: string }> {
  const token = tokenOf()
  for (;;) {
    const kept = readKept(directory)
    if (kept !== null && kept.enrolled !== null) return { ...kept.enrolled, privateKey: kept.private_key }
    if (token === undefined) throw new UsageError('this node is not enrolled: ZHISUAN_TOKEN=… agent enrol --server URL --data DIRECTORY')
    try {
      await enrol({ directory, server: needed(values, 'server'), token, via: viaOf(values), key: values.key, signal })
      say('enrolled')
    } catch (error) {
      if (error instanceof EnrolmentRefused || signal.aborted) throw error
      say(`enrolling: ${error instanceof Error ? error.message : String(error)}`)
      await sleep(5_000, undefined, { signal })
    }
  }
}

function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stop.abort())
  return stop.signal
}

/** Enrols where that has not been done, and keeps the agent running. */
async function run(values: Values): Promise<void> {
  const directory = directoryOf(values)
  const signal = stopSignal()
  await enrolled(values, directory, signal)
  const args = ['--data', directory, '--docker', values.docker, '--root', values.root, ...(values['allow-reboot'] ? ['--allow-reboot'] : [])]
  await launch({ directory, installed: fileURLToPath(import.meta.url), args, signal, say: (line) => say(`launcher: ${line}`) })
}

/** The agent itself. */
async function serve(values: Values): Promise<void> {
  const directory = directoryOf(values)
  const signal = stopSignal()
  const { edge_id, server, privateKey } = await enrolled(values, directory, signal)
  const tell = process.send === undefined ? null : (message: ToLauncher) => void process.send?.(message)
  // Another launcher would start another agent of the same identity.
  process.on('disconnect', () => process.exit(1))
  say(`agent ${version} of node ${edge_id}`)
  say(`fingerprint ${fingerprintOf(privateKey)}`)
  const host = { root: values.root, dockerSocket: values.docker }
  letPass(directory)
  const compose = createCompose({ directory: join(directory, 'stacks'), dockerSocket: values.docker, say })
  const kept = createKept({ directory, host, server, say })
  const handler = createHandler({
    host,
    compose,
    gateway: createGateway(server),
    kept,
    upgrades: { directory, server, tell, signal },
    allowReboot: values['allow-reboot'],
    say,
  })
  const up = (): void => {
    say(`connected to ${server.url}`)
    tell?.({ welcomed: true })
  }
  await keepTunnel({ edgeId: edge_id, privateKey, server, version, handler, signal, say, up })
  await Promise.all([compose.stop(composeGraceMs), kept.close()])
  say('stopped')
}

try {
  const { command, values } = understood()
  if (command === 'enrol') {
    const token = tokenOf()
    if (token === undefined) throw new UsageError('$ZHISUAN_TOKEN is missing')
    const { enrolled } = await enrol({
      directory: directoryOf(values),
      server: needed(values, 'server'),
      token,
      via: viaOf(values),
      key: values.key,
    })
    say(`enrolled as node ${enrolled?.edge_id}`)
  } else if (command === 'run') await run(values)
  else if (command === 'serve') await serve(values)
  else if (command === 'version') process.stdout.write(`${version}\n`)
  else throw new UsageError('enrol, run or version')
  process.exit(0)
} catch (error) {
  process.stderr.write(error instanceof UsageError ? `${error.message}\n${usage}` : `${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(error instanceof UsageError ? 2 : 1)
}
