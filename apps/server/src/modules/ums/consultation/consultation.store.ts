import type { ResponseOf } from '@zhisuan/contract/define'
import type { consultations } from '@zhisuan/contract/ums/consultation'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { shapedPage, matching, pageWithTotal, paged, type PageQuery } from '../../../platform/db/page.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

export const insertConsultation = insertsInto('consultations')

export async function listConsultations(on: Sql, query: PageQuery & { keyword?: string | undefined }): Promise<ResponseOf<typeof consultations.list>> {
  const filtered = on.selectFrom('consultations').where(matching(query.keyword, 'name', 'phone', 'content'))
  const page = paged(filtered.selectAll(), query, { by: { created_at: 'created_at' }, fallback: '-created_at', id: 'id' })
  return shapedPage(pageWithTotal(page, filtered, query), (row) => ({ ...row, created_at: iso(row.created_at) }))
}
