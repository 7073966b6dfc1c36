import type { BodyOf } from '@zhisuan/contract/define'
import type { lookups } from '@zhisuan/contract/ecrm/region'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { found } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { suggestMarks } from '../edge/edge.store.ts'
import { divisionsBelow } from './divisions.ts'

export type LookupService = ReturnType<typeof createLookups>

export function createLookups({ db, kinds }: Pick<Platform, 'db' | 'kinds'>) {
  return {
    /** Only this country's are known. */
    divisions: (nation: string, above: string): { code: string; name: string; leaf: boolean }[] =>
      nation === 'CN' ? found(divisionsBelow(above === '0' ? null : above)) : [],

    labels: (actor: Actor, beginning: string): Promise<string[]> => suggestMarks(db, scopeOf(actor), 'labels', beginning),

    taints: (actor: Actor, beginning: string): Promise<string[]> => suggestMarks(db, scopeOf(actor), 'taints', beginning),

    /** Where nobody has things of a kind, every name is free. */
    async unique(actor: Actor, { kind, name }: BodyOf<(typeof lookups)['uniqueness']>): Promise<boolean> {
      return !((await kinds().get(kind)?.nameTaken?.(db, actor.bp_id, name)) ?? false)
    },
  }
}
