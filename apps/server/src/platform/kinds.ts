import { byId, type Tags } from '@zhisuan/contract/define'
import { kindOf, type Kind } from '@zhisuan/contract/kind'
import { sql, type RawBuilder } from 'kysely'
import type { Scope } from './auth/actor.ts'
import type { Sql } from './db/database.ts'
import type { KindParts, ModuleParts } from './module.ts'

export type Kinds = ReadonlyMap<Kind, KindParts>

/** All kinds of all modules. @throws Error where two modules name one, or an operation is on one that nobody names */
export function kindsOf(modules: readonly ModuleParts[]): Kinds {
  const kinds = new Map<Kind, KindParts>()
  for (const [kind, parts] of modules.flatMap((module) => kindEntries(module.kinds ?? {}))) {
    if (kinds.has(kind)) throw new Error(`two modules name ${kind}`)
    kinds.set(kind, parts)
  }
  for (const operation of modules.flatMap(({ operations = [] }) => operations))
    if (!kinds.has(operationOn(operation))) throw new Error(`${operation.kind} is on a kind that no module names`)
  return kinds
}

// Its keys are those of the type: a module writes them all in one literal.
const kindEntries = Object.entries as (kinds: NonNullable<ModuleParts['kinds']>) => [Kind, KindParts][]

/** The kind of thing that an operation works on. */
export const operationOn = ({ kind, resource_type }: { readonly kind: string; readonly resource_type?: Kind }): Kind =>
  // That somebody names it is asked when the modules are put together.
  resource_type ?? (kindOf(kind) as Kind)

/** What something is called now; empty where it is of a kind without names, or is not there. */
export const nameNow = (parts: KindParts | undefined, id: string): RawBuilder<string> | '' =>
  parts?.table === undefined ? '' : sql<string>`coalesce((select ${sql.ref(parts.name ?? 'name')} from ${sql.table(parts.table)} where id = ${id}), '')`

/**
 * The id of what something belongs to; null where it belongs to nothing of that kind now, undefined where it is not there.
 * @throws Error where a kind does not say how it belongs to the other
 */
export async function ownerOf(
  on: Sql,
  kinds: ReadonlyMap<string, KindParts>,
  { of, id, kind }: { of: string; id: string; kind: string },
): Promise<string | null | undefined> {
  const { table, partOf } = kinds.get(of) ?? {}
  if (table === undefined || partOf?.kind !== kind) throw new Error(`${of} does not say to which ${kind} it belongs`)
  if (!byId.safeParse({ id }).success) return undefined
  const { rows } = await sql<{ owner: string | null }>`select ${sql.ref(partOf.id)} as owner from ${sql.table(table)} where id = ${id}`.execute(on)
  return rows[0]?.owner
}

/** Those of something that the scope sees; none of what has none or is not there. */
export async function tagsOf(kinds: ReadonlyMap<string, KindParts>, scope: Scope, kind: string, id: string): Promise<Tags> {
  // A policy may name what is of somebody else's service: that is no kind of ours, and is not found. What cannot be an id is nobody's.
  return (byId.safeParse({ id }).success ? await kinds.get(kind)?.tags?.(scope, id) : undefined) ?? {}
}

/**
 * What things of a kind are called now, and whose page tells of each; what is gone is left out, and what is somebody's alone.
 * @param userId who is told
 */
export async function namesNow(
  on: Sql,
  { table, name = 'name', page, toldTo }: KindParts,
  ids: readonly string[],
  userId: string | null = null,
): Promise<{ id: string; name: string; page_id: string }[]> {
  if (table === undefined) return []
  const { rows } = await sql<{ id: string; name: string; page_id: string }>`
    select id, ${sql.ref(name)} as name, ${sql.ref(page?.id ?? 'id')} as page_id from ${sql.table(table)} where id = any(${[...ids]}::uuid[]) and ${toldTo?.(userId) ?? sql`true`}
  `.execute(on)
  return rows
}
