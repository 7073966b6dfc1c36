import { sql } from 'kysely'
import { migration, type Db, type Migrations } from '../../../platform/db/database.ts'
import type { Secrets } from '../../../platform/secrets.ts'

interface ConsoleTable {
  vm_id: string
  /** Sealed: a system that starts may print what is meant for nobody else. */
  text: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    vm_consoles: ConsoleTable
  }
}

export const consoleMigrations: Migrations = {
  '20261128_71_vm_consoles': migration(`
    create table vm_consoles (vm_id uuid primary key references vms on delete cascade, text text not null);
  `),
}

/** As many characters of the end are kept. */
const keptMax = 2 ** 20
const place = (id: string): string => `vm_consoles.text:${id}`

export type Consoles = ReturnType<typeof createConsoles>

/**
 * What virtual machines printed on their consoles. An engine hands each piece out once: what was read is kept here and
 * continued, so that everybody reads the same, again and again.
 */
export function createConsoles({ db, secrets }: { db: Db; secrets: Secrets }) {
  /** One at a time of each: pieces follow one another as they were printed. */
  const under = new Map<string, Promise<string>>()

  const keep = (id: string, piece: string): Promise<string> =>
    db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 42))`.execute(tx)
      const row = await tx.selectFrom('vm_consoles').select('text').where('vm_id', '=', id).executeTakeFirst()
      const before = row === undefined ? '' : secrets.open(row.text, place(id))
      if (piece === '') return before
      const whole = (before + piece).slice(-keptMax)
      const text = secrets.seal(whole, place(id))
      await tx
        .insertInto('vm_consoles')
        // One that is deleted meanwhile has none.
        .columns(['vm_id', 'text'])
        .expression((of) =>
          of
            .selectFrom('vms')
            .select((one) => ['id', one.val(text).as('text')])
            .where('id', '=', id),
        )
        .onConflict((on) => on.column('vm_id').doUpdateSet({ text }))
        .execute()
      return whole
    })

  return {
    /**
     * All that is kept, with what was printed since.
     * @param read the engine's piece; who asks meanwhile gets the same
     */
    continued(id: string, read: () => Promise<string>): Promise<string> {
      const now = under.get(id) ?? read().then((piece) => keep(id, piece))
      under.set(id, now)
      const over = (): void => {
        if (under.get(id) === now) under.delete(id)
      }
      now.then(over, over)
      return now
    },
  }
}
