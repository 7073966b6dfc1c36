import { splitChannel, splitPayouts } from '@zhisuan/contract/split/payout'
import { splitCases, splitReconciliations } from '@zhisuan/contract/split/reconciliation'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { startBank, type TestBank } from '../../../testing/payout-bank.ts'
import { signIn, someone } from '../../../testing/people.ts'
import { boundsOf, dayOf } from '../reconciliation/differences.ts'
import { reconcileJob } from '../reconciliation/reconciliation.service.ts'
import { makeOwed, runJob, setUpChannel, type Somebody } from '../testing.ts'
import { notifyPath } from './channel.service.ts'

describe('another channel in the place of one', () => {
  let app: TestApp
  let keeper: Somebody
  let second: Somebody
  let admin: Somebody
  let former: TestBank
  let present: TestBank
  let provider: Awaited<ReturnType<typeof makeOwed>>
  const clock = createClock()
  const keysOf = (key: string) => ({ sign_type: 'HMAC-SHA256' as const, key, gateway_public_key: '' })
  const channels = { former: keysOf('the secret of the former'), present: keysOf('the secret of the present') }
  const get = (id: string) => call(app, splitPayouts.get, { token: keeper.token, params: { id } })
  const set = (bank: TestBank, merchant_id: string, { sign_type, key }: ReturnType<typeof keysOf>) =>
    setUpChannel(app, admin, second, { enabled: true, gateway: bank.url, merchant_id, sign_type, key })
  const pays = async (amount: string): Promise<string> => {
    const { id } = await call(app, splitPayouts.create, { token: keeper.token, body: { provider_id: provider.id, amount } })
    await vi.waitFor(async () => expect((await get(id)).status).toBe('done'))
    return id
  }
  const notified = async (message: Readonly<Record<string, string>>): Promise<number> =>
    (await app.http.inject({ method: 'POST', url: notifyPath, payload: message })).statusCode
  const asked = (bank: TestBank): string[] => bank.asked.flatMap(({ path, message }) => (path === 'statements' ? [message['day'] ?? ''] : []))
  const nextDay = async (): Promise<void> => {
    clock.advance(24 * 3_600_000)
    for (const who of [keeper, second, admin]) Object.assign(who, await signIn(app, who))
    await runJob(app, reconcileJob)
  }

  beforeAll(async () => {
    app = await testApp({}, { clock })
    former = await startBank(channels.former, 'm-1', clock.now)
    present = await startBank(channels.present, 'm-2', clock.now)
    // So that all of it is of one day, whatever the time is.
    clock.advance(boundsOf(dayOf(clock.now())).to.getTime() + 2 * 3_600_000 - clock.now().getTime())
    keeper = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    second = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    admin = await someone(app, { kind: 1 })
    await set(former, 'm-1', channels.former)
    provider = await makeOwed(app, keeper, second, '100')
  })
  afterAll(async () => {
    await app.close()
    await former.close()
    await present.close()
  })

  it('pays what is asked for from then on; what went through the former is believed of it, and of nobody else', async () => {
    const before = await pays('10')
    await set(present, 'm-2', channels.present)
    const after = await pays('10')
    // Each numbers its payments for itself.
    expect([(await get(before)).reference, (await get(after)).reference]).toEqual(['T-1', 'T-1'])
    expect(await call(app, splitPayouts.query, { token: keeper.token, params: { id: before } })).toMatchObject({ status: 'done' })
    former.end(before, 'returned', '账户已销户')
    present.take(before, '10.00')
    present.end(before, 'returned', '账户已销户')
    expect(await notified(present.message(before))).toBe(400)
    expect((await get(before)).status).toBe('done')
    expect(await notified(former.message(before))).toBe(200)
    expect((await get(before)).status).toBe('returned')
    present.payments.delete(before)
  })

  it('is asked for the files of its own days, and the former for those of a week more', async () => {
    await nextDay()
    const day = asked(former)[0] ?? ''
    expect([asked(former), asked(present)]).toEqual([[day], [day]])
    const { items } = await call(app, splitReconciliations.list, { token: keeper.token, query: {} })
    expect(items.map((one) => `${one.day} ${one.merchant_id} ${one.status} ${one.case_count}`).toSorted()).toEqual([`${day} m-1 done 0`, `${day} m-2 done 0`])
    for (let days = 0; days < 8; days++) await nextDay()
    expect(asked(present).length).toBe(9)
    expect(asked(former).length).toBe(7)
    expect((await call(app, splitCases.list, { token: keeper.token, query: {} })).items).toEqual([])
  })

  it('takes its place only once the former has ended all that it has', async () => {
    present.fate = () => ({})
    const { id } = await call(app, splitPayouts.create, { token: keeper.token, body: { provider_id: provider.id, amount: '10' } })
    await vi.waitFor(async () => expect((await get(id)).status).toBe('sent'))
    const body = {
      enabled: true,
      gateway: former.url,
      merchant_id: 'm-1',
      sign_type: 'HMAC-SHA256' as const,
      key: channels.former.key,
      password: admin.password,
    }
    expect(await refused(app, splitChannel.set, { token: admin.token, body })).toMatchObject({ code: 98215 })
  })
})
