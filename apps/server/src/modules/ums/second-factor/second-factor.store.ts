import type { Insertable } from 'kysely'
import { sql } from 'kysely'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'

export const findSecret = (on: Sql, userId: string) => on.selectFrom('second_factors').selectAll().where('user_id', '=', userId).executeTakeFirst()

/** In place of one that was not confirmed. @returns whether there is none that was */
export const keepSecret = async (on: Sql, row: Insertable<Tables['second_factors']>): Promise<boolean> =>
  (
    await on
      .insertInto('second_factors')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .column('user_id')
          .doUpdateSet({ secret: row.secret, created_at: sql`now()` })
          .where('second_factors.confirmed_at', 'is', null),
      )
      .executeTakeFirst()
  ).numInsertedOrUpdatedRows !== 0n

/** Each step is good once, on whichever server: false where it was used, or a later one. */
export const useStep = async (on: Sql, userId: string, step: number): Promise<boolean> =>
  (await on.updateTable('second_factors').set({ last_step: step }).where('user_id', '=', userId).where('last_step', '<', step).executeTakeFirst())
    .numUpdatedRows > 0n

export const confirmSecret = async (tx: Tx, userId: string, at: Date): Promise<boolean> =>
  (await tx.updateTable('second_factors').set({ confirmed_at: at }).where('user_id', '=', userId).where('confirmed_at', 'is', null).executeTakeFirst())
    .numUpdatedRows > 0n

/** With all recovery codes. @returns whether there was one */
export async function removeSecret(tx: Tx, userId: string): Promise<boolean> {
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  return (await tx.deleteFrom('second_factors').where('user_id', '=', userId).executeTakeFirst()).numDeletedRows > 0n
}

export async function replaceCodes(tx: Tx, userId: string, hashes: readonly Buffer[]): Promise<void> {
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await tx
    .insertInto('recovery_codes')
    .values(hashes.map((hash) => ({ user_id: userId, hash, used_at: null })))
    .execute()
}

/** Good once. */
export const useCode = async (on: Sql, userId: string, hash: Buffer): Promise<boolean> =>
  (
    await on
      .updateTable('recovery_codes')
      .set({ used_at: sql`now()` })
      .where('user_id', '=', userId)
      .where('hash', '=', hash)
      .where('used_at', 'is', null)
      .executeTakeFirst()
  ).numUpdatedRows > 0n

export const codesLeft = async (on: Sql, userId: string): Promise<number> =>
  (
    await on
      .selectFrom('recovery_codes')
      .select((select) => select.fn.countAll<number>().as('left'))
      .where('user_id', '=', userId)
      .where('used_at', 'is', null)
      .executeTakeFirstOrThrow()
  ).left

export const markSession = async (tx: Tx, sessionId: string, at: Date | null): Promise<void> => {
  await tx.updateTable('sessions').set({ second_factor_at: at }).where('id', '=', sessionId).execute()
}
