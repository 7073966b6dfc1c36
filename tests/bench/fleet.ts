import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { edges, enrolments } from '@zhisuan/contract/ecrm/edge'
import { newPrivateKey, publicKeyOf } from '../../apps/agent/src/identity.ts'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'
import type { FromAgents, ToAgents } from './fleet.agents.ts'
import type { Figure } from './main.ts'
import { memoryOf, percentile, timed } from './stats.ts'

const count = 5_000
const some = 1_000
/** Agents share processes, so that the server has a processor left. */
const processes = 2
const comeMs = 120_000
/** How long they are watched while they only are there: each is asked some six times how it is. */
const holdMs = 60_000
const memoryBar = 1.5 * 2 ** 30
const program = fileURLToPath(new URL('fleet.agents.ts', import.meta.url))

/** Many agents at one server: what they cost while they are there, and how long they take to come back to one that was killed. */
export async function benchFleet(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  const admin = new pg.Client({ connectionString: postgres.url('postgres') })
  await admin.connect()
  await admin.query('create database bench')
  await admin.end()
  const settings = { DATABASE_URL: postgres.url('bench'), LOCAL_CLOUD: 'sandbox', LOG_LEVEL: 'error', ZHISUAN_ENV: 'production' }
  let server = await startServer(data, settings)
  let fleet: Fleet | null = null
  try {
    let client = await asAdministrator(server)
    const agents = await enrolled(client, settings.DATABASE_URL)
    const began = performance.now()
    fleet = startFleet({ url: server.url, ...agents })
    const all = fleet
    const here = async (wanted: number): Promise<void> => {
      await until(async () => all.connected() === wanted && (await online(client)) === wanted, `${wanted} agents to be connected`, comeMs)
    }
    await here(count)
    const cameMs = performance.now() - began
    console.log(`       ${count} agents have come in ${seconds(cameMs)}, ${mebibytes(memoryOf(server, 'VmRSS'))} of memory`)

    const [ended, asked, busy] = [fleet.ended(), fleet.asked(), processorMs(server)]
    const lists: number[] = []
    let fewest = count
    const end = performance.now() + holdMs
    while (performance.now() < end) {
      lists.push(await timed(() => client.call(edges.list, { query: { page_size: '10' } })))
      fewest = Math.min(fewest, await online(client))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const lost = fleet.ended() - ended + count - fewest
    const rate = (fleet.asked() - asked) / (holdMs / 1_000)
    console.log(`       ${rate.toFixed(0)} metrics a second, ${((processorMs(server) - busy) / (holdMs / 100)).toFixed(0)}% of a processor`)
    const memory = memoryOf(server, 'VmHWM')

    /** From the moment at which the server listens again. */
    const back = async (wanted: number): Promise<number> => {
      const killed = performance.now()
      server.process.kill('SIGKILL')
      await server.ended
      server = await startServer(data, { ...settings, PORT: new URL(server.url).port })
      const listens = performance.now()
      client = await asAdministrator({ ...server, firstPassword: null })
      await here(wanted)
      const now = performance.now()
      console.log(
        `       ${wanted} agents are back ${seconds(now - killed)} after the server was killed, which listened again after ${seconds(listens - killed)}`,
      )
      return now - listens
    }
    const allMs = await back(count)
    fleet.keep(some)
    await here(some)
    const someMs = await back(some)
    const p95 = percentile(lists, 0.95)
    return [
      { name: `heartbeats of ${count} agents within a minute`, ours: `${lost} lost`, floor: '0', value: lost, bar: '0', met: lost === 0 },
      {
        name: `memory of a server with ${count} agents, at most`,
        ours: mebibytes(memory),
        floor: mebibytes(memoryBar),
        value: memory / memoryBar,
        bar: '≤ 1',
        met: memory <= memoryBar,
      },
      { name: `list of ${count} nodes that are connected, p95`, ours: `${p95.toFixed(1)} ms`, floor: '30 ms', value: p95 / 30, bar: '≤ 30 ms', met: p95 <= 30 },
      {
        name: `${some} agents back at a server that was killed`,
        ours: seconds(someMs),
        floor: '30 s',
        value: someMs / 30_000,
        bar: '≤ 30 s',
        met: someMs <= 30_000,
      },
      { name: `${count} agents back at a server that was killed`, ours: seconds(allMs), floor: '30 s', value: allMs / 30_000, bar: 'none', met: true },
    ]
  } finally {
    fleet?.stop()
    await server.stop()
    await postgres.stop()
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`

interface Agents {
  readonly publicKey: string
  readonly agents: readonly { readonly edgeId: string; readonly privateKey: string }[]
}

/** One is enrolled as people do it, which tells the server's key; of the others it is recorded only that they were. */
async function enrolled(client: Client, database: string): Promise<Agents> {
  const { enrolment } = await client.call(edges.create, { body: { name: 'edge-0', confirm: 'auto' } })
  const agents = Array.from({ length: count }, () => ({ edgeId: randomUUID(), privateKey: newPrivateKey() }))
  const [first, ...others] = agents
  const { edge_id, server_public_key } = await client.call(enrolments.enrol, {
    body: { token: enrolment.token, public_key: publicKeyOf(first?.privateKey ?? ''), version: '0.1.0' },
  })
  const sql = new pg.Client({ connectionString: database })
  await sql.connect()
  try {
    await sql.query(
      `insert into edges (id, name, description, binding, confirm, labels, taints, public_key, created_by_name)
       select id, 'edge-' || n, '', 'bound', 'auto', '[]', '[]', key, 'bench' from unnest($1::uuid[], $2::text[]) with ordinality as one (id, key, n)`,
      [others.map(({ edgeId }) => edgeId), others.map(({ privateKey }) => publicKeyOf(privateKey))],
    )
    await sql.query('vacuum analyze edges')
  } finally {
    await sql.end()
  }
  return { publicKey: server_public_key, agents: [{ edgeId: edge_id, privateKey: first?.privateKey ?? '' }, ...others] }
}

const online = async (client: Client): Promise<number> => (await client.call(edges.list, { query: { status: 'online', page_size: '1' } })).total

interface Fleet {
  connected(): number
  ended(): number
  asked(): number
  /** The others go. */
  keep(wanted: number): void
  stop(): void
}

function startFleet({ url, publicKey, agents }: Agents & { readonly url: string }): Fleet {
  const share = Math.ceil(agents.length / processes)
  const said = new Map<ChildProcess, FromAgents>()
  const children = Array.from({ length: processes }, (_, n) => {
    const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    child.on('message', (message: FromAgents) => said.set(child, message))
    child.send({ start: { url, publicKey, agents: agents.slice(n * share, (n + 1) * share) } } satisfies ToAgents)
    return child
  })
  const sum = (of: keyof FromAgents) => (): number => [...said.values()].reduce((total, one) => total + one[of], 0)
  return {
    connected: sum('connected'),
    ended: sum('ended'),
    asked: sum('asked'),
    keep: (wanted) => children.forEach((child) => child.send({ keep: wanted / processes } satisfies ToAgents)),
    stop: () => children.forEach((child) => child.kill()),
  }
}

/** What a process has used of processors so far; a tick of Linux is ten milliseconds. */
function processorMs({ process: { pid } }: RunningServer): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
