import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { hostCan, hosts, type Host, type HostStatus } from '@zhisuan/contract/nextstack/host'
import { vms } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `status` in the messages. */
export const hostTones: Readonly<Record<HostStatus, StatusTone>> = {
  online: 'good',
  offline: 'bad',
  evacuated: 'warning',
  evacuating: 'busy',
  restoring: 'busy',
  gone: 'rest',
}

/** What is no longer true after anything was done to a host. */
export const invalidatedByHost: readonly Call[] = [hosts.list, hosts.get, vms.list]

export const isPassing = ({ status }: Pick<Host, 'status'>): boolean => status === 'evacuating' || status === 'restoring'

/** Why a host cannot be evacuated or restored now, or null where it can. The server refuses by the same rules. */
export function whyNotHost(
  t: TFunction<'hardware'>,
  action: keyof typeof hostCan,
  host: Pick<Host, 'status' | 'clustered'>,
  cloud: Pick<CloudBasic, 'status'> | null,
): string | null {
  if (!host.clustered) return t('alone')
  if (isPassing(host)) return t('busy', { state: t(`status.${host.status}`) })
  if (cloud?.status === 'maintenance') return errors.cloudMaintenance.text
  if (cloud?.status === 'offline') return errors.cloudOffline.text
  return allowed(hostCan, action, host.status, t(`status.${host.status}`))
}

/** From nine tenths on little is left; more may be promised than there is. */
export type Fill = 'fine' | 'near' | 'over'

export function fillOf(used: number, total: number): Fill {
  if (used > total) return 'over'
  return used >= total * 0.9 && total > 0 ? 'near' : 'fine'
}
