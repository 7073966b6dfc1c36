import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants as fsConstants } from 'node:fs'
import { lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import type { ServerHttp2Stream } from 'node:http2'
import { dirname, join, normalize, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { composeProject, type composeLine } from '@zhisuan/contract/agent/node'
import type { z } from 'zod'
import { bodyOf, Denied } from './answers.ts'
import { composeCommand, type ComposeCommand } from './compose.command.ts'

type Order = z.output<typeof composeProject>
type Line = z.output<typeof composeLine>

/** A file, and what lies beside it, as JSON. */
const orderLimitBytes = 32 * 2 ** 20
/** Of what compose says, for those who ask later. */
const linesKept = 2_000
const lineLimit = 4_000
/** A server that does not read does not hold what is to be done. */
const unreadLimitBytes = 2 ** 20
const fileName = 'docker-compose.yml'
const checkedName = '.zhisuan-checked.yml'
/** Empty: compose would read variables of its own from a `.env` beside the file, which may be a config of a service. */
const variablesName = '.zhisuan-env'
/** Names what was written beside it. */
const listName = '.zhisuan-files'
const ownNames = new Set([fileName, checkedName, listName, variablesName])

export interface ComposeParts {
  /** Of all projects: a directory for each. */
  readonly directory: string
  readonly dockerSocket: string
  readonly say: (line: string) => void
}

export interface Compose {
  serve(stream: ServerHttp2Stream): Promise<void>
  /** Resolves when nothing runs; what still does after so long is ended. */
  stop(graceMs: number): Promise<void>
}

/** What is being done to a project: it goes on when whoever asked is gone. */
interface Job {
  readonly order: Order
  /** The same order has the same. */
  readonly key: string
  readonly lines: Line[]
  readonly listeners: Set<(line: Line) => void>
  readonly ended: Promise<void>
  child: ChildProcess | null
  cancelled: boolean
}

export function createCompose({ directory, dockerSocket, say }: ComposeParts): Compose {
  const jobs = new Map<string, Job>()
  let way: ComposeCommand | null = null

  const begin = (order: Order, key: string): Job => {
    const ended = Promise.withResolvers<void>()
    const job: Job = { order, key, lines: [], listeners: new Set(), ended: ended.promise, child: null, cancelled: false }
    jobs.set(order.project, job)
    const tell = (line: Line): void => {
      job.lines.push(line)
      if (job.lines.length > linesKept) job.lines.shift()
      for (const listener of job.listeners) listener(line)
    }
    say(`compose ${order.action} ${order.project}`)
    carryOut(job, (line) => tell({ line: line.slice(0, lineLimit) }))
      .then(
        () => tell({ ended: 'succeeded', error: null }),
        (error: unknown) => tell({ ended: 'failed', error: (error instanceof Error ? error.message : String(error)).slice(0, lineLimit) }),
      )
      .finally(() => {
        jobs.delete(order.project)
        ended.resolve()
      })
    return job
  }

  const carryOut = async (job: Job, tell: (line: string) => void): Promise<void> => {
    const { order } = job
    const folder = join(directory, order.project)
    const there = order.file !== undefined || (await exists(join(folder, fileName)))
    if (!there && order.action === 'up') throw new Error('there is no file of this project on the node, and none was given')
    if (!there) return rm(folder, { recursive: true, force: true })
    way ??= await composeCommand()
    const compose = way
    if (compose === null) throw new Error('neither docker compose nor docker-compose is on this node')
    const call = (args: readonly string[], file = fileName) => run(job, compose, folder, file, args, tell)
    if (order.file !== undefined) await writeFiles(folder, order)
    await replace(join(folder, variablesName), Buffer.alloc(0))
    if (order.file !== undefined) {
      // One that compose does not understand must not take the place of one by which the project can be taken down.
      await replace(join(folder, checkedName), Buffer.from(order.file))
      await call(['config', '-q'], checkedName)
      await rename(join(folder, checkedName), join(folder, fileName))
    }
    if (order.action === 'up' && order.pull) await call(['pull'])
    if (order.action === 'up')
      await call(['up', '-d', '--remove-orphans', ...Object.entries(order.scale).flatMap(([service, replicas]) => ['--scale', `${service}=${replicas}`])])
    else {
      await call(['down', '--remove-orphans'])
      await rm(folder, { recursive: true, force: true })
    }
  }

  const run = async (job: Job, compose: ComposeCommand, folder: string, file: string, args: readonly string[], tell: (line: string) => void): Promise<void> => {
    if (job.cancelled) throw new Error('given up for what was asked after it')
    const child = spawn(
      compose.file,
      [
        ...compose.args,
        '--ansi',
        'never',
        '--project-directory',
        folder,
        '--env-file',
        join(folder, variablesName),
        '-p',
        job.order.project,
        '-f',
        join(folder, file),
        ...args,
      ],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        // Nothing of the agent's own surroundings stands in for a variable of the file.
        env: {
          PATH: process.env['PATH'],
          HOME: directory,
          LANG: 'C.UTF-8',
          DOCKER_HOST: `unix://${dockerSocket}`,
          COMPOSE_HTTP_TIMEOUT: '300',
          COMPOSE_PROGRESS: 'plain',
        },
      },
    )
    job.child = child
    let last = ''
    const reading = [child.stdout, child.stderr].map(async (output) => {
      for await (const line of createInterface({ input: output, crlfDelay: Number.POSITIVE_INFINITY })) {
        const shown = line.trimEnd()
        if (shown === '') continue
        last = shown
        tell(shown)
      }
    })
    const code = await new Promise<number | string>((resolve, reject) => {
      child.once('error', (error) => {
        // Taken away meanwhile: it is looked for again.
        way = null
        reject(error)
      })
      child.once('close', (exit, signal) => resolve(exit ?? signal ?? 'nothing'))
    })
    await Promise.all(reading)
    job.child = null
    if (code !== 0) throw new Error(job.cancelled ? 'given up for what was asked after it' : last || `compose ended with ${code}`)
  }

  return {
    async serve(stream) {
      const order = await bodyOf(stream, composeProject, orderLimitBytes)
      if (order.files.some(({ path }) => ownNames.has(normalize(path)))) throw new Denied(400, `files: ${fileName} is the project's own`)
      if (Object.keys(order.scale).some((service) => !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(service)))
        throw new Denied(400, 'scale: this is no name of a service')
      const key = createHash('sha256').update(JSON.stringify(order)).digest('hex')
      let job = jobs.get(order.project)
      if (job !== undefined && job.key !== key) {
        // Whatever it was about to become, it is to go.
        if (order.action !== 'down' || job.order.action === 'down') throw new Denied(409, `compose ${job.order.action} of this project is still running`)
        job.cancelled = true
        job.child?.kill('SIGTERM')
        await job.ended
        job = jobs.get(order.project)
        if (job !== undefined && job.key !== key) throw new Denied(409, `compose ${job.order.action} of this project is still running`)
      }
      follow(job ?? begin(order, key), stream)
    },
    async stop(graceMs) {
      const all = [...jobs.values()]
      const late = sleep(graceMs, 'late', { ref: false })
      if ((await Promise.race([Promise.all(all.map(({ ended }) => ended)), late])) !== 'late') return
      for (const job of all) {
        job.cancelled = true
        job.child?.kill('SIGTERM')
      }
      await Promise.race([Promise.all(all.map(({ ended }) => ended)), sleep(10_000, undefined, { ref: false })])
    },
  }
}

/** What was said already, and what is said from now on, a line of JSON each. */
function follow(job: Job, stream: ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) return
  stream.respond({ ':status': 200, 'content-type': 'application/x-ndjson' })
  const listener = (line: Line): void => {
    if (!('ended' in line) && stream.writableLength > unreadLimitBytes) return
    stream.write(`${JSON.stringify(line)}\n`)
    if ('ended' in line) stream.end()
  }
  for (const line of job.lines) listener(line)
  job.listeners.add(listener)
  stream.on('close', () => job.listeners.delete(listener))
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * What lies beside the project's own file; each whole or not at all. In place: what containers have mounted
 * of the directory goes on being the directory. Files that are not named any more go.
 */
async function writeFiles(folder: string, order: Order): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const wanted = new Map(order.files.map(({ path, content_base64 }) => [join(folder, path), Buffer.from(content_base64, 'base64')]))
  for (const [path, content] of wanted) {
    await directoriesTo(folder, dirname(path))
    await replace(path, content)
  }
  for (const path of (await filesWritten(folder)).map((one) => join(folder, one))) {
    if (wanted.has(path)) continue
    await directoriesTo(folder, dirname(path)).then(
      () => rm(path, { force: true }),
      () => undefined,
    )
  }
  await replace(join(folder, listName), Buffer.from(JSON.stringify([...wanted.keys()].map((path) => relative(folder, path)))))
}

/** Of what lies there: what containers have left is theirs. */
async function filesWritten(folder: string): Promise<string[]> {
  try {
    const handle = await open(join(folder, listName), fsConstants.O_RDONLY | fsConstants.O_NOFOLLOW)
    try {
      const list: unknown = JSON.parse(await handle.readFile('utf8'))
      return Array.isArray(list)
        ? list.filter((path): path is string => typeof path === 'string' && composeProject.shape.files.unwrap().element.shape.path.safeParse(path).success)
        : []
    } finally {
      await handle.close()
    }
  } catch {
    return []
  }
}

/** A container that has the directory mounted may have put a link in the way, to write elsewhere by our hand. */
async function directoriesTo(folder: string, directory: string): Promise<void> {
  let at = folder
  for (const name of relative(folder, directory)
    .split('/')
    .filter((part) => part !== '')) {
    at = join(at, name)
    await mkdir(at, { mode: 0o755 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(at)).isDirectory()) throw new Error(`${relative(folder, at)} is no directory`)
  }
}

async function replace(path: string, content: Buffer): Promise<void> {
  const fresh = `${path}.zhisuan-new`
  await rm(fresh, { force: true })
  const handle = await open(fresh, 'wx', 0o644)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  // Takes the place of a link, too, without following it.
  await rename(fresh, path)
}
