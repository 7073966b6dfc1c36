import { sql } from 'kysely'
import { migration, type Migrations, type Tx } from '../db/database.ts'
import { Refusal } from '../errors.ts'
import type { Secrets } from '../secrets.ts'

/** So long the same key answers the same. */
const keptDays = 7

interface AnswerKeyTable {
  user_id: string
  key: string
  call: string
  /** SHA-256 of all that was asked for. */
  request: string
  /** Sealed JSON; null while it is being answered. */
  answer: string | null
}
declare module '../db/database.ts' {
  interface Tables {
    answer_keys: AnswerKeyTable
  }
}

export const answerKeyMigrations: Migrations = {
  '20261128_70_answer_keys': migration(`
    create table answer_keys (
      user_id uuid not null,
      key text not null,
      call text not null,
      request text not null,
      answer text,
      created_at timestamptz not null default now(),
      primary key (user_id, key)
    );
    create index answer_keys_created on answer_keys (created_at);
  `),
}

/** What somebody gave a key to. */
export interface Claim {
  readonly user_id: string
  readonly key: string
  readonly call: string
  readonly request: string
}

export type AnswerKeys = ReturnType<typeof createAnswerKeys>

/** Answers to calls that move money, by the keys that they were asked with: who asks again is answered the same, and nothing is moved. */
export function createAnswerKeys(secrets: Secrets) {
  const place = ({ user_id, key }: Claim): string => `answer_keys.answer:${user_id}:${key}`
  return {
    /**
     * Takes a key until the transaction ends; whoever comes with the same one meanwhile waits for that.
     * @returns null where it is new, else how it was answered
     * @throws Refusal 90033 where it was given to something else
     */
    async claim(tx: Tx, claim: Claim): Promise<{ readonly answer: unknown } | null> {
      await sql`
        delete from answer_keys where (user_id, key) in (
          select user_id, key from answer_keys where created_at < now() - make_interval(days => ${keptDays}) limit 100 for update skip locked
        )
      `.execute(tx)
      const made = await tx
        .insertInto('answer_keys')
        .values({ ...claim, answer: null })
        .onConflict((conflict) => conflict.doNothing())
        .returning('key')
        .executeTakeFirst()
      if (made !== undefined) return null
      const known = await tx.selectFrom('answer_keys').selectAll().where('user_id', '=', claim.user_id).where('key', '=', claim.key).executeTakeFirstOrThrow()
      if (known.call !== claim.call || known.request !== claim.request || known.answer === null) throw new Refusal('idempotencyKeyReused')
      const answer: unknown = JSON.parse(secrets.open(known.answer, place(claim)))
      return { answer }
    },
    /** What the key answers from now on. */
    async keep(tx: Tx, claim: Claim, answer: unknown): Promise<void> {
      await tx
        .updateTable('answer_keys')
        .set({ answer: secrets.seal(JSON.stringify(answer ?? null), place(claim)) })
        .where('user_id', '=', claim.user_id)
        .where('key', '=', claim.key)
        .execute()
    },
  }
}
