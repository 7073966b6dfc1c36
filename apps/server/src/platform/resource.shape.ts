import { iso } from './db/database.ts'

/** A row of an organisation's resource, joined with the organisation's name. */
interface OwnedRow {
  id: string
  name: string
  description: string
  bp_id: string | null
  bp_name: string | null
  created_by_name: string
  created_at: Date
  updated_at: Date
}

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
