import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { paymentChannels, topups, type SignType } from '@zhisuan/contract/bill/topup'
import { configs } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { startGateway, type TestGateway } from '../../../testing/payment-gateway.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createChannels } from './channel.service.ts'
import { canonical, signed, type Message } from '../../../platform/outbound/signed-messages.ts'
import { createTopups } from './topup.service.ts'

let app: TestApp
/** Another server on the same database. */
let other: TestApp
let admin: Person & SignedIn
const clock = createClock()
beforeAll(async () => {
  app = await testApp({ PUBLIC_URL: 'https://console.example.com' }, { clock })
  other = await testApp({ DATABASE_URL: app.databaseUrl }, { clock })
  admin = await someone(app, { kind: 1 })
})
afterAll(async () => {
  await other.close()
  await app.close()
})

const setting = (key: string, value: string) => call(app, configs.set, { body: { key, value }, token: admin.token })
const fundsOf = async (who: Person & SignedIn) => (await call(app, accounts.wallet, { params: { id: who.bp_id ?? '' }, token: who.token })).funds
const remit = (who: SignedIn, amount = '100') => call(app, topups.remit, { body: { amount }, token: who.token })
const confirm = (code: string, received: string, on = app) => ({
  on,
  input: { body: { code, received, reference: 'ICBC-1', note: '到账' }, token: admin.token },
})

describe('a remittance', () => {
  it('cannot be asked for before administrators say where to', async () => {
    const tenant = await someone(app)
    expect(await refused(app, topups.remit, { body: { amount: '1' }, token: tenant.token })).toMatchObject({ code: 96031 })
    expect((await call(app, topups.ways, { token: tenant.token })).bank).toBeNull()
    await setting('remittance_receiver', '智算云有限公司')
    await setting('remittance_bank', '工商银行')
    await setting('remittance_account', '6222 0000 1111')
    expect((await call(app, topups.ways, { token: tenant.token })).bank).toEqual({ receiver: '智算云有限公司', bank: '工商银行', account: '6222 0000 1111' })
  })

  it('is credited with what really came, by the code as people type it', async () => {
    const tenant = await someone(app)
    const asked = await remit(tenant, '100.00')
    expect(asked).toMatchObject({ status: 'waiting', amount: '100.00', received: null, method: 'remittance', owner: { id: tenant.bp_id } })
    expect(Date.parse(asked.expires_at ?? '') - Date.parse(asked.created_at)).toBe(7 * 86_400_000)
    const typed = `${asked.code.slice(0, 4)} ${asked.code.slice(4).toLowerCase()}`
    const { on, input } = confirm(typed, '99.50')
    expect(await call(on, topups.confirm, input)).toMatchObject({ status: 'confirmed', received: '99.50', reference: 'ICBC-1', confirmed_by: admin.name })
    expect(await fundsOf(tenant)).toBe('99.50')
    expect(await refused(app, topups.confirm, input)).toMatchObject({ status: 409, code: 90010 })
    const { items } = await call(app, accounts.entries, { params: { id: tenant.bp_id ?? '' }, token: tenant.token })
    expect(items).toMatchObject([
      {
        kind: 'topup',
        amount: '99.50',
        by: admin.name,
        note: '到账',
        transaction_id: (await call(app, topups.get, { params: { id: asked.id }, token: tenant.token })).transaction_id,
      },
    ])
  })

  it('pays once, however many confirm it at once, on whichever server', async () => {
    const tenant = await someone(app)
    const { code } = await remit(tenant)
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        const { on, input } = confirm(code, '100', at % 2 === 0 ? app : other)
        return call(on, topups.confirm, input).then(
          () => 'paid',
          () => 'refused',
        )
      }),
    )
    expect(outcomes.filter((outcome) => outcome === 'paid')).toHaveLength(1)
    expect(await fundsOf(tenant)).toBe('100.00')
  })

  it('is refused for wrong and expired codes, and for amounts that are none', async () => {
    const tenant = await someone(app)
    const { code, id } = await remit(tenant)
    expect(await refused(app, topups.confirm, confirm('HK00000000', '1').input)).toMatchObject({ code: 24047, fields: [{ field: 'code' }] })
    expect(await refused(app, topups.confirm, confirm(code, '-1').input)).toMatchObject({ code: 24014, fields: [{ field: 'received' }] })
    expect(await refused(app, topups.confirm, confirm(code, '0').input)).toMatchObject({ code: 96012 })
    expect(await refused(app, topups.remit, { body: { amount: '-1' }, token: tenant.token })).toMatchObject({ code: 24014, fields: [{ field: 'amount' }] })
    clock.advance(7 * 86_400_000)
    const again = await signInAgain(tenant)
    expect(await refused(app, topups.confirm, { ...confirm(code, '1').input, token: (await signInAgain(admin)).token })).toMatchObject({
      code: 24048,
      fields: [{ field: 'code' }],
    })
    expect(await call(app, topups.get, { params: { id }, token: again.token })).toMatchObject({ status: 'expired' })
    expect((await call(app, topups.list, { query: { status: 'expired' }, token: again.token })).total).toBe(1)
    expect((await call(app, topups.list, { query: { status: 'waiting' }, token: again.token })).total).toBe(0)
    expect(await refused(app, topups.cancel, { params: { id }, token: again.token })).toMatchObject({ code: 90010 })
    expect(await fundsOf({ ...tenant, ...again })).toBe('0.00')
    admin = { ...admin, ...(await signInAgain(admin)) }
  })

  it('waits five times at most, also when asked for at once, and can be given up', async () => {
    const tenant = await someone(app)
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () =>
        remit(tenant).then(
          ({ id }) => id,
          () => null,
        ),
      ),
    )
    const made = outcomes.filter((id) => id !== null)
    expect(made).toHaveLength(5)
    expect(await refused(app, topups.remit, { body: { amount: '1' }, token: tenant.token })).toMatchObject({ status: 409, code: 96030 })
    const id = made[0] ?? ''
    const cancelled = await call(app, topups.cancel, { params: { id }, token: tenant.token })
    expect(cancelled.status).toBe('cancelled')
    expect(await refused(app, topups.confirm, confirm(cancelled.code, '1').input)).toMatchObject({ code: 90010 })
    await remit(tenant)
  })

  it('is nobody else’s to see, and no tenant’s to confirm', async () => {
    const [tenant, stranger] = [await someone(app), await someone(app)]
    const { id, code } = await remit(tenant)
    for (const declared of [topups.get, topups.cancel, topups.resume])
      expect(await refused(app, declared, { params: { id }, token: stranger.token }), declared.id).toMatchObject({ status: 404 })
    expect((await call(app, topups.list, { query: { keyword: code }, token: stranger.token })).total).toBe(0)
    expect((await call(app, topups.list, { query: { owner_id: tenant.bp_id ?? '' }, token: stranger.token })).total).toBe(0)
    expect((await call(app, topups.list, { query: { keyword: code }, token: admin.token })).items).toMatchObject([{ id, owner: { id: tenant.bp_id } }])
    expect(await refused(app, topups.confirm, { ...confirm(code, '1').input, token: tenant.token })).toMatchObject({ status: 403 })
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await refused(app, topups.remit, { body: { amount: '1' }, token: nobody.token })).toMatchObject({ status: 404 })
  })

  it('stands beside what administrators charge, which is recorded once', async () => {
    const tenant = await someone(app)
    const id = tenant.bp_id ?? ''
    const body = { amount: '12.50', note: '赠送', key: randomUUID() }
    for (let times = 0; times < 2; times++) await call(app, accounts.charge, { params: { id }, body, token: admin.token })
    expect(await call(app, topups.list, { token: tenant.token })).toMatchObject({
      total: 1,
      items: [{ method: 'admin', status: 'confirmed', received: '12.50', note: '赠送', created_by: admin.name }],
    })
  })
})

/** Time went on: the old session did not. */
const signInAgain = (who: Person) => signIn(app, who)

const rsa = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } })

describe.each(['HMAC-SHA256', 'RSA-SHA256'] as const satisfies readonly SignType[])('an online payment, signed by %s', (sign_type) => {
  const [ours, theirs] = [rsa(), rsa()]
  const secret = 'a-secret-of-merchant-and-gateway'
  const merchant_id = `M-${sign_type}`
  const gatewaysKeys =
    sign_type === 'HMAC-SHA256' ? { sign_type, key: secret, gateway_public_key: '' } : { sign_type, key: theirs.privateKey, gateway_public_key: ours.publicKey }
  let gateway: TestGateway
  let channel: { id: string; notify_url: string | null }
  let tenant: Person & SignedIn

  beforeAll(async () => {
    gateway = await startGateway(gatewaysKeys, merchant_id, clock.now)
    channel = await call(app, paymentChannels.create, {
      token: admin.token,
      body: {
        name: `在线支付-${sign_type}`,
        enabled: true,
        gateway: gateway.url,
        merchant_id,
        sign_type,
        key: sign_type === 'HMAC-SHA256' ? secret : ours.privateKey,
        gateway_public_key: sign_type === 'HMAC-SHA256' ? '' : theirs.publicKey,
      },
    })
    tenant = await someone(app)
  })
  afterAll(() => gateway.close())

  const begin = async (amount = '20') => {
    const { topup, url } = await call(app, topups.pay, { body: { amount, channel_id: channel.id }, token: tenant.token })
    return { topup, asked: gateway.visit(url) }
  }
  const tell = async (message: unknown, on = app, id = channel.id) => {
    const { statusCode, body } = await on.http.inject({
      method: 'POST',
      url: `/api/bill/v1/payment-channels/${id}/notify`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(message),
    })
    return { statusCode, result: (JSON.parse(body) as { result?: string }).result }
  }
  const paid = (order_id: string, amount = '20.00', trade_id: string = randomUUID()): Message => gateway.message({ order_id, trade_id, amount, status: 'paid' })
  const statusOf = async (id: string) => (await call(app, topups.get, { params: { id }, token: tenant.token })).status
  const believed = { statusCode: 200, result: 'success' }
  const refusedMessage = { statusCode: 400, result: 'failure' }

  it('leads to the gateway with what is to be paid, signed', async () => {
    const { topup, asked } = await begin('20')
    expect(asked).toMatchObject({
      merchant_id,
      order_id: topup.code,
      amount: '20.00',
      currency: 'CNY',
      subject: '智算云',
      notify_url: channel.notify_url,
      return_url: 'https://console.example.com/charge-records',
    })
    expect(gateway.visit((await call(app, topups.resume, { params: { id: topup.id }, token: tenant.token })).url)['order_id']).toBe(topup.code)
    await call(app, topups.cancel, { params: { id: topup.id }, token: tenant.token })
  })

  it('is credited once, whatever the gateway repeats, at once and on several servers', async () => {
    const before = Number(await fundsOf(tenant))
    const { topup } = await begin()
    const message = paid(topup.code)
    const told = await Promise.all(Array.from({ length: 10 }, (_, at) => tell(message, at % 2 === 0 ? app : other)))
    expect(told).toEqual(Array.from({ length: 10 }, () => believed))
    // Signed anew, as a gateway does that heard no answer.
    expect(await tell(gateway.message({ order_id: topup.code, trade_id: message['trade_id'] ?? '', amount: '20', status: 'paid' }))).toEqual(believed)
    // What was overtaken changes nothing any more.
    expect(await tell(gateway.message({ order_id: topup.code, trade_id: '', amount: '20', status: 'waiting' }))).toEqual(believed)
    expect(await tell(gateway.message({ order_id: topup.code, trade_id: '', amount: '20', status: 'closed' }))).toEqual(believed)
    expect(await statusOf(topup.id)).toBe('confirmed')
    expect(Number(await fundsOf(tenant))).toBe(before + 20)
    // Another payment for what was paid is somebody's to look at, and not credited.
    expect(await tell(paid(topup.code))).toEqual(refusedMessage)
    // Nor pays one payment for two orders.
    const second = await begin()
    expect(await tell(paid(second.topup.code, '20.00', message['trade_id']))).toEqual(refusedMessage)
    expect(await statusOf(second.topup.id)).toBe('waiting')
    expect(Number(await fundsOf(tenant))).toBe(before + 20)
    await call(app, topups.cancel, { params: { id: second.topup.id }, token: tenant.token })
  })

  it('believes nobody but the gateway, about this very order', async () => {
    const before = await fundsOf(tenant)
    const { topup } = await begin()
    const right = paid(topup.code)
    const stranger = rsa()
    const wrongKeys = sign_type === 'HMAC-SHA256' ? { ...gatewaysKeys, key: 'another-secret-altogether' } : { ...gatewaysKeys, key: stranger.privateKey }
    const fields = { merchant_id, order_id: topup.code, trade_id: 'T1', amount: '20.00', status: 'paid' }
    const downgraded = { ...fields, timestamp: clock.now().toISOString(), nonce: 'n'.repeat(16) }
    const forged: readonly (readonly [string, unknown])[] = [
      ['another amount', { ...right, amount: '2000.00' }],
      ['another order', { ...right, order_id: 'PYAAAAAAAAAAAAAAAAAAAA' }],
      ['one more field', { ...right, extra: '1' }],
      ['one field less', Object.fromEntries(Object.entries(right).filter(([name]) => name !== 'nonce'))],
      ['no signature', { ...right, sign: '' }],
      ['the wrong key', signed(fields, wrongKeys, clock.now())],
      // The public key of RSA is no secret: it must not be taken for one.
      [
        'another way to sign',
        signed(
          downgraded,
          {
            sign_type: sign_type === 'HMAC-SHA256' ? 'RSA-SHA256' : 'HMAC-SHA256',
            key: sign_type === 'HMAC-SHA256' ? stranger.privateKey : theirs.publicKey,
            gateway_public_key: '',
          },
          clock.now(),
        ),
      ],
      ['another merchant', signed({ ...fields, merchant_id: 'M-other' }, gatewaysKeys, clock.now())],
      ['long ago', signed(fields, gatewaysKeys, new Date(clock.now().getTime() - 3_600_000))],
      ['in future', signed(fields, gatewaysKeys, new Date(clock.now().getTime() + 3_600_000))],
      ['too much', signed({ ...fields, amount: '20.01' }, gatewaysKeys, clock.now())],
      ['finer than a cent', signed({ ...fields, amount: '20.001' }, gatewaysKeys, clock.now())],
      ['below nothing', signed({ ...fields, amount: '-20.00' }, gatewaysKeys, clock.now())],
      ['no payment', signed({ ...fields, trade_id: '' }, gatewaysKeys, clock.now())],
      ['an order of nobody', signed({ ...fields, order_id: 'PY0' }, gatewaysKeys, clock.now())],
      ['an empty order', signed({ ...fields, order_id: '' }, gatewaysKeys, clock.now())],
      ['numbers', { ...right, amount: 20 }],
      ['nothing', null],
      ['a list', [right]],
    ]
    for (const [what, message] of forged) expect(await tell(message), what).toEqual(refusedMessage)
    expect(await tell(right, app, randomUUID())).toEqual(refusedMessage)
    expect(await statusOf(topup.id)).toBe('waiting')
    expect(await fundsOf(tenant)).toBe(before)
    expect(await tell(right)).toEqual(believed)
    expect(await statusOf(topup.id)).toBe('confirmed')
  })

  it('is credited although it came late, or after it was given up', async () => {
    const before = Number(await fundsOf(tenant))
    const [late, cancelled, closed] = [await begin(), await begin(), await begin()]
    await call(app, topups.cancel, { params: { id: cancelled.topup.id }, token: tenant.token })
    expect(await tell(gateway.message({ order_id: closed.topup.code, trade_id: '', amount: '20', status: 'closed' }))).toEqual(believed)
    expect(await call(app, topups.get, { params: { id: closed.topup.id }, token: tenant.token })).toMatchObject({
      status: 'cancelled',
      note: '支付渠道已关闭该笔支付',
    })
    await app.platform.db
      .updateTable('topups')
      .set({ expires_at: new Date(clock.now().getTime() - 1) })
      .where('id', '=', late.topup.id)
      .execute()
    expect(await statusOf(late.topup.id)).toBe('expired')
    expect(await refused(app, topups.resume, { params: { id: late.topup.id }, token: tenant.token })).toMatchObject({ code: 90010 })
    for (const { topup } of [late, cancelled, closed]) {
      expect(await tell(paid(topup.code))).toEqual(believed)
      expect(await statusOf(topup.id)).toBe('confirmed')
    }
    expect(Number(await fundsOf(tenant))).toBe(before + 60)
  })

  it('is asked about where the gateway says nothing, and its answer is judged like a message', async () => {
    const before = Number(await fundsOf(tenant))
    const { topup } = await begin()
    const service = (server: TestApp) =>
      createTopups(server.platform, {
        channels: createChannels(server.platform),
        settings: { get: () => Promise.reject(new Error('asking needs no setting')) },
      })
    const ask = async () => {
      gateway.asked.length = 0
      await app.platform.db
        .updateTable('topups')
        .set({ asked_at: null, created_at: new Date(clock.now().getTime() - 600_000) })
        .where('id', '=', topup.id)
        .execute()
      await Promise.all([service(app).askAll(), service(other).askAll()])
      return gateway.asked.filter(({ order_id }) => order_id === topup.code).length
    }
    // One server asks, and nobody has come to pay.
    expect(await ask()).toBe(1)
    expect(await statusOf(topup.id)).toBe('waiting')
    const truth = { order_id: topup.code, trade_id: `Q-${topup.code}`, amount: '20.00', status: 'paid' }
    for (const lie of [
      () => gateway.message(truth),
      (question: Message) => ({ ...gateway.message({ ...truth, nonce: question['nonce'] ?? '' }), amount: '99.00' }),
      (question: Message) => gateway.message({ ...truth, amount: '99.00', nonce: question['nonce'] ?? '' }),
      (question: Message) => gateway.message({ ...truth, order_id: 'PY1', nonce: question['nonce'] ?? '' }),
      () => 'no message at all',
    ]) {
      gateway.answer = lie
      expect(await ask()).toBe(1)
      expect(await statusOf(topup.id)).toBe('waiting')
    }
    gateway.answer = null
    gateway.orders.set(topup.code, truth)
    await ask()
    expect(await statusOf(topup.id)).toBe('confirmed')
    expect(await tell(gateway.message(truth))).toEqual(believed)
    expect(Number(await fundsOf(tenant))).toBe(before + 20)
  })
})

describe('payment channels', () => {
  const body = () => ({
    name: `渠道-${randomUUID()}`,
    enabled: true,
    gateway: 'https://pay.example.com/v1',
    merchant_id: 'm',
    sign_type: 'HMAC-SHA256' as SignType,
    key: 'k'.repeat(32),
  })

  it('are kept by administrators, and tell their keys to nobody', async () => {
    const made = await call(app, paymentChannels.create, { body: body(), token: admin.token })
    expect(JSON.stringify([made, await call(app, paymentChannels.list, { token: admin.token })])).not.toContain('kkkk')
    const row = await app.platform.db.selectFrom('payment_channels').select('key').where('id', '=', made.id).executeTakeFirstOrThrow()
    expect(row.key).not.toContain('kkkk')
    expect(await refused(app, paymentChannels.create, { body: { ...body(), name: made.name }, token: admin.token })).toMatchObject({
      code: 96032,
      fields: [{ field: 'name' }],
    })
    const tenant = await someone(app)
    expect((await call(app, topups.ways, { token: tenant.token })).channels).toContainEqual({ id: made.id, name: made.name })
    for (const declared of [paymentChannels.list, paymentChannels.delete])
      expect(await refused(app, declared, { params: { id: made.id }, token: tenant.token })).toMatchObject({ status: 403 })
    const { key: _, ...rest } = { ...body(), enabled: false }
    await call(app, paymentChannels.update, { params: { id: made.id }, body: rest, token: admin.token })
    expect(await refused(app, topups.pay, { body: { amount: '1', channel_id: made.id }, token: tenant.token })).toMatchObject({ code: 96034 })
    await call(app, paymentChannels.delete, { params: { id: made.id }, token: admin.token })
    expect(await refused(app, paymentChannels.delete, { params: { id: made.id }, token: admin.token })).toMatchObject({ status: 404 })
  })

  it('need keys that can sign, and an address that is safe', async () => {
    const short = generateKeyPairSync('rsa', {
      modulusLength: 1024,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const good = rsa()
    const create = (change: object) => refused(app, paymentChannels.create, { body: { ...body(), ...change }, token: admin.token })
    expect(await create({ sign_type: 'RSA-SHA256' })).toMatchObject({ code: 96035, fields: [{ field: 'key' }] })
    expect(await create({ sign_type: 'RSA-SHA256', key: short.privateKey, gateway_public_key: good.publicKey })).toMatchObject({
      code: 96035,
      fields: [{ field: 'key' }],
    })
    expect(await create({ sign_type: 'RSA-SHA256', key: good.privateKey, gateway_public_key: 'none' })).toMatchObject({
      code: 96035,
      fields: [{ field: 'gateway_public_key' }],
    })
    expect(await create({ gateway: 'http://pay.example.com' })).toMatchObject({ code: 96038, fields: [{ field: 'gateway' }] })
    expect((await create({ gateway: 'ftp://pay.example.com' })).fields).toMatchObject([{ field: 'gateway' }])
    const made = await call(app, paymentChannels.create, { body: body(), token: admin.token })
    const { key: _, ...rest } = body()
    expect(
      await refused(app, paymentChannels.update, {
        params: { id: made.id },
        body: { ...rest, sign_type: 'RSA-SHA256', gateway_public_key: good.publicKey },
        token: admin.token,
      }),
    ).toMatchObject({ code: 96035, fields: [{ field: 'key' }] })
    await call(app, paymentChannels.delete, { params: { id: made.id }, token: admin.token })
  })

  it('stay once somebody used them', async () => {
    const tenant = await someone(app)
    const made = await call(app, paymentChannels.create, { body: body(), token: admin.token })
    const { topup } = await call(app, topups.pay, { body: { amount: '1', channel_id: made.id }, token: tenant.token })
    await call(app, topups.cancel, { params: { id: topup.id }, token: tenant.token })
    expect(await refused(app, paymentChannels.delete, { params: { id: made.id }, token: admin.token })).toMatchObject({ status: 409, code: 96033 })
  })
})

describe('the canonical text of a message', () => {
  it('is the same in any order, and another for any other message', () => {
    expect(canonical({ b: '2', a: '1', sign: 'x' })).toBe('a=1&b=2')
    expect(canonical({ a: '1&b=2' })).toBe('a=1%26b%3D2')
    expect(canonical({ subject: '云 (!)' })).toBe('subject=%E4%BA%91%20%28%21%29')
  })
})
