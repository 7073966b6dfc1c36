import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { randomInt } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { alarms, receivers } from '@zhisuan/contract/omc/alarm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createInbox } from './inbox.ts'

/** Receivers that answer 500, hang, close, and take it in the end; servers that come and go on one database. */
describe('episodes under faults', () => {
  let app: TestApp
  let owner: Person & SignedIn
  let server: Server
  let url: string
  let failing = true
  /** Lines that were taken, by receiver. */
  const taken = new Map<string, string[]>()

  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const way = failing ? randomInt(4) : 3
        if (way === 0) return void response.writeHead(500).end()
        if (way === 1) return void request.socket.destroy()
        if (way === 2) return
        const path = request.url ?? ''
        const { text } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { text: string }
        taken.set(path, [...(taken.get(path) ?? []), ...text.split('\n').filter((line) => line.includes('node-'))])
        response.end('{"errcode":0}')
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    app = await testApp({ WEBHOOK_ALLOW: '127.0.0.1' })
    owner = await someone(app)
  })
  afterAll(async () => {
    await app.close()
    server.closeAllConnections()
    server.close()
  })

  it('come to each receiver, firing before resolved, none lost', async () => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c'])
      ids.push((await call(app, receivers.create, { token: owner.token, body: { name, kind: 'webhook', url: `${url}/${name}` } })).id)
    const alarm = await call(app, alarms.create, {
      token: owner.token,
      body: { name: 'x', severity: 'critical', rule: { kind: 'metric', metric: 'node_cpu', comparison: '>', threshold: 1 }, receiver_ids: ids },
    })
    const inbox = createInbox(app.platform)
    const began = new Date(Date.now() - 60_000).toISOString()
    const teller = { id: alarm.id, origin: 'kept' } as const
    const alertsOf = (endsAt?: string): readonly unknown[] =>
      Array.from({ length: 200 }, (_, index) => ({
        labels: { alertname: alarm.id, zhisuan_alarm: alarm.id, node: `node-${index}` },
        startsAt: began,
        ...(endsAt !== undefined && { endsAt }),
      }))
    // Told to two servers at once, again and again, as Prometheus does.
    const second = await testApp({ WEBHOOK_ALLOW: '127.0.0.1', DATABASE_URL: app.databaseUrl })
    const other = createInbox(second.platform)
    for (let times = 0; times < 3; times++) await Promise.all([inbox.take(alertsOf(), teller), other.take(alertsOf(), teller)])
    await vi.waitFor(() => expect(taken.size).toBeGreaterThan(0), { timeout: 120_000, interval: 500 })
    await second.close()
    await inbox.take(alertsOf(new Date(Date.now() - 1_000).toISOString()), teller)
    failing = false
    app.clock.advance(2 * 3_600_000)
    await vi.waitFor(
      () => {
        for (const path of ['/a', '/b', '/c']) {
          const lines = taken.get(path) ?? []
          for (let node = 0; node < 200; node++) {
            const own = lines.filter((line) => new RegExp(`node-${node}(?!\\d)`).test(line))
            expect([own.some((line) => line.includes('告警')), own.some((line) => line.includes('已恢复'))], `${path} node-${node}`).toEqual([true, true])
          }
        }
      },
      { timeout: 180_000, interval: 1_000 },
    )
    for (const lines of taken.values())
      for (let node = 0; node < 200; node++) {
        const own = lines.filter((line) => new RegExp(`node-${node}(?!\\d)`).test(line)).map((line) => line.includes('已恢复'))
        expect(own.indexOf(true), `node-${node}`).toBeGreaterThan(own.indexOf(false))
      }
  })

  it('of a storm are all named to a robot that takes 20 messages a minute, and it refuses none', async () => {
    const times: number[] = []
    const named = new Set<string>()
    let refusals = 0
    const robot = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const now = app.clock.now().getTime()
        times.push(now)
        if (times.filter((at) => at > now - 60_000).length > 20) {
          refusals++
          return void response.end('{"errcode":410100,"errmsg":"send too fast"}')
        }
        const { text } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { text: { content: string } }
        for (const name of text.content.match(/storm-\d+/g) ?? []) named.add(name)
        response.end('{"errcode":0}')
      })
    }).listen(0, '127.0.0.1')
    await once(robot, 'listening')
    try {
      const { token } = await signIn(app, owner)
      const { id } = await call(app, receivers.create, {
        token,
        body: { name: 'robot', kind: 'dingtalk', url: `http://127.0.0.1:${(robot.address() as AddressInfo).port}/robot`, secret: 'SEC1' },
      })
      const alarm = await call(app, alarms.create, {
        token,
        body: { name: 'storm', severity: 'critical', rule: { kind: 'metric', metric: 'node_cpu', comparison: '>', threshold: 1 }, receiver_ids: [id] },
      })
      const startsAt = app.clock.now().toISOString()
      const alerts = Array.from({ length: 2_000 }, (_, index) => ({
        labels: { alertname: alarm.id, zhisuan_alarm: alarm.id, node: `storm-${index}` },
        startsAt,
      }))
      await createInbox(app.platform).take(alerts, { id: alarm.id, origin: 'kept' })
      await vi.waitFor(
        () => {
          app.clock.advance(1_000)
          expect(named.size).toBe(2_000)
        },
        { timeout: 120_000, interval: 300 },
      )
      expect(refusals).toBe(0)
    } finally {
      robot.closeAllConnections()
      robot.close()
    }
  })
})
