import { setImmediate as others } from 'node:timers/promises'
import { fileEntries, fileShares, type ConflictWay } from '@zhisuan/contract/files/file'
import { machineCopies } from '@zhisuan/contract/files/machine'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../platform/auth/actor.ts'
import { decideOn, deniesSome, deniedOn } from '../../platform/auth/rules.ts'
import type { Sql } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { contextOf } from '../../platform/http/bind.ts'
import { entriesAbove, entriesWithin, type EntryRow } from './files.store.ts'
import type { WhereTaken } from './files.tree.ts'

/** What a request says of itself to policies. */
export type Asked = Pick<FastifyRequest, 'ip' | 'headers'>

/** So many are looked at before others go on. */
const atOnce = 500
/** All that policies can be asked of an entry. */
const entryActions = [...Object.values(fileEntries), fileShares.create, machineCopies.toMachine].map(({ id }) => id)

/** Those of these that policies deny of some entries and not of others: of all else nothing has to be looked at. */
const scopedOf = (actor: Actor, actions: readonly string[]): string[] => actions.filter((action) => deniesSome(actor.rules, action))

/**
 * What is done with a folder is done with all that lies in it, and what is denied of a folder is denied of all that lies in it:
 * neither is the folder a way round what is denied of something in it, nor the thing itself one round what is denied of its
 * folder. One look each at all of them, and none where no policy denies it of some things and not of others.
 * @param actions all that is done with each of them
 * @param bin of what lies in the bin; else of what is there
 * @throws Refusal fileWithinDenied, noPermission
 */
export async function refuseWithin(on: Sql, actor: Actor, asked: Asked, actions: readonly string[], entries: readonly string[], bin = false): Promise<void> {
  const scoped = scopedOf(actor, actions)
  if (scoped.length === 0) return
  await refuseAbove(on, actor, asked, scoped, entries)
  const context = contextOf(actor, asked)
  let looked = 0
  for (const { id, name } of await entriesWithin(on, entries, bin)) {
    if (++looked % atOnce === 0) await others()
    for (const action of scoped) {
      const by = deniedOn(actor, action, { kind: 'files.entry', id }, context)
      if (by !== null) throw new Refusal('fileWithinDenied', { values: { name }, refused: { action, outcome: 'explicitDeny', by } })
    }
  }
}

/** The half of it that looks at folders which these lie in, for what is done with one thing alone. @throws Refusal noPermission */
export async function refuseAbove(on: Sql, actor: Actor, asked: Asked, actions: readonly string[], entries: readonly string[]): Promise<void> {
  const scoped = scopedOf(actor, actions)
  if (scoped.length === 0) return
  refuseDenied(actor, asked, scoped, await entriesAbove(on, entries))
}

/** What a folder is denied for goes on being denied of what lies in it: so that is not taken out of it. @param to the folder that it goes to; null: the top @throws Refusal noPermission */
export async function refuseLeaving(on: Sql, actor: Actor, asked: Asked, entries: readonly string[], to: string | null): Promise<void> {
  const scoped = scopedOf(actor, entryActions)
  if (scoped.length === 0) return
  const kept = new Set(to === null ? [] : [to, ...(await entriesAbove(on, [to])).map(({ id }) => id)])
  refuseDenied(
    actor,
    asked,
    scoped,
    (await entriesAbove(on, entries)).filter(({ id }) => !kept.has(id)),
  )
}

function refuseDenied(actor: Actor, asked: Asked, scoped: readonly string[], folders: readonly { readonly id: string }[]): void {
  const context = contextOf(actor, asked)
  for (const { id } of folders)
    for (const action of scoped) {
      const by = deniedOn(actor, action, { kind: 'files.entry', id }, context)
      if (by !== null) throw new Refusal('noPermission', { refused: { action, outcome: 'explicitDeny', by } })
    }
}

/** Replacing deletes: so it is for whoever may delete what is replaced. @throws Refusal fileReplaceDenied */
export async function refuseReplacing(on: Sql, actor: Actor, asked: Asked, { id, name }: Pick<EntryRow, 'id' | 'name'>): Promise<void> {
  const action = fileEntries.delete.id
  const refuse = ({ outcome, by }: Pick<ReturnType<typeof decideOn>, 'outcome' | 'by'>): void => {
    if (outcome !== 'allowed') throw new Refusal('fileReplaceDenied', { values: { name }, refused: { action, outcome, by }, field: 'conflict' })
  }
  refuse(decideOn(actor, action, { kind: 'files.entry', id }, contextOf(actor, asked)))
  if (!deniesSome(actor.rules, action)) return
  for (const folder of await entriesAbove(on, [id])) {
    const by = deniedOn(actor, action, { kind: 'files.entry', id: folder.id }, contextOf(actor, asked))
    if (by !== null) refuse({ outcome: 'explicitDeny', by })
  }
}
/** What becomes of a name that is taken, as far as they may. */
export const whereTaken = (on: Sql, actor: Actor, asked: Asked, conflict: ConflictWay): WhereTaken =>
  conflict !== 'replace'
    ? conflict
    : async (there) => {
        await refuseReplacing(on, actor, asked, there)
        return 'replace'
      }
