import { isIP } from 'node:net'
import { sql, type Insertable } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import type { VerificationCodeTable } from '../ums.migrations.ts'

/** Where a request comes from as limits count it: an IPv4 address, or the /64 of an IPv6 one. */
export function originOf(address: string) {
  // A socket that listens on both families shows IPv4 like this; and a link-local address has its interface behind it.
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '')
  // Whatever else a proxy forwards counts as one place.
  const ip = isIP(plain) === 0 ? '0.0.0.0' : plain
  return sql<string>`(case when family(${ip}::inet) = 6 then network(set_masklen(${ip}::inet, 64))::inet else ${ip}::inet end)`
}

/**
 * Holds others who ask for the same address, or from the same place, until the transaction ends.
 * Always in this order, so that two never wait for each other.
 */
export async function lockLimits(tx: Tx, address: string, ip: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${address}, 7140811))`.execute(tx)
  await sql`select pg_advisory_xact_lock(hashtextextended(${originOf(ip)}::text, 7140812))`.execute(tx)
}

/** When the code was made that is the `nth` newest one for an address, or from a place. */
export async function nthNewest(tx: Tx, by: { address: string } | { ip: string }, nth: number): Promise<Date | null> {
  const all = tx
    .selectFrom('verification_codes')
    .select('created_at')
    .orderBy('created_at', 'desc')
    .offset(nth - 1)
    .limit(1)
  const row = await ('address' in by ? all.where('address', '=', by.address) : all.where('origin', '=', originOf(by.ip))).executeTakeFirst()
  return row?.created_at ?? null
}

export const insertCode = async (tx: Tx, { ip, ...row }: Omit<Insertable<VerificationCodeTable>, 'origin'> & { ip: string }): Promise<void> => {
  await tx
    .insertInto('verification_codes')
    .values({ ...row, origin: originOf(ip) })
    .execute()
}

/** Counts a try at the newest code that is still good, all at once, and tells what it was compared with. */
export const countTry = (on: Sql, of: { purpose: string; address: string; userId: string | null }, now: Date) =>
  on
    .updateTable('verification_codes')
    .set({ tries: sql`tries + 1` })
    .where(
      'id',
      '=',
      on
        .selectFrom('verification_codes')
        .select('id')
        .where('purpose', '=', of.purpose)
        .where('address', '=', of.address)
        .where('user_id', 'is not distinct from', of.userId)
        .where('used_at', 'is', null)
        .where('expires_at', '>', now)
        .orderBy('created_at', 'desc')
        .limit(1),
    )
    .returning(['id', 'code_hash', 'tries'])
    .executeTakeFirst()

/** Whether it was still to be used: of two who come with the same code, one gets it. */
export const markUsed = async (tx: Tx, id: string, now: Date): Promise<boolean> =>
  (await tx.updateTable('verification_codes').set({ used_at: now }).where('id', '=', id).where('used_at', 'is', null).returning('id').executeTakeFirst()) !==
  undefined

export const deleteCodesBefore = async (on: Sql, moment: Date): Promise<void> => {
  await on.deleteFrom('verification_codes').where('created_at', '<', moment).execute()
}
