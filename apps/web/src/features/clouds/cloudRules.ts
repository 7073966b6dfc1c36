import { cloudCan, connectionTypes, type Cloud, type CloudConnection, type CloudServiceState, type CloudStatus } from '@zhisuan/contract/cmp/cloud'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyOf, Call } from '@zhisuan/contract/define'
import { users } from '@zhisuan/contract/ums/user'
import type { TFunction } from 'i18next'
import { allowed } from '../../kit/allowed.ts'
import type { StatusTone } from '../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `cloud.status` in the shell's messages. */
export const cloudTones: Readonly<Record<CloudStatus, StatusTone>> = { active: 'good', maintenance: 'warning', offline: 'rest' }

export const healthTones: Readonly<Record<Cloud['health'], StatusTone>> = {
  unknown: 'busy',
  reachable: 'good',
  degraded: 'warning',
  unreachable: 'bad',
  unauthorised: 'bad',
}

/** What is merely not there is a fault only where it is needed. */
export const serviceTone = ({ state, required }: Pick<CloudServiceState, 'state' | 'required'>): StatusTone =>
  state === 'works' ? 'good' : state === 'missing' && !required ? 'rest' : required ? 'bad' : 'warning'

/** Whether a cloud can be registered, as its services answered. */
export const servicesOutcome = (services: readonly Pick<CloudServiceState, 'state' | 'required'>[]): 'success' | 'warning' | 'error' => {
  const broken = services.filter(({ state }) => state !== 'works')
  if (broken.some(({ required }) => required)) return 'error'
  return broken.length > 0 ? 'warning' : 'success'
}

/** The changes of status, each with the action of the call that makes it. */
export const cloudMoves = {
  maintain: 'maintenance',
  takeOffline: 'offline',
  activate: 'active',
} as const satisfies Record<keyof typeof cloudCan, BodyOf<typeof clouds.action>['action']>
export type CloudMove = keyof typeof cloudMoves

/** Why a cloud cannot be moved to a status, or null where it can. */
export const whyNotCloud = (t: TFunction<['clouds', 'shell']>, move: CloudMove, cloud: Pick<Cloud, 'status'>): string | null =>
  allowed(cloudCan, move, cloud.status, t(`shell:cloud.status.${cloud.status}`))

/** What is no longer true after a cloud changed: also what the switcher in the top bar shows, and what menus have. */
export const invalidatedByCloud: readonly Call[] = [clouds.list, clouds.basicInfo, clouds.get, users.current]

/** How much more is promised than there is; null where it is not more. */
export const ratioOf = ({ total, physical }: { total: number; physical: number }): number | null => (physical > 0 && total > physical ? total / physical : null)

export const isConnectionType = (type: string): type is CloudConnection['type'] => (connectionTypes as readonly string[]).includes(type)

/** How full each of a cloud's resources is, 0 to 1; null where there is none of it. */
export const shareOf = ({ used, total }: { used: number; total: number }): number | null => (total > 0 ? Math.min(1, Math.max(0, used / total)) : null)
