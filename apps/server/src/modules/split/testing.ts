import { randomUUID } from 'node:crypto'
import { toMinor } from '@zhisuan/contract/bill/money'
import { splitBankDetails } from '@zhisuan/contract/split/bank'
import { splitContracts, splitRuns, type SplitRun, type SplitTerms } from '@zhisuan/contract/split/contract'
import type { BodyInput } from '@zhisuan/contract/define'
import { splitChannel } from '@zhisuan/contract/split/payout'
import { splitProviders } from '@zhisuan/contract/split/provider'
import { sql } from 'kysely'
import type { JobDefinition } from '../../platform/jobs.ts'
import type { TestApp } from '../../testing/app.ts'
import { call } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'

export type Somebody = Person & SignedIn

/** A provider with somebody who is bound to it. */
export async function makeProvider(app: TestApp, keeper: Somebody): Promise<{ id: string; person: Somebody }> {
  const id = randomUUID()
  const owner = await someone(app)
  await sql`insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values (${id}, ${owner.bp_id}, ${`p-${id}`}, 'x', '', 'verified', '')`.execute(
    app.platform.db,
  )
  const person = await someone(app, { kind: 4, roles: ['PROVIDER'], organisation: null })
  await call(app, splitProviders.bind, { token: keeper.token, params: { id }, body: { user_id: person.id } })
  return { id, person }
}

/** A channel of payouts that an administrator sets up and somebody else approves. */
export async function setUpChannel(app: TestApp, admin: Somebody, second: Somebody, body: BodyInput<typeof splitChannel.set>): Promise<void> {
  const { waiting } = await call(app, splitChannel.set, { token: admin.token, body: { ...body, password: admin.password } })
  await call(app, splitChannel.approve, { token: second.token, params: { id: waiting?.id ?? '' }, body: { password: second.password } })
}

/** An hour of use of a provider's machines, that cost so much. */
export async function useMachine(app: TestApp, providerId: string, at: string, yuan: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into usage_lines (resource_id, bp_id, product_id, sku_id, price_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
    values (${randomUUID()}, ${randomUUID()}, ${randomUUID()}, ${randomUUID()}, ${randomUUID()}, ${new Date(at)}, 1, 3600, 10000, 'market.card', 'o', ${String(toMinor(yuan))},
      ${JSON.stringify({ provider_id: providerId, cards: [{ uuid: 'GPU-1', model: 'A100' }] })}::jsonb)
    returning id
  `.execute(app.platform.db)
  return rows[0]?.id ?? 0
}

const parties = [
  { kind: 'platform', name: '平台' },
  { kind: 'provider', name: '供应商' },
] satisfies SplitTerms['parties']

/** A contract that counts from a month on. @param parts millionths of platform, provider and agents */
export async function signContract(app: TestApp, keeper: Somebody, providerId: string, from: string, parts = [300_000, 700_000]): Promise<string> {
  const agents = parts.slice(parties.length).map((_, index) => ({ kind: 'agent' as const, name: `代理${index + 1}` }))
  const { id } = await call(app, splitContracts.create, {
    token: keeper.token,
    body: {
      name: `c-${randomUUID().slice(0, 8)}`,
      provider_id: providerId,
      from,
      terms: { parties: [...parties, ...agents], steps: [{ above: '0', parts }] },
    },
  })
  await call(app, splitContracts.sign, { token: keeper.token, params: { id } })
  return id
}

export const splitMonth = (app: TestApp, by: Somebody, contract_id: string, period: string): Promise<SplitRun> =>
  call(app, splitRuns.create, { token: by.token, body: { contract_id, period } })
export const confirmRun = (app: TestApp, by: Somebody, id: string): Promise<SplitRun> => call(app, splitRuns.confirm, { token: by.token, params: { id } })

/** Does now what the clock does by itself, such as sending payouts. */
export async function runJob(app: TestApp, { name }: Pick<JobDefinition, 'name'>): Promise<void> {
  const handler = app.platform.modules().flatMap(({ jobHandlers = [] }) => jobHandlers.filter(({ job }) => job.name === name))[0]
  if (handler === undefined) throw new Error(`no job ${name}`)
  await handler.run({}, { signal: new AbortController().signal })
}

/** How many of a job wait or run. */
export async function waitingJobs(app: TestApp, { name }: Pick<JobDefinition, 'name'>): Promise<number> {
  const { rows } = await app.platform.database.pool.query<{ count: number }>(
    "select count(*)::int as count from pgboss.job where name = $1 and state in ('created', 'retry', 'active')",
    [name],
  )
  return rows[0]?.count ?? 0
}

/** A provider that is owed some amounts, of one confirmed statement each, with bank details that count. */
export async function makeOwed(app: TestApp, keeper: Somebody, second: Somebody, ...amounts: readonly string[]) {
  const provider = await makeProvider(app, keeper)
  const contract = await signContract(app, keeper, provider.id, '2026-01', [0, 1_000_000])
  const runs: string[] = []
  for (const [index, amount] of amounts.entries()) {
    const month = `2026-0${index + 1}`
    await useMachine(app, provider.id, `${month}-10T00:00:00+08:00`, amount)
    const run = await splitMonth(app, keeper, contract, month)
    await confirmRun(app, provider.person, run.id)
    runs.push(run.id)
  }
  const { id } = await call(app, splitBankDetails.create, {
    token: keeper.token,
    params: { id: provider.id },
    body: { holder: '东数算力', bank: '工商银行', account: '6222000011112222' },
  })
  await call(app, splitBankDetails.approve, { token: second.token, params: { id }, body: {} })
  return { ...provider, contract, runs }
}
