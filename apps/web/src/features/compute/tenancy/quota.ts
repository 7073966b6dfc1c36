import { isBytesKind, keystoneProjects, quotaKinds, quotaServices, type ProjectQuota, type QuotaKind } from '@zhisuan/contract/compute/project'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useCall } from '../../../api/hooks.ts'
import * as format from '../../../kit/format.ts'
import { shareOf } from '../../../kit/quotaLines.ts'

export type Quotas = ResponseOf<typeof keystoneProjects.mine>
export type Kinds = ProjectQuota['kinds']
/** How much of each kind something needs. */
export type Wants = Partial<Record<QuotaKind, number>>
/** Where something is to be made: for a project of ours (null: the organisation itself), or beside what is in a project of Keystone's. */
export type MadeIn = { readonly project_id: string | null } | { readonly keystone_project_id: string }

const refreshMs = 60_000

/** What the asker's projects on a cloud use and may have. */
export const useQuotas = (cloudId: string | null) =>
  useCall(keystoneProjects.mine, { params: { cloud_id: cloudId ?? '' } }, { silent: true, enabled: cloudId !== null, refreshMs })

/** `12`, or `64 GB`; nothing of them is `0 GB`, as they are typed. */
export const amountText = (kind: QuotaKind, amount: number): string =>
  !isBytesKind(kind) ? format.number(amount) : amount === 0 ? '0 GB' : format.bytes(amount)

/** The kinds that a cloud keeps a quota of, in their order. */
export const keptKinds = (kinds: Kinds): readonly QuotaKind[] =>
  quotaServices.flatMap((service) => quotaKinds[service]).filter((kind) => kinds[kind] !== undefined)

/** What holds where something is made; of who has no project there yet, what it will begin with. Null: nobody knows. */
export function quotaIn(quotas: Quotas, place: MadeIn): { readonly name: string; readonly kinds: Kinds } | null {
  if ('keystone_project_id' in place) return quotas.items.find((one) => one.keystone_project_id === place.keystone_project_id) ?? null
  return quotas.items.find((one) => one.project_id === place.project_id) ?? { name: '', kinds: quotas.fresh.kinds }
}

export interface Shortfall {
  readonly kind: QuotaKind
  readonly wants: number
  readonly left: number
  readonly limit: number
  readonly used: number
}
/** What there is not enough of. */
export const shortfalls = (kinds: Kinds, wants: Wants): readonly Shortfall[] =>
  keptKinds(kinds).flatMap((kind) => {
    const [want, known] = [wants[kind] ?? 0, kinds[kind]]
    if (want <= 0 || known === undefined || known.limit === null || known.used + want <= known.limit) return []
    return [{ kind, wants: want, left: Math.max(0, known.limit - known.used), limit: known.limit, used: known.used }]
  })

/** What runs out first; null where nothing is limited or used. */
export function tightest(kinds: Kinds): QuotaKind | null {
  const used = keptKinds(kinds).filter((kind) => (kinds[kind]?.used ?? 0) > 0 && kinds[kind]?.limit !== null)
  // What stands first stays first among equals.
  return used.reduce<QuotaKind | null>((most, kind) => (most === null || shared(kinds, kind) > shared(kinds, most) ? kind : most), null)
}
const shared = (kinds: Kinds, kind: QuotaKind): number => shareOf(kinds[kind] ?? { used: 0, limit: null }) ?? 0
