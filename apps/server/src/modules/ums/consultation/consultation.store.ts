import type { ResponseOf } from '@zhisuan/contract/define'
import type { consultations } from '@zhisuan/contract/ums/consultation'
import type { Insertable } from 'kysely'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { matching, paged, pageWithTotal, type PageQuery } from '../../../platform/db/page.ts'
import type { ConsultationTable } from '../ums.migrations.ts'

export const insertConsultation = async (on: Sql, row: Insertable<ConsultationTable>): Promise<void> => {
  await on.insertInto('consultations').values(row).execute()
}

export async function listConsultations(on: Sql, query: PageQuery & { keyword?: string | undefined }): Promise<ResponseOf<typeof consultations.list>> {
  const filtered = on.selectFrom('consultations').where(matching(query.keyword, 'name', 'phone', 'content'))
  const page = paged(filtered.selectAll(), query, { by: { created_at: 'created_at' }, fallback: '-created_at', id: 'id' })
  const { total, rows } = await pageWithTotal(page, filtered, query)
  return { total, items: rows.map((row) => ({ ...row, created_at: iso(row.created_at) })) }
}
