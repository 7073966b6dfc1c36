import { configs, environmentKeys, system } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'

let app: TestApp
/** A second server of the same platform. */
let other: TestApp
let token: string
beforeAll(async () => {
  app = await testApp()
  other = await testApp({ DATABASE_URL: app.databaseUrl })
  token = (await someone(app, { kind: 1 })).token
})
afterAll(async () => {
  await other.close()
  await app.close()
})

const set = (key: string, value: string) => call(app, configs.set, { token, body: { key, value } })
const reset = (key: string) => call(app, configs.reset, { token, query: { key } })
const list = async (key?: string) => (await call(app, configs.list, { token, query: key === undefined ? {} : { key } })).items

describe('settings', () => {
  it('have defaults until somebody sets them', async () => {
    expect(await list()).toEqual([
      { key: 'register_mode', value: 'open', known: true, default_value: 'open', updated_at: null, updated_by: null },
      { key: 'title', value: '智算云', known: true, default_value: '智算云', updated_at: null, updated_by: null },
      ...['support_phone', 'remittance_receiver', 'remittance_bank', 'remittance_account', 'invoice_tax_number'].map((key) => ({
        key,
        value: '',
        known: true,
        default_value: '',
        updated_at: null,
        updated_by: null,
      })),
      { key: 'invoice_tax_rate', value: '6', known: true, default_value: '6', updated_at: null, updated_by: null },
      { key: 'model_hubs', value: 'https://huggingface.co', known: true, default_value: 'https://huggingface.co', updated_at: null, updated_by: null },
      { key: 'market_floor_price', value: '0', known: true, default_value: '0', updated_at: null, updated_by: null },
      { key: 'market_prepaid', value: '0', known: true, default_value: '0', updated_at: null, updated_by: null },
      { key: 'market_hours_ahead', value: '1', known: true, default_value: '1', updated_at: null, updated_by: null },
      { key: 'split_bank_hours', value: '24', known: true, default_value: '24', updated_at: null, updated_by: null },
      { key: 'split_payout_least', value: '1', known: true, default_value: '1', updated_at: null, updated_by: null },
      { key: 'split_payout_most', value: '1000000', known: true, default_value: '1000000', updated_at: null, updated_by: null },
      { key: 'split_payout_approved_above', value: '10000', known: true, default_value: '10000', updated_at: null, updated_by: null },
      { key: 'message_days', value: '180', known: true, default_value: '180', updated_at: null, updated_by: null },
      { key: 'api_log_days', value: '30', known: true, default_value: '30', updated_at: null, updated_by: null },
      { key: 'alert_log_days', value: '180', known: true, default_value: '180', updated_at: null, updated_by: null },
    ])
    expect(await call(app, system.info, {})).toEqual({
      title: '智算云',
      support_phone: '',
      version: app.config.version,
      register_mode: 'open',
      sms_available: true,
      email_available: true,
      development: true,
    })
  })

  it('name whom to call', async () => {
    await set('support_phone', ' 400 800 1234 ')
    expect((await call(app, system.info, {})).support_phone).toBe('400 800 1234')
    await reset('support_phone')
  })

  it('count on every server as soon as they are set, and no more when they are reset', async () => {
    const titleOn = async (server: TestApp) => (await call(server, system.info, {})).title
    expect(await titleOn(other)).toBe('智算云')
    expect(await set('title', ' 我的云 ')).toMatchObject({ key: 'title', value: '我的云', known: true, default_value: '智算云' })
    expect(await titleOn(app)).toBe('我的云')
    await vi.waitFor(async () => expect(await titleOn(other)).toBe('我的云'), 2000)
    await reset('title')
    expect(await titleOn(app)).toBe('智算云')
    await vi.waitFor(async () => expect(await titleOn(other)).toBe('智算云'), 2000)
  })

  it('that the platform reads take only what it understands', async () => {
    for (const [key, value] of [
      ['register_mode', 'OPEN'],
      ['register_mode', ''],
      ['title', '  '],
      ['title', 'x'.repeat(65)],
      ['title', '两行\n标题'],
      ['market_floor_price', '-1'],
      ['market_prepaid', '2'],
      ['market_hours_ahead', '一'],
      ['market_floor_price', '一元'],
      ['message_days', '0'],
      ['message_days', '半年'],
    ] as const) {
      expect(await refused(app, configs.set, { token, body: { key, value } }), `${key}=${value}`).toMatchObject({
        status: 400,
        code: 92006,
        fields: [{ field: 'value' }],
      })
    }
    expect((await list('register_mode'))[0]?.updated_at).toBeNull()
  })

  it('of the console’s own take any text, and are gone when they are reset', async () => {
    const made = await set('console.banner', '今晚 23:00 维护')
    expect(made).toEqual({
      key: 'console.banner',
      value: '今晚 23:00 维护',
      known: false,
      default_value: null,
      updated_at: expect.any(String),
      updated_by: expect.any(String),
    })
    expect(await list('console.banner')).toEqual([made])
    expect((await set('console.banner', '')).value).toBe('')
    await reset('console.banner')
    await reset('console.banner')
    expect(await list('console.banner')).toEqual([])
  })

  it('have keys of lower-case letters, digits, dots and underscores', async () => {
    for (const key of ['Title', '1st', 'a b', '', 'x'.repeat(65), '__proto__']) {
      expect(await refused(app, configs.set, { token, body: { key, value: 'x' } }), key).toMatchObject({ status: 400, code: 90001, fields: [{ field: 'key' }] })
    }
    // Names that every object has are keys like others.
    expect(await set('constructor', 'x')).toMatchObject({ known: false, default_value: null })
    await reset('constructor')
    expect((await refused(app, configs.set, { token, body: { key: 'title', value: 'x'.repeat(8193) } })).fields?.[0]?.field).toBe('value')
  })

  it('are set by several at once without failing', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => send(n % 2 === 0 ? app : other, configs.set, { token, body: { key: 'console.race', value: String(n) } })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect((await list('console.race')).length).toBe(1)
  })

  it('keep who set them to what', async () => {
    const another = await someone(app, { kind: 1 })
    const changes = async (query: Record<string, unknown> = {}) => call(app, configs.changes, { token, query: { key: 'console.history', ...query } })
    expect(await changes()).toEqual({ total: 0, items: [] })
    await set('console.history', '一')
    const second = await call(app, configs.set, { token: another.token, body: { key: 'console.history', value: '二' } })
    expect(second.updated_by).toBe(another.name)
    await reset('console.history')
    // What is not set is not set back.
    await reset('console.history')
    const { total, items } = await changes()
    expect(total).toBe(3)
    expect(items.map(({ value }) => value)).toEqual([null, '二', '一'])
    expect(items[1]).toEqual({ id: expect.any(String), key: 'console.history', value: '二', actor_name: another.name, created_at: second.updated_at })
    expect((await changes({ page_size: 1, page_num: 3 })).items.map(({ value }) => value)).toEqual(['一'])
    expect((await call(app, configs.changes, { token })).total).toBeGreaterThan(3)
    // A refused one is none.
    await refused(app, configs.set, { token, body: { key: 'register_mode', value: 'never' } })
    expect((await changes({ key: 'register_mode' })).total).toBe(0)
  })

  it('of the environment are told without their secrets', async () => {
    const secret = 'bf0aa4b1c7d6'
    const server = await testApp({
      DATABASE_URL: app.databaseUrl,
      SMTP_URL: `smtp://me:${secret}@mail.example.com`,
      SMTP_FROM: 'me@example.com',
      SMS_GATEWAY_URL: `https://sms.example.com/?key=${secret}`,
      SMS_GATEWAY_TOKEN: secret,
      IMAGE_FETCH_ALLOW: '10.0.0.0/8,192.168.1.1',
    })
    const { total, items } = await call(server, configs.environment, { token })
    await server.close()
    expect(JSON.stringify(items)).not.toContain(secret)
    expect(items.map(({ key }) => key).sort()).toEqual([...environmentKeys].sort())
    expect(total).toBe(items.length)
    const of = (key: string) => items.find((one) => one.key === key)
    expect(of('SMTP_URL')).toEqual({ key: 'SMTP_URL', value: null, secret: true, given: true })
    expect(of('SMTP_FROM')).toEqual({ key: 'SMTP_FROM', value: 'me@example.com', secret: false, given: true })
    expect(of('PUBLIC_URL')).toEqual({ key: 'PUBLIC_URL', value: null, secret: false, given: false })
    expect(of('IMAGE_FETCH_ALLOW')?.value).toBe('10.0.0.0/8, 192.168.1.1')
    expect(items.filter((one) => one.secret).every(({ value }) => value === null)).toBe(true)
  })

  it('are for administrators', async () => {
    const tenant = await someone(app)
    for (const declared of [configs.list, configs.set, configs.reset, configs.changes, configs.environment]) {
      expect(await refused(app, declared, { token: tenant.token }), declared.id).toMatchObject({ status: 403, code: 3000 })
    }
  })

  it('close registration by default where nobody can be sent a code', async () => {
    const production = await testApp({ ZHISUAN_ENV: 'production' })
    expect(await call(production, system.info, {})).toMatchObject({ register_mode: 'closed', sms_available: false, development: false })
    await production.close()
  })
})
