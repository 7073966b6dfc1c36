import { sql } from 'kysely'
import type { Sql, Tables } from '../db/database.ts'
import type { NodeContents } from '../module.ts'

/** Tables of what the platform runs on nodes for itself: a row has the node that it is on. */
type OnNode = { [Name in keyof Tables]: 'node_id' extends keyof Tables[Name] ? Name : never }[keyof Tables]

/** What a module keeps on nodes whose rows are of this table: the platform's, all of them. */
export function onNodes(table: OnNode): NodeContents {
  const count = async (on: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const { rows } = await sql<{ node_id: string; count: number }>`
      select node_id, count(*)::int as count from ${sql.table(table)} where node_id = any(${[...ids]}::uuid[]) group by node_id
    `.execute(on)
    return new Map(rows.map(({ node_id, count: all }) => [node_id, all]))
  }
  return {
    count,
    async owners(on, nodeId) {
      const all = (await count(on, [nodeId])).get(nodeId) ?? 0
      return all === 0 ? [] : [{ bp_id: null, count: all }]
    },
  }
}
