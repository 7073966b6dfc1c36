import type { Browser } from '@playwright/test'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { splitBankDetails } from '@zhisuan/contract/split/bank'
import { splitContracts } from '@zhisuan/contract/split/contract'
import { splitChannel, splitPayouts } from '@zhisuan/contract/split/payout'
import { splitProviders } from '@zhisuan/contract/split/provider'
import type pg from 'pg'
import { startBank } from '../../apps/server/src/testing/payout-bank.ts'
import { administratorPassword, Client } from '../support/server.ts'
import { button, dialog, pick, rowOf, shot } from './console.ts'
import { field } from './forms.ts'
import { newName, someAddress, staff } from './people.ts'
import { expect, signIn, stage } from './test.ts'

/** The month before this one, of Beijing. */
export function lastMonth(): string {
  const now = new Date(Date.now() + 8 * 3_600_000)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
}

/** As if a machine had been had for two hours of last month. */
export async function wasUsedLastMonth(database: pg.Client, rental: string): Promise<void> {
  for (const [hour, used] of [
    [10, true],
    [12, false],
  ] as const)
    await database.query(
      `insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage, attributes)
       select gen_random_uuid(), resource_type, resource_id, resource_name, bp_id, project_id, $2, case when $3 then usage else '{}' end, attributes
       from usage_events where resource_id = $1 and usage::text like '%market.card%' order by at desc, revision desc limit 1`,
      [rental, `${lastMonth()}-10T${hour}:00:00+08:00`, used],
    )
}

/** Millionths that make long decimals of whole yuan. */
const parts = [333_333, 666_667] as const
const account = '6222 0000 1111 2222'

/**
 * From the hours of a machine of last month to its owner's bank: the month is split, stated, confirmed and paid, and each page
 * says the same to the last digit. Contract, bank details and channel have pages of their own, which are tried elsewhere.
 */
export async function isPaidOut({
  browser,
  database,
  provider,
  rental,
}: {
  readonly browser: Browser
  readonly database: pg.Client
  readonly provider: string
  readonly rental: string
}): Promise<void> {
  const { url } = stage()
  const [month, contract] = [lastMonth(), newName('合同')]
  const clientOf = async (username: string, password: string): Promise<Client> => {
    const client = new Client(url, someAddress())
    await client.signIn(username, password)
    return client
  }
  const administrator = await clientOf('admin', administratorPassword)
  const [keeper, owner] = [await staff(administrator, url, 'OPERATION_SUPPORTER'), await staff(administrator, url, 'PROVIDER')]
  const settling = await clientOf(keeper.username, keeper.password)
  const { items } = await settling.call(splitProviders.list)
  const id = items.find(({ name }) => name === provider)?.id ?? ''
  await settling.call(splitProviders.bind, { params: { id }, body: { user_id: owner.id } })
  const { id: contractId } = await settling.call(splitContracts.create, {
    body: {
      name: contract,
      provider_id: id,
      from: month,
      terms: {
        parties: [
          { kind: 'platform', name: '平台' },
          { kind: 'provider', name: provider },
        ],
        steps: [{ above: '0', parts }],
      },
    },
  })
  await settling.call(splitContracts.sign, { params: { id: contractId } })
  const detail = await settling.call(splitBankDetails.create, { params: { id }, body: { holder: '算力有限公司', bank: '工商银行', account } })
  await administrator.call(splitBankDetails.approve, { params: { id: detail.id }, body: {} })
  const keys = { sign_type: 'HMAC-SHA256', key: 'a-secret-of-both-sides', gateway_public_key: '' } as const
  const bank = await startBank(keys, 'm-1', () => new Date())
  const [keeping, owning] = [await browser.newContext(), await browser.newContext()]
  try {
    const { waiting } = await administrator.call(splitChannel.set, { body: { enabled: true, gateway: bank.url, merchant_id: 'm-1', ...keys } })
    await settling.call(splitChannel.approve, { params: { id: waiting?.id ?? '' }, body: {} })
    // What its user was charged for that month.
    const { rows } = await database.query<{ amount: string; hours: string }>(
      `select sum(amount)::text as amount, count(*) filter (where meter = 'market.card')::text as hours from usage_lines
       where resource_id = $1 and voided_at is null and to_char("from" at time zone 'Asia/Shanghai', 'YYYY-MM') = $2`,
      [rental, month],
    )
    expect(rows[0]?.hours).toBe('2')
    const base = BigInt(rows[0]?.amount ?? '0')
    const theirs = (base * BigInt(parts[1])) / 1_000_000n
    const paid = theirs - (theirs % 1_000_000n)
    const [shownBase, shownTheirs, shownPaid, shownLeft] = [base, theirs, paid, theirs - paid].map((amount) => `¥${toDecimal(amount)}`)

    await signIn(keeping, keeper)
    const page = await keeping.newPage()
    await page.goto('/separateAccountingSystem/record')
    await button(page, '按月分账').first().click()
    await pick(dialog(page), '合同', contract)
    await field(dialog(page), '月份').fill(month)
    await button(dialog(page), '按月分账').click()
    for (const shown of [shownBase, shownTheirs]) await expect(rowOf(page, contract).getByText(shown ?? '', { exact: true })).toBeVisible()
    await shot(page, 'paid-runs')

    await signIn(owning, owner)
    const mine = await owning.newPage()
    await mine.goto('/separateAccountingSystem/providers_record')
    await rowOf(mine, month).getByRole('button', { name: '查看明细' }).click()
    for (const shown of [shownBase, shownTheirs])
      await expect(
        dialog(mine)
          .locator('dd', { hasText: shown ?? '' })
          .first(),
      ).toHaveText(shown ?? '')
    const lines = dialog(mine).locator('tbody tr:not([aria-hidden])')
    await expect(lines.filter({ hasText: 'NVIDIA H100 80GB HBM3' }).filter({ hasText: '¥6.66667' })).toHaveCount(2)
    await shot(mine, 'paid-statement')
    await mine.keyboard.press('Escape')
    await rowOf(mine, month).getByRole('button', { name: '确认账单' }).click()
    await button(dialog(mine), '确认账单').click()
    await expect(rowOf(mine, month)).toContainText('已确认')

    await page.goto(`/separateAccountingSystem/provider/${id}?tab=payouts`)
    await expect(page.getByText(shownTheirs ?? '', { exact: true }).first()).toBeVisible()
    await button(page, '付款').first().click()
    await expect(field(dialog(page), '付款金额')).toHaveValue(toDecimal(paid))
    await button(dialog(page), '付款').click()
    await expect(rowOf(page.locator('.ant-table'), shownPaid ?? '')).toContainText('已付款')

    // At the bank, in the ledger, and on the owner's own page.
    const payments = [...bank.payments.values()]
    expect(payments).toMatchObject([{ amount: toDecimal(paid), account: account.replaceAll(' ', ''), status: 'done' }])
    const { payable, transit, paid: settled } = await settling.call(splitPayouts.balance, { params: { id } })
    expect([payable, transit, settled].map(toMinor)).toEqual([theirs - paid, 0n, paid])
    await mine.reload()
    await expect(rowOf(mine, month)).toContainText('已付款')
    await expect(rowOf(mine, month).getByText(shownTheirs ?? '', { exact: true })).toBeVisible()
    await shot(mine, 'paid-own-runs')
    await mine.getByRole('tab', { name: '付款' }).click()
    await expect(rowOf(mine, payments[0]?.trade_id ?? '')).toContainText(shownPaid ?? '')
    for (const shown of [shownLeft, shownPaid]) await expect(mine.getByText(shown ?? '', { exact: true }).first()).toBeVisible()
    await shot(mine, 'paid-own-payouts')
  } finally {
    await keeping.close()
    await owning.close()
    await bank.close()
  }
}
