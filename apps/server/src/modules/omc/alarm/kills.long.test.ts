import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { alarms, receivers } from '@zhisuan/contract/omc/alarm'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createInbox } from './inbox.ts'

const episodes = 200
const names = ['a', 'b', 'c'] as const
const kills = 8

interface Line {
  readonly node: string
  readonly isOver: boolean
}
let app: TestApp
let owner: Person & SignedIn
let receiver: Server
let url: string
let server: ChildProcess | undefined
let failing = true
/** What was taken, by receiver and message. */
const taken = new Map<string, Line[][]>(names.map((name) => [`/${name}`, []]))

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const way = failing ? randomInt(6) : 3
      if (way === 0) return void response.writeHead(500).end()
      if (way === 1) return void request.socket.destroy()
      if (way === 2) return
      const { text } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { text: string }
      const lines = text.split('\n').flatMap((line) => {
        const node = /node-\d+/.exec(line)?.[0]
        return node === undefined ? [] : [{ node, isOver: line.includes('已恢复') }]
      })
      taken.get(request.url ?? '')?.push(lines)
      response.end('{"errcode":0}')
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  app = await testApp({ WEBHOOK_ALLOW: '127.0.0.1' })
  owner = await someone(app)
})
afterAll(async () => {
  server?.kill('SIGKILL')
  await app.close()
  receiver.closeAllConnections()
  receiver.close()
})

/** A whole server on the same database, which sends as the one of the test does. */
const start = async (): Promise<void> => {
  server = spawn(process.execPath, [fileURLToPath(new URL('../../../main.ts', import.meta.url))], {
    env: {
      ...process.env,
      ZHISUAN_ENV: 'test',
      DATA_DIR: app.config.DATA_DIR,
      DATABASE_URL: app.databaseUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOCAL_CLOUD: 'none',
      LOCAL_AGENT: 'none',
      LOG_LEVEL: 'silent',
      WEBHOOK_ALLOW: '127.0.0.1',
      HOST: '127.0.0.1',
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (server.stdout !== null) await once(server.stdout, 'data')
}

it(`${episodes} episodes come to three receivers that answer 500, hang and close, while a server is killed ${kills} times: none lost, firing first, and twice only what it died over`, async () => {
  const receiver_ids: string[] = []
  for (const name of names)
    receiver_ids.push((await call(app, receivers.create, { token: owner.token, body: { name, kind: 'webhook', url: `${url}/${name}` } })).id)
  const alarm = await call(app, alarms.create, {
    token: owner.token,
    body: { name: 'x', severity: 'critical', rule: { kind: 'metric', metric: 'node_cpu', comparison: '>', threshold: 1 }, receiver_ids },
  })
  const inbox = createInbox(app.platform)
  const startsAt = new Date(Date.now() - 60_000).toISOString()
  /** Of each episode by itself at a moment of its own, as they come. */
  const tell = async (isOver: boolean): Promise<void> => {
    for (let node = 0; node < episodes; node++) {
      const labels = { alertname: alarm.id, zhisuan_alarm: alarm.id, node: `node-${node}` }
      const endsAt = new Date(Date.now() - 1_000).toISOString()
      await inbox.take([{ labels, startsAt, ...(isOver && { endsAt }) }], { id: alarm.id, origin: 'kept' })
      await sleep(randomInt(120))
    }
  }
  await start()
  const telling = tell(false).then(() => tell(true))
  for (let killed = 0; killed < kills; killed++) {
    await sleep(randomInt(2_500))
    const gone = server === undefined ? undefined : once(server, 'exit')
    server?.kill('SIGKILL')
    await gone
    await start()
  }
  await telling
  failing = false
  const linesOf = (path: string): Line[] => (taken.get(path) ?? []).flat()
  await vi.waitFor(
    () => {
      for (const path of taken.keys()) {
        const told = new Set(linesOf(path).map(({ node, isOver }) => `${node} ${isOver}`))
        expect(told.size, path).toBe(2 * episodes)
      }
    },
    { timeout: 300_000, interval: 1_000 },
  )
  let again = 0
  for (const path of taken.keys()) {
    for (const [node, lines] of Map.groupBy(linesOf(path), (line) => line.node)) {
      const overs = lines.map(({ isOver }) => isOver)
      expect(overs.indexOf(true), `${path} ${node}`).toBeGreaterThan(overs.lastIndexOf(false))
    }
    const seen = new Set<string>()
    for (const message of taken.get(path) ?? []) {
      const keys = message.map(({ node, isOver }) => `${node} ${isOver}`)
      if (keys.some((key) => seen.has(key))) again++
      for (const key of keys) seen.add(key)
    }
  }
  // Whoever died after somebody took a message, and before that was written down: of each kill one for each receiver at most.
  expect(again).toBeLessThanOrEqual(kills * names.length)
}, 600_000)
