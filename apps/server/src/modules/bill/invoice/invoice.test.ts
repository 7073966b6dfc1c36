import { accounts } from '@zhisuan/contract/bill/account'
import { invoices, invoiceTitles, type InvoiceTitleInput } from '@zhisuan/contract/bill/invoice'
import { billingZone } from '@zhisuan/contract/bill/meter'
import { toMinor } from '@zhisuan/contract/bill/money'
import { configs } from '@zhisuan/contract/sys/sys'
import fc from 'fast-check'
import { DateTime } from 'luxon'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { textsOfPdf } from '../../../testing/pdf.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { printInvoice, taxOf, type PrintedInvoice } from './invoice.pdf.ts'

let app: TestApp
let admin: Person & SignedIn
const seller = [
  ['remittance_receiver', '智算云有限公司'],
  ['invoice_tax_number', '91440300708461136T'],
] as const
beforeAll(async () => {
  app = await testApp({ DATABASE_POOL_SIZE: '20' })
  admin = await someone(app, { kind: 1 })
  for (const [key, value] of seller) await call(app, configs.set, { body: { key, value }, token: admin.token })
})
afterAll(() => app.close())

const today = () => DateTime.now().setZone(billingZone)
const day = (at: DateTime) => at.toFormat('yyyy-MM-dd')
/** Around now, so that a test that runs at midnight is right too. */
const span = () => ({ from: day(today().minus({ days: 1 })), to: day(today().plus({ days: 1 })) })
const company: InvoiceTitleInput = {
  kind: 'company',
  name: '深圳某某科技有限公司',
  tax_number: '914403001922038216',
  address: '深圳市南山区',
  phone: '0755-12345678',
  bank: '招商银行',
  bank_account: '7559 0000',
}

type Owner = Person & SignedIn & { bp_id: string; title_id: string }
const owner = async (): Promise<Owner> => {
  const who = await someone(app)
  const { id } = await call(app, invoiceTitles.create, { body: company, token: who.token })
  return { ...who, bp_id: who.bp_id ?? '', title_id: id }
}
const move = (what: 'topUp' | 'chargeUsage' | 'refund' | 'adjust', { bp_id }: Owner, amount: string) =>
  app.platform.db.transaction().execute((tx) => ledger[what](tx, { owner_id: bp_id, amount: toMinor(amount), key: uuidv7() }))
const ask = (who: Owner, of = span()) => ({ body: { ...of, title_id: who.title_id, note: '十一月' }, token: who.token })
const available = (who: Owner, of = span()) => call(app, invoices.available, { query: of, token: who.token })

describe('invoice titles', () => {
  it('are an organisation’s own, with tax numbers that can be', async () => {
    const [one, other] = [await owner(), await owner()]
    expect(await refused(app, invoiceTitles.create, { body: { ...company, tax_number: '914403001922038217' }, token: one.token })).toMatchObject({
      fields: [{ field: 'tax_number' }],
    })
    expect(await refused(app, invoiceTitles.create, { body: { ...company, tax_number: '' }, token: one.token })).toMatchObject({
      fields: [{ field: 'tax_number' }],
    })
    const person = await call(app, invoiceTitles.create, { body: { kind: 'personal', name: '王㑇' }, token: one.token })
    expect(await call(app, invoiceTitles.update, { params: { id: person.id }, body: { kind: 'personal', name: '王堃' }, token: one.token })).toMatchObject({
      id: person.id,
      name: '王堃',
    })
    expect((await call(app, invoiceTitles.list, { token: one.token })).total).toBe(2)
    for (const declared of [invoiceTitles.update, invoiceTitles.delete])
      expect(await refused(app, declared, { params: { id: person.id }, body: company, token: other.token })).toMatchObject({ status: 404 })
    expect(await refused(app, invoices.create, { ...ask(other), body: { ...span(), title_id: person.id } })).toMatchObject({
      status: 404,
      fields: [{ field: 'title_id' }],
    })
    await call(app, invoiceTitles.delete, { params: { id: person.id }, token: one.token })
    expect((await call(app, invoiceTitles.list, { token: one.token })).total).toBe(1)
  })
})

describe('an invoice', () => {
  it('is about what was consumed and paid, floored to cents, once', async () => {
    const who = await owner()
    expect(await refused(app, invoices.create, ask(who))).toMatchObject({ code: 96036 })
    await move('topUp', who, '100')
    await move('chargeUsage', who, '30.01999999')
    await move('refund', who, '0.01')
    expect(await available(who)).toEqual({ uninvoiced: '30.00', lines: [{ late: false, ...span(), amount: '30.00' }], paid: '30.00' })
    const made = await call(app, invoices.create, ask(who))
    expect(made).toMatchObject({
      status: 'asked',
      amount: '30.00',
      owner: { id: who.bp_id },
      title: { name: company.name, tax_number: company.tax_number },
      created_by: who.name,
      note: '十一月',
    })
    expect(await refused(app, invoices.create, ask(who))).toMatchObject({ code: 96036 })
    await move('chargeUsage', who, '5')
    expect(await call(app, invoices.create, ask(who))).toMatchObject({ amount: '5.00' })
    // Titles may change; what was asked for does not.
    await call(app, invoiceTitles.delete, { params: { id: who.title_id }, token: who.token })
    expect((await call(app, invoices.get, { params: { id: made.id }, token: who.token })).title.name).toBe(company.name)
  })

  it('is about the hours in which something was used: February’s last hour is in February’s, whenever it was charged', async () => {
    const who = await owner()
    await move('topUp', who, '200')
    const used = (amount: string, used_on: string) =>
      app.platform.db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: who.bp_id, amount: toMinor(amount), key: uuidv7(), used_on }))
    const [february, march] = [
      { from: '2026-02-01', to: '2026-02-28' },
      { from: '2026-03-01', to: '2026-03-31' },
    ]
    await used('20.005', '2026-02-10')
    await used('0.31', '2026-02-28')
    await used('7.5', '2026-03-01')
    const first = await call(app, invoices.create, ask(who, february))
    expect(first).toMatchObject({ amount: '20.31', lines: [{ late: false, ...february, amount: '20.31' }] })
    // What was told of it late, and what of it was too much, stand in the next by name.
    await used('1.25', '2026-02-27')
    await used('-0.1', '2026-02-11')
    await used('3', '2026-01-31')
    expect((await available(who, march)).uninvoiced).toBe('8.65')
    const second = await call(app, invoices.create, ask(who, march))
    expect(second).toMatchObject({
      amount: '8.65',
      lines: [
        { late: false, ...march, amount: '7.50' },
        { late: true, from: '2026-02-11', to: '2026-02-27', amount: '1.15' },
      ],
    })
    // Of January no invoice speaks yet.
    expect(await available(who, { from: '2026-01-01', to: '2026-01-31' })).toMatchObject({ uninvoiced: '3.00', lines: [{ late: false }] })
    const number = `88${Date.now()}`
    await call(app, invoices.issue, { params: { id: second.id }, body: { number }, token: admin.token })
    const { path } = await call(app, invoices.download, { params: { id: second.id }, token: who.token })
    const texts = textsOfPdf((await app.http.inject({ url: path })).rawPayload)
    expect(texts).toEqual(expect.arrayContaining(['2026-03-01 ~ 2026-03-31', '2026-02-11 ~ 2026-02-27', '¥1.08', '¥0.07', '¥7.08', '¥0.42', '¥8.16', '¥0.49']))
    expect(texts.join('')).toContain('补计已开票期间')
    // Taken back, it is late no more: nobody has an invoice of those days.
    await call(app, invoices.void, { params: { id: second.id }, body: { reason: '重开' }, token: admin.token })
    await call(app, invoices.withdraw, { params: { id: first.id }, token: who.token })
    expect(await available(who, { from: '2026-02-01', to: '2026-03-31' })).toMatchObject({ uninvoiced: '28.96', lines: [{ late: false }] })
    // What came to less than was invoiced is taken from what comes next, and is none by itself.
    await call(app, invoices.create, ask(who, { from: '2026-02-01', to: '2026-03-31' }))
    await used('-5', '2026-03-02')
    await used('2', '2026-04-01')
    const april = { from: '2026-04-01', to: '2026-04-30' }
    expect(await refused(app, invoices.create, ask(who, april))).toMatchObject({ code: 96036 })
    await used('4', '2026-04-02')
    expect(await call(app, invoices.create, ask(who, april))).toMatchObject({
      amount: '1.00',
      lines: [
        { late: false, amount: '6.00' },
        { late: true, amount: '-5.00' },
      ],
    })
  })

  it('is of no other day than it says', async () => {
    const who = await owner()
    await move('topUp', who, '100')
    await move('chargeUsage', who, '30')
    const last = { from: day(today().minus({ days: 9 })), to: day(today().minus({ days: 2 })) }
    expect((await available(who, last)).uninvoiced).toBe('0.00')
    expect(await refused(app, invoices.create, ask(who, last))).toMatchObject({ code: 96036, fields: [{ field: 'from' }] })
    expect(await refused(app, invoices.create, ask(who, { from: last.to, to: last.from }))).toMatchObject({ fields: [{ field: 'to' }] })
    const never = { from: '0000-01-01', to: last.to }
    expect(await refused(app, invoices.available, { query: never, token: who.token })).toMatchObject({ fields: [{ field: 'from' }] })
    expect(await refused(app, invoices.create, ask(who, never))).toMatchObject({ fields: [{ field: 'from' }] })
  })

  it('is never about what is owed, nor about what was given', async () => {
    const who = await owner()
    await move('topUp', who, '10')
    await move('chargeUsage', who, '25')
    expect(await available(who)).toMatchObject({ uninvoiced: '25.00', paid: '10.00' })
    expect(await refused(app, invoices.create, ask(who))).toMatchObject({ code: 96037, fields: [{ field: 'from' }] })
    await move('adjust', who, '15')
    expect(await available(who)).toMatchObject({ uninvoiced: '25.00', paid: '10.00' })
    await move('topUp', who, '15')
    expect(await call(app, invoices.create, ask(who))).toMatchObject({ amount: '25.00' })
  })

  it('is one, of however many that are asked for at once', async () => {
    const who = await owner()
    await move('topUp', who, '40')
    await move('chargeUsage', who, '40')
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () =>
        call(app, invoices.create, ask(who)).then(
          ({ amount }) => amount,
          () => null,
        ),
      ),
    )
    expect(outcomes.filter((amount) => amount !== null)).toEqual(['40.00'])
  })

  it('goes from asked to issued and voided, and gives back what it was about', async () => {
    const who = await owner()
    await move('topUp', who, '40')
    await move('chargeUsage', who, '40')
    const again = async () => (await call(app, invoices.create, ask(who))).id
    const first = { params: { id: await again() }, token: who.token }
    expect(await refused(app, invoices.download, first)).toMatchObject({ code: 90010 })
    expect((await call(app, invoices.withdraw, first)).status).toBe('withdrawn')
    expect(await refused(app, invoices.withdraw, first)).toMatchObject({ code: 90010 })
    const second = { params: { id: await again() }, token: admin.token }
    expect(await refused(app, invoices.reject, { ...second, body: { reason: ' ' } })).toMatchObject({ fields: [{ field: 'reason' }] })
    expect(await call(app, invoices.reject, { ...second, body: { reason: '税号有误' } })).toMatchObject({
      status: 'rejected',
      reason: '税号有误',
      handled_by: admin.name,
    })
    const third = { params: { id: await again() }, token: admin.token }
    const number = String(Date.now()).padStart(20, '2')
    expect(await refused(app, invoices.issue, { ...third, body: { number: '123' } })).toMatchObject({ fields: [{ field: 'number' }] })
    const ends = await Promise.all([
      ...Array.from({ length: 3 }, () =>
        call(app, invoices.issue, { ...third, body: { number } }).then(
          () => 'issued',
          () => null,
        ),
      ),
      call(app, invoices.withdraw, { ...third, token: who.token }).then(
        () => 'withdrawn',
        () => null,
      ),
    ])
    const [end] = ends.filter((one) => one !== null)
    expect(ends.filter((one) => one !== null)).toHaveLength(1)
    // Whichever of the two came first, the other found it done.
    const issued = end === 'issued' ? third : { params: { id: await again() }, token: admin.token }
    if (end !== 'issued') await call(app, invoices.issue, { ...issued, body: { number } })
    expect(await refused(app, invoices.create, ask(who))).toMatchObject({ code: 96036 })
    expect(await call(app, invoices.void, { ...issued, body: { reason: '开错' } })).toMatchObject({ status: 'voided', number, reason: '开错' })
    const last = { params: { id: await again() }, token: admin.token }
    expect(await refused(app, invoices.issue, { ...last, body: { number } })).toMatchObject({ fields: [{ field: 'number' }] })
  })

  it('is not issued while nobody is named who sells', async () => {
    const who = await owner()
    await move('topUp', who, '40')
    await move('chargeUsage', who, '40')
    const issue = { params: { id: (await call(app, invoices.create, ask(who))).id }, body: { number: `66${Date.now()}` }, token: admin.token }
    for (const [key, value] of seller) {
      await call(app, configs.set, { body: { key, value: '' }, token: admin.token })
      expect(await refused(app, invoices.issue, issue), key).toMatchObject({ status: 409, code: 96042 })
      await call(app, configs.set, { body: { key, value }, token: admin.token })
    }
    expect((await call(app, invoices.get, { params: issue.params, token: issue.token })).status).toBe('asked')
    expect((await call(app, invoices.issue, issue)).status).toBe('issued')
  })

  it('is nobody else’s to see, and no tenant’s to issue', async () => {
    const [who, stranger] = [await owner(), await owner()]
    await move('topUp', who, '40')
    await move('chargeUsage', who, '40')
    const { id } = await call(app, invoices.create, ask(who))
    for (const declared of [invoices.get, invoices.withdraw, invoices.download])
      expect(await refused(app, declared, { params: { id }, token: stranger.token }), declared.id).toMatchObject({ status: 404 })
    expect((await call(app, invoices.list, { token: stranger.token })).total).toBe(0)
    for (const [declared, body] of [
      [invoices.issue, { number: '12345678' }],
      [invoices.reject, { reason: 'x' }],
      [invoices.void, { reason: 'x' }],
    ] as const)
      expect(await refused(app, declared, { params: { id }, body, token: who.token }), declared.id).toMatchObject({ status: 403 })
    expect((await call(app, invoices.list, { query: { owner_id: who.bp_id, status: 'asked', keyword: '深圳' }, token: admin.token })).items).toMatchObject([
      { id },
    ])
  })

  it('comes as a PDF, by a link', async () => {
    const who = await owner()
    await call(app, accounts.charge, { params: { id: who.bp_id }, body: { amount: '1234.56' }, token: admin.token })
    await move('chargeUsage', who, '1234.56')
    const { id } = await call(app, invoices.create, ask(who))
    const number = `77${Date.now()}`
    await call(app, invoices.issue, { params: { id }, body: { number }, token: admin.token })
    const { path } = await call(app, invoices.download, { params: { id }, token: who.token })
    const [answer, again] = [await app.http.inject({ url: path }), await app.http.inject({ url: path, headers: { range: 'bytes=0-4' } })]
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-disposition']).toContain(encodeURIComponent(`发票-${number}.pdf`))
    expect(answer.rawPayload.subarray(0, 5).toString()).toBe('%PDF-')
    expect(answer.rawPayload.subarray(-6).toString().trim()).toBe('%%EOF')
    const texts = textsOfPdf(answer.rawPayload)
    // 1234.56 with 6 per cent in it.
    expect(texts).toEqual(
      expect.arrayContaining([
        `发票号码：${number}`,
        `名称：${company.name}`,
        `纳税人识别号：${company.tax_number}`,
        '名称：智算云有限公司',
        '纳税人识别号：91440300708461136T',
        '¥1164.68',
        '6%',
        '¥69.88',
        '价税合计（大写）：壹仟贰佰叁拾肆元伍角陆分',
        '（小写）¥1234.56',
        '备注：十一月',
      ]),
    )
    expect(texts).not.toContain('已作废')
    // The font's characters that are needed, not its ten megabytes.
    expect(answer.rawPayload.length).toBeLessThan(200_000)
    expect(again.rawPayload.toString()).toBe('%PDF-')
  })
})

describe('printing', () => {
  const invoice: PrintedInvoice = {
    lines: [{ late: false, from: '2026-11-01', to: '2026-11-30', amount: String(toMinor('106.00')) }],
    title: { ...company, kind: 'company', tax_number: '914403001922038216', address: '', phone: '', bank: '', bank_account: '', email: '' },
    number: '26440000000000000001',
    note: '',
    status: 'issued',
    amount: toMinor('106.00'),
    issued_on: '2026-12-01',
    seller: { name: '智算云有限公司', tax_number: '91440300708461136T', bank: '', bank_account: '', tax_rate: 6 },
  }
  it('says who, what, when and how much, and marks a voided one', async () => {
    const texts = textsOfPdf(await printInvoice(invoice))
    expect(texts).toEqual(expect.arrayContaining(['发票号码：26440000000000000001', '开票日期：2026-12-01', '2026-11-01 ~ 2026-11-30', '备注：—']))
    expect(texts.slice(texts.indexOf('税额') + 1)).toEqual([
      '*信息技术服务*云计算服务',
      '2026-11-01 ~ 2026-11-30',
      '¥100.00',
      '6%',
      '¥6.00',
      '合计',
      '¥100.00',
      '¥6.00',
      '价税合计（大写）：壹佰零陆元整',
      '（小写）¥106.00',
      '备注：—',
    ])
    // The buyer before the seller.
    expect(texts.filter((text) => text.startsWith('名称：'))).toEqual([`名称：${company.name}`, '名称：智算云有限公司'])
    expect(textsOfPdf(await printInvoice({ ...invoice, status: 'voided' }))).toEqual([...texts, '已作废'])
    const long = await printInvoice({ ...invoice, note: '很长的备注'.repeat(50), title: { ...invoice.title, name: '名'.repeat(100) } })
    expect(long.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(1)
  })
})

describe('the tax in an amount', () => {
  const cents = (text: string) => toMinor(text)
  it('is what the rate says, rounded half up to cents', () => {
    expect(taxOf(cents('106.00'), 6)).toBe(cents('6.00'))
    expect(taxOf(cents('100.00'), 0)).toBe(0n)
    expect(taxOf(cents('0.01'), 6)).toBe(0n)
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 14n), fc.integer({ min: 0, max: 99 }), (amount, rate) => {
        const tax = taxOf(amount * 1_000_000n, rate)
        // |tax − amount × rate ÷ (100 + rate)| is half a cent at most, in whole numbers.
        const twice = 2n * ((tax / 1_000_000n) * BigInt(100 + rate) - amount * BigInt(rate))
        expect(tax % 1_000_000n).toBe(0n)
        expect(twice <= BigInt(100 + rate) && twice > -BigInt(100 + rate)).toBe(true)
      }),
    )
  })
})
