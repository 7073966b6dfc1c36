import type { BodyOf } from '@zhisuan/contract/define'
import type { lookups } from '@zhisuan/contract/ecrm/region'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import { found } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { suggestMarks } from '../edge/edge.store.ts'
import { divisionsBelow } from './divisions.ts'

export type NamedKind = BodyOf<(typeof lookups)['uniqueness']>['kind']
/** Whether an organisation has something of that name already; `bp_id` null is the platform itself. */
export type NameTaken = (on: Sql, bpId: string | null, name: string) => Promise<boolean>

export type LookupService = ReturnType<typeof createLookups>

export function createLookups({ db }: Pick<Platform, 'db'>) {
  const taken = new Map<NamedKind, NameTaken>()
  return {
    /** Whoever has things of a kind tells how to look for a name. */
    names(kind: NamedKind, look: NameTaken): void {
      taken.set(kind, look)
    },

    /** Only this country's are known. */
    divisions: (nation: string, above: string): { code: string; name: string; leaf: boolean }[] =>
      nation === 'CN' ? found(divisionsBelow(above === '0' ? null : above)) : [],

    labels: (actor: Actor, beginning: string): Promise<string[]> => suggestMarks(db, scopeOf(actor), 'labels', beginning),

    taints: (actor: Actor, beginning: string): Promise<string[]> => suggestMarks(db, scopeOf(actor), 'taints', beginning),

    /** Where nobody has things of a kind, every name is free. */
    unique: async (actor: Actor, { kind, name }: BodyOf<(typeof lookups)['uniqueness']>): Promise<boolean> =>
      !((await taken.get(kind)?.(db, actor.bp_id, name)) ?? false),
  }
}
