import type { arrearsPolicies, ArrearsPolicy } from '@zhisuan/contract/bill/arrears'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { sql } from 'kysely'
import { isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { matching, shapedPage, pageWithTotal, paged } from '../../../platform/db/page.ts'
import type { PolicyRow } from './arrears.migrations.ts'

type ShownPolicy = PolicyRow & { bp_name: string | null }

export const shapePolicy = ({ bp_id, bp_name, low_balance, least_balance, updated_by_name, updated_at, ...decisions }: ShownPolicy): ArrearsPolicy => ({
  ...decisions,
  id: bp_id,
  organisation: bp_id === null ? null : { id: bp_id, name: bp_name ?? '' },
  low_balance: toDecimal(BigInt(low_balance)),
  least_balance: toDecimal(BigInt(least_balance)),
  updated_by: updated_by_name,
  updated_at: isoOrNull(updated_at),
})

const shown = (on: Sql) =>
  on
    .selectFrom('arrears_policies as policy')
    .leftJoin('organisations', 'organisations.id', 'policy.bp_id')
    .selectAll('policy')
    .select('organisations.name as bp_name')

/** The platform's, or the exception of an organisation. */
export const getPolicy = (on: Sql, bpId: string | null): Promise<ShownPolicy | undefined> =>
  shown(on).where('policy.bp_id', 'is not distinct from', bpId).executeTakeFirst()

/** What holds for an organisation. */
export const policyFor = (on: Sql, bpId: string): Promise<ShownPolicy> =>
  shown(on)
    .where((where) => where.or([where('policy.bp_id', '=', bpId), where('policy.bp_id', 'is', null)]))
    .orderBy(sql`policy.bp_id nulls last`)
    .limit(1)
    .executeTakeFirstOrThrow()

const order = { by: { name: 'organisations.name', updated_at: 'policy.updated_at' }, fallback: 'name', id: 'policy.bp_id' }

export async function listExceptions(on: Sql, query: QueryOf<typeof arrearsPolicies.exceptions>): Promise<{ total: number; items: ArrearsPolicy[] }> {
  const filtered = shown(on).where('policy.bp_id', 'is not', null).where(matching(query.keyword, 'organisations.name'))
  return shapedPage(pageWithTotal(paged(filtered, query, order), filtered, query), shapePolicy)
}

export async function setPolicy(
  tx: Tx,
  bpId: string | null,
  { low_balance, least_balance, ...decisions }: BodyOf<typeof arrearsPolicies.set>,
  by: { name: string; at: Date },
): Promise<void> {
  const row = {
    ...decisions,
    low_balance: String(toMinor(low_balance)),
    least_balance: String(toMinor(least_balance)),
    updated_by_name: by.name,
    updated_at: by.at,
  }
  await tx
    .insertInto('arrears_policies')
    .values({ ...row, bp_id: bpId })
    .onConflict((conflict) => conflict.constraint('arrears_policies_one').doUpdateSet(row))
    .execute()
}

export const deleteException = async (tx: Tx, bpId: string): Promise<boolean> =>
  (await tx.deleteFrom('arrears_policies').where('bp_id', '=', bpId).executeTakeFirst()).numDeletedRows > 0n

/** All that the policy of somebody, or of everybody, speaks about is looked at again. */
export const checkAgain = async (tx: Tx, bpId: string | null): Promise<void> => {
  await sql`insert into standing_checks (owner_id) select owner_id from account_standings where ${bpId}::uuid is null or owner_id = ${bpId}::uuid`.execute(tx)
}
