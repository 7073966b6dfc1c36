import { iso, type Sql } from '../../../platform/db/database.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

export const insertInboxItem = insertsInto('development_inbox')

/** The newest first. */
export const listInbox = async (on: Sql) => {
  const rows = await on
    .selectFrom('development_inbox')
    .select(['channel', 'address', 'purpose', 'text', 'created_at'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(200)
    .execute()
  return rows.map((row) => ({ ...row, created_at: iso(row.created_at) }))
}

export const deleteInboxBefore = async (on: Sql, moment: Date): Promise<void> => {
  await on.deleteFrom('development_inbox').where('created_at', '<', moment).execute()
}
