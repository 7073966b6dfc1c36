import { sql } from 'kysely'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { originOf } from '../verification/verification.store.ts'
import { hashOf } from './tokens.ts'

/** Of one person. `device` and `address` are where guesses come from, `strangers` all addresses together, `codes` their wrong second factors. */
export type GuessSource = `address ${string}` | `device ${string}` | `session ${string}` | 'strangers' | 'codes'

const deviceSource = (hash: Buffer): GuessSource => `device ${hash.toString('hex')}`
/** A browser that signs in anew each time is as many devices; these are remembered. */
const devicesMax = 20

/** Where somebody comes from: by their device where it has signed in as this person, else by its address. */
export async function sourceOf(on: Sql, userId: string, client: { ip: string; device: string | null }): Promise<GuessSource> {
  const hash = hashOf(client.device ?? '')
  const { rows } = await sql<{ address: string; known: boolean }>`
    select host(${originOf(client.ip)}) as address, exists (select from known_devices where user_id = ${userId} and hash = ${hash}) as known
  `.execute(on)
  return rows[0]?.known === true ? deviceSource(hash) : `address ${rows[0]?.address ?? ''}`
}

export const isFrozen = async (on: Sql, userId: string, sources: readonly GuessSource[], now: Date): Promise<boolean> =>
  (await on
    .selectFrom('password_guesses')
    .select('source')
    .where('user_id', '=', userId)
    .where('source', 'in', sources)
    .where('frozen_until', '>', now)
    .limit(1)
    .executeTakeFirst()) !== undefined

/**
 * Counts a wrong answer, all at once: of fifty guesses at the same time none is missed.
 * @param since what was counted before is forgotten
 * @returns whether this one began a freeze
 */
export async function countWrong(
  on: Sql,
  { userId, source, limit }: { userId: string; source: GuessSource; limit: number },
  { now, since, frozenUntil }: { now: Date; since: Date; frozenUntil: Date },
): Promise<boolean> {
  const wrong = sql`case when counted.since < ${since}::timestamptz or counted.frozen_until is not null then 1 else counted.wrong + 1 end`
  const { rows } = await sql<{ frozen: boolean }>`
    insert into password_guesses as counted (user_id, source, wrong, since)
    select id, ${source}, 1, ${now}::timestamptz from users where id = ${userId}
    on conflict (user_id, source) do update set
      wrong = ${wrong},
      since = case when ${wrong} = 1 then ${now}::timestamptz else counted.since end,
      frozen_until = case when ${wrong} >= ${limit} then ${frozenUntil}::timestamptz end
    where counted.frozen_until is null or counted.frozen_until <= ${now}::timestamptz
    returning frozen_until is not null as frozen
  `.execute(on)
  return rows[0]?.frozen === true
}

/** Addresses that were frozen for this person since. */
export const frozenAddresses = async (on: Sql, userId: string, since: Date): Promise<number> => {
  const { addresses } = await on
    .selectFrom('password_guesses')
    .select(sql<number>`count(*)`.as('addresses'))
    .where('user_id', '=', userId)
    .where('source', 'like', 'address %')
    .where('frozen_until', '>', since)
    .executeTakeFirstOrThrow()
  return addresses
}

/** Until when the last of them keeps somebody out. */
export const lastFreeze = async (on: Sql, userId: string, now: Date): Promise<Date | null> =>
  (
    await on
      .selectFrom('password_guesses')
      .select(({ fn }) => fn.max('frozen_until').as('until'))
      .where('user_id', '=', userId)
      .where('frozen_until', '>', now)
      .executeTakeFirstOrThrow()
  ).until

/** @param sources absent: all */
export async function forgetGuesses(on: Sql, userId: string, sources?: readonly GuessSource[]): Promise<void> {
  const all = on.deleteFrom('password_guesses').where('user_id', '=', userId)
  await (sources === undefined ? all : all.where('source', 'in', sources)).execute()
}

/** A device that has just signed in as this person. */
export async function knowDevice(tx: Tx, userId: string, device: string, now: Date): Promise<void> {
  await tx
    .insertInto('known_devices')
    .values({ user_id: userId, hash: hashOf(device), used_at: now })
    .onConflict((conflict) => conflict.columns(['user_id', 'hash']).doUpdateSet({ used_at: now }))
    .execute()
  await tx
    .deleteFrom('known_devices')
    .where('user_id', '=', userId)
    .where('hash', 'in', (select) =>
      select.selectFrom('known_devices').select('hash').where('user_id', '=', userId).orderBy('used_at', 'desc').orderBy('hash').offset(devicesMax),
    )
    .execute()
}

export const forgetDevices = async (on: Sql, userId: string): Promise<void> => {
  await on.deleteFrom('known_devices').where('user_id', '=', userId).execute()
}

/** @returns whether nobody was told of it since */
export async function recordAttack(on: Sql, userId: string, now: Date, since: Date): Promise<boolean> {
  const told = await on
    .insertInto('password_attacks')
    .values({ user_id: userId, told_at: now })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ told_at: now }).where('password_attacks.told_at', '<', since))
    .returning('user_id')
    .executeTakeFirst()
  return told !== undefined
}

export const attackOf = async (on: Sql, userId: string, since: Date): Promise<Date | null> =>
  (await on.selectFrom('password_attacks').select('told_at').where('user_id', '=', userId).where('told_at', '>=', since).executeTakeFirst())?.told_at ?? null

/** Who runs the platform and can be written to. */
export const platformAdministrators = (on: Sql): Promise<{ email: string | null; phone: string | null }[]> =>
  on.selectFrom('users').select(['email', 'phone']).where('kind', '<=', 1).where('status', '=', 'active').where('deleted_at', 'is', null).execute()

export async function deleteOldGuesses(on: Sql, guessedBefore: Date, usedBefore: Date): Promise<void> {
  await on
    .deleteFrom('password_guesses')
    .where('since', '<', guessedBefore)
    .where((where) => where.or([where('frozen_until', 'is', null), where('frozen_until', '<', guessedBefore)]))
    .execute()
  await on.deleteFrom('password_attacks').where('told_at', '<', guessedBefore).execute()
  await on.deleteFrom('known_devices').where('used_at', '<', usedBefore).execute()
}
