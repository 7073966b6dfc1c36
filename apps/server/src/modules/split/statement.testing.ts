import { randomUUID } from 'node:crypto'
import { toMinor } from '@zhisuan/contract/bill/money'
import { splitContracts, splitRuns, type SplitLine, type SplitRun, type StatementFormat } from '@zhisuan/contract/split/contract'
import { sql } from 'kysely'
import type { TestApp } from '../../testing/app.ts'
import { call } from '../../testing/call.ts'
import { someone } from '../../testing/people.ts'

/** A statement in all the ways in which somebody can have it. */
export interface ReadStatement {
  readonly run: SplitRun
  /** As the page shows them. */
  readonly lines: readonly SplitLine[]
  readonly files: Readonly<Record<StatementFormat, Buffer>>
}

/** A file of a statement, as somebody saves it. */
export async function savedStatement(app: TestApp, token: string, id: string, format: StatementFormat): Promise<Buffer> {
  const { path } = await call(app, splitRuns.export, { token, params: { id }, body: { format } })
  return (await app.http.inject(path)).rawPayload
}

/** Two months of a contract of four parties: amounts of any size, something late, something given back, a floor that is due. */
export async function someStatements(app: TestApp): Promise<readonly [ReadStatement, ReadStatement]> {
  const { token } = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
  const payer = await someone(app)
  const provider = randomUUID()
  await sql`insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values (${provider}, null, ${`p-${provider}`}, 'x', '', 'verified', '')`.execute(
    app.platform.db,
  )
  const used = async (at: string, yuan: string): Promise<number> => {
    const { rows } = await sql<{ id: number }>`
      insert into usage_lines (resource_id, bp_id, product_id, sku_id, price_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
      values (${randomUUID()}, ${payer.bp_id}, ${randomUUID()}, ${randomUUID()}, ${randomUUID()}, ${new Date(at)}, 1, 3600, 10000, 'market.card', 'o', ${String(toMinor(yuan))},
        ${JSON.stringify({ provider_id: provider, cards: [{ uuid: 'GPU-1', model: 'A100, 80G' }] })}::jsonb) returning id`.execute(app.platform.db)
    return rows[0]?.id ?? 0
  }
  const { id: contract } = await call(app, splitContracts.create, {
    token,
    body: {
      name: `c-${provider.slice(0, 8)}`,
      provider_id: provider,
      from: '2026-01',
      terms: {
        parties: [
          { kind: 'platform', name: '平台' },
          { kind: 'provider', name: '供应商' },
          { kind: 'agent', name: '渠道一' },
          { kind: 'agent', name: '=渠道二' },
        ],
        steps: [{ above: '0', parts: [100_000, 233_333, 333_333, 333_334] }],
        floor: '5000000',
      },
    },
  })
  await call(app, splitContracts.sign, { token, params: { id: contract } })
  const read = async (period: string): Promise<ReadStatement> => {
    const { id } = await call(app, splitRuns.create, { token, body: { contract_id: contract, period } })
    const { items } = await call(app, splitRuns.lines, { token, params: { id }, query: { page_size: 100 } })
    const files = {
      csv: await savedStatement(app, token, id, 'csv'),
      xlsx: await savedStatement(app, token, id, 'xlsx'),
      pdf: await savedStatement(app, token, id, 'pdf'),
    }
    // The page has them by the hour, files by their numbers.
    return { run: await call(app, splitRuns.get, { token, params: { id } }), lines: items.toSorted((one, other) => Number(one.id) - Number(other.id)), files }
  }
  const back = await used('2026-01-10T00:00:00+08:00', '6.45')
  for (const yuan of ['0.00000001', '1234567.12345678', '999999.99999999', '0.10', '100']) await used('2026-01-11T05:00:00+08:00', yuan)
  const first = await read('2026-01')
  await used('2026-01-12T00:00:00+08:00', '0.03')
  for (const yuan of ['1', '2.00000003', '12345678901.12345678']) await used('2026-02-12T00:00:00+08:00', yuan)
  await sql`update usage_lines set voided_at = now() where id = ${back}`.execute(app.platform.db)
  return [first, await read('2026-02')]
}
