import type { Generated, Selectable } from 'kysely'
import { iso } from './db/database.ts'

/** Columns of every table of resources that belong to organisations. */
export interface OwnedTable {
  id: string
  bp_id: string | null
  name: string
  description: string
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
/** And of those that live on a cloud's engine. */
export interface OnEngineTable extends OwnedTable {
  cloud_id: string
  error_text: string | null
}

/** Joined with the organisation's name. */
type OwnedRow = Omit<Selectable<OwnedTable>, 'created_by'> & { bp_name: string | null }

/** What every resource tells of itself: `owned` of contract/resource.ts. */
export const shapeOwned = (row: OwnedRow) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})

/** What those tell that live on a cloud's engine: `onEngine` there. */
export const shapeOnEngine = (row: OwnedRow & { cloud_id: string; error_text: string | null; operation_id: string | null }) => ({
  ...shapeOwned(row),
  cloud_id: row.cloud_id,
  error: row.error_text,
  operation_id: row.operation_id,
})
