import { randomInt, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentPaths } from '@zhisuan/contract/agent/node'
import { idempotencyKeyHeader } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { cards, marketNodes } from '@zhisuan/contract/market/card'
import { offers } from '@zhisuan/contract/market/offer'
import { providers } from '@zhisuan/contract/market/provider'
import { rentals } from '@zhisuan/contract/market/rental'
import { configs } from '@zhisuan/contract/sys/sys'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fakeDocker } from '../../apps/server/src/modules/cis/testing.ts'
import { register, someAddress } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { cardsEnvironment } from '../support/gpu/node.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

/** Server and agent are processes of their own and die as such; Docker is in memory, since a thousand machines are made here. */
const cardsInAll = 25
/** Of two providers, of which the second costs less: whoever comes too late for the one that all ask for has another's. */
const shares = [13, 12] as const
const providersNames = ['机柜主', '机房主'] as const
const prices = ['10', '9'] as const
const organisations = 20
const ofEach = 5
const rounds = Number(process.env['STORM_ROUNDS'] ?? 10)
/** What is free for nobody after that stays so. */
const heldMostMs = 10_000
const model = 'NVIDIA H100 80GB HBM3'
const gib = 2 ** 30

let data: TemporaryFolder
let server: RunningServer
const agents: { running: RunningAgent; start: () => RunningAgent }[] = []
let port: number
let engine: Server
let sql: pg.Client
const docker = fakeDocker()
const renters: { organisation: string; client: Client }[] = []
let offer_id: string

const start = async (): Promise<void> => {
  server = await startServer(data.path, { LOCAL_CLOUD: 'none', TRUST_PROXY: '1', PORT: String(port) })
}
beforeAll(async () => {
  data = temporaryFolder('storm')
  port = await freePort()
  await start()
  sql = new pg.Client({ connectionString: server.databaseUrl })
  await sql.connect()
  const socket = join(data.path, 'docker.sock')
  engine = createServer((request, response) => {
    // The agent hands on what is asked of Docker as it is; in memory it is asked as an agent is.
    request.url = `${agentPaths.docker}${request.url}`
    docker.answers(request as never, response as never)
  }).listen(socket)
  const admin = await asAdministrator(server)
  const signedUp = async (name: string, organisation: string): Promise<Client> => {
    const headers = someAddress()
    const { username, password } = await register(server.url, name, organisation)
    const client = new Client(server.url, headers)
    await client.signIn(username, password)
    return client
  }
  for (let index = 0; index < organisations; index++)
    renters.push({ organisation: `租户${index}`, client: await signedUp(`storm-renter-${index}`, `租户${index}`) })
  await admin.call(configs.set, { body: { key: 'market_hours_ahead', value: '0' } })
  for (const [index, count] of shares.entries()) {
    const folder = join(data.path, `node-${index}`)
    mkdirSync(join(folder, 'agent'), { recursive: true })
    const owner = await signedUp(`storm-owner-${index}`, `卡主${index}`)
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: `cabinet-${index}`, confirm: 'auto' } })
    const environment = cardsEnvironment(folder, count, shares[0] * index)
    const startOne = () =>
      startAgent(['serve', '--data', join(folder, 'agent'), '--docker', socket, ...parametersOf(enrolment.command)], undefined, environment)
    agents.push({ running: startOne(), start: startOne })
    await until(async () => (await owner.call(cards.list, { query: {} })).total === count, 'the agent to tell of its cards')
    const { id } = await owner.call(providers.create, { body: { name: providersNames[index] ?? '', contact: '13800000000' } })
    await admin.call(providers.review, { params: { id }, body: { action: 'verify' } })
    const tested = await owner.call(marketNodes.test, { params: { id: edge.id } })
    // Its disk is that of the machine on which all tests run at once.
    expect(tested.test?.checks.filter(({ passed, check }) => !passed && check !== 'disk' && check !== 'runtime')).toEqual([])
    await sql.query('update market_nodes set test_passed = true, listed = true where id = $1', [edge.id])
    const terms = { card_model: model, most_cards: 1, cpus_per_card: 0.1, memory_bytes_per_card: gib / 4, disk_bytes_per_card: gib }
    const offer = await owner.call(offers.create, {
      body: { ...terms, card_price: prices[index] ?? '', disk_price: '0.01', stopped_disk_price: '0.01' },
    })
    await admin.call(offers.decide, { params: { id: offer.id }, body: { accept: true } })
    if (index === 0) offer_id = offer.id
  }
})
afterAll(async () => {
  await sql?.end()
  for (const { running } of agents) await running.stop()
  await server?.stop()
  engine?.closeAllConnections()
  engine?.close()
  if (data !== undefined) rmSync(join(data.path, 'docker.sock'), { force: true })
  data?.remove()
})

/** Asked again with the same key until somebody answers: a server that was killed says nothing. */
async function asked(client: Client, path: string, body: unknown): Promise<{ status: number; body: { id?: string; code?: number; message?: string } }> {
  const key = randomUUID()
  for (;;) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { ...client.authorization, 'content-type': 'application/json', [idempotencyKeyHeader]: key },
        body: JSON.stringify(body),
      })
      const said = (await answer.json()) as { code?: number }
      // Somebody else is at it, or the platform begins just now.
      if (answer.status < 500 && answer.status !== 429 && said.code !== 90011) return { status: answer.status, body: said }
    } catch {
      // Nobody is there.
    }
    await sleep(100 + randomInt(200))
  }
}
const restarts = { server: 0, agent: 0 }
async function killServer(): Promise<void> {
  server.process.kill('SIGKILL')
  await server.ended
  restarts.server++
  await start()
}
async function killAgent(): Promise<void> {
  const one = agents[randomInt(agents.length)]
  if (one === undefined) return
  await one.running.kill()
  restarts.agent++
  one.running = one.start()
}
const openHolds = async (): Promise<{ card_id: string; rental_id: string }[]> =>
  (await sql.query<{ card_id: string; rental_id: string }>('select card_id, rental_id from market_holds where released_at is null')).rows
const statuses = async (ids: readonly string[]): Promise<{ id: string; status: string; error_text: string | null }[]> =>
  (await sql.query<{ id: string; status: string; error_text: string | null }>('select id, status, error_text from market_rentals where id = any($1)', [ids]))
    .rows
/** Cards that containers run with, as the engine has it. */
const cardsInUse = (): string[] =>
  [...docker.containers.values()].flatMap(({ state, body }) =>
    state === 'running' ? ((body.HostConfig as unknown as { DeviceRequests?: { DeviceIDs: string[] }[] }).DeviceRequests?.[0]?.DeviceIDs ?? []) : [],
  )

it(`a hundred rent ${cardsInAll} cards at once, again and again, while server and agent are killed: as many win as there are cards, none is had twice, and none stays held`, async () => {
  const told = { won: 0, failed: 0, lost: 0, releaseMs: [] as number[], roundMs: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    const rent = (client: Client, index: number) => asked(client, rentals.create.path, { name: `r${round}-${index}`, offer_id, image: 'app:1' })
    const asking = renters.flatMap(({ client }) => Array.from({ length: ofEach }, (_, index) => ({ client, index })))
    const renting = Promise.all(asking.map(({ client, index }) => rent(client, index)))
    await sleep(randomInt(1_200))
    // One of them in each round, at a moment that nobody chooses; now and then both.
    const which = round % 3
    await Promise.all([which !== 1 ? killAgent() : undefined, which !== 0 ? killServer() : undefined])
    const first = await renting
    // Nodes whose agents had not come back yet had nothing to give: whoever had none asks once more.
    await until(
      async () => (await sql.query("select from edges where status = 'online' and not docker_away")).rowCount === shares.length,
      'the nodes to be back',
    )
    const answers = await Promise.all(
      asking.map(async ({ client, index }, at) => {
        const answer = first[at]
        return answer?.status === 202 ? answer : rent(client, index)
      }),
    )
    const won = answers.flatMap(({ status, body }) => (status === 202 ? [body.id ?? ''] : []))
    const lost = answers.flatMap(({ status, body }) => (status === 202 ? [] : [body]))
    expect(won.length + lost.length).toBe(organisations * ofEach)
    for (const { code, message } of lost) {
      expect(code, message).toBe(98011)
      for (const name of providersNames) expect(message).toContain(name)
    }
    // Of what the agent's end broke off the cards may be another's by now, who came later.
    expect(won.length).toBeGreaterThanOrEqual(cardsInAll)
    const settled = await until(async () => {
      const rows = await statuses(won)
      return rows.every(({ status }) => status === 'running' || status === 'failed') && rows
    }, 'all that won to run, or to say why not')
    const running = settled.filter(({ status }) => status === 'running')
    const failed = settled.filter(({ status }) => status === 'failed')
    // Of an agent that died while it made them some come to nothing; a server alone takes none with it.
    if (which === 1) expect(running.length).toBe(cardsInAll)
    else expect(running.length).toBeGreaterThanOrEqual(1)
    expect(running.length).toBeLessThanOrEqual(cardsInAll)
    const of = await sql.query<{ offer_id: string }>('select offer_id from market_rentals where id = any($1) and status = $2', [won, 'running'])
    if (which === 1) expect(new Set(of.rows.map((row) => row.offer_id)).size).toBe(shares.length)
    for (const { error_text } of failed) expect(error_text).not.toBeNull()
    const inUse = cardsInUse()
    expect(new Set(inUse).size).toBe(inUse.length)
    const held = await openHolds()
    expect(new Set(held.map(({ card_id }) => card_id)).size).toBe(held.length)
    told.won += running.length
    told.failed += failed.length
    told.lost += lost.length

    const byId = new Map(answers.flatMap(({ body }, index) => (body.id === undefined ? [] : [[body.id, renters[Math.floor(index / ofEach)]?.client] as const])))
    await Promise.all(
      running.map(async ({ id }) => {
        const client = byId.get(id)
        if (client !== undefined) await asked(client, rentals.release.path.replace('{id}', id), {})
      }),
    )
    const released = performance.now()
    while ((await openHolds()).length > 0) {
      if (performance.now() - released > heldMostMs)
        expect.fail(`cards are held: ${JSON.stringify(await statuses((await openHolds()).map(({ rental_id }) => rental_id)))}`)
      await sleep(50)
    }
    told.releaseMs.push(Math.round(performance.now() - released))
    await until(async () => docker.containers.size === 0, 'nothing to be left on the node')
    told.roundMs.push(Math.round(performance.now() - begun))
  }
  console.log(JSON.stringify({ rounds, ...restarts, ...told }))
}, 900_000)
