import type { Call } from '@zhisuan/contract/define'
import {
  edgeCan,
  edges,
  gateways,
  serviceAgents,
  type Edge,
  type EdgeStatus,
  type Enrolment,
  type Gateway,
  type Label,
  type ServiceAgent,
  type Taint,
  type upgradeStatuses,
} from '@zhisuan/contract/ecrm/edge'
import { regions, sites } from '@zhisuan/contract/ecrm/region'
import { users } from '@zhisuan/contract/ums/user'
import type { TFunction } from 'i18next'
import { allowed } from '../../kit/allowed.ts'
import type { GoneProps } from '../../kit/Gone.tsx'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'

/** How each status looks; what it is called stands under `status` in the messages. */
export const edgeTones: Readonly<Record<EdgeStatus, StatusTone>> = { pending: 'rest', unconfirmed: 'warning', online: 'good', offline: 'bad', unbound: 'rest' }
export const gatewayTones: Readonly<Record<Gateway['status'], StatusTone>> = { active: 'good', deactive: 'rest', rebooting: 'busy', offline: 'bad' }
export const serviceAgentTones: Readonly<Record<ServiceAgent['status'], StatusTone>> = { listening: 'good', offline: 'warning', error: 'bad' }

/** What is no longer true after anything was done to a node: also what menus have, which follows from whether there is one. */
export const invalidatedByEdge: readonly Call[] = [edges.list, edges.get, sites.list, regions.list, users.current]
export const invalidatedBySite: readonly Call[] = [sites.list, regions.list, edges.list, edges.get]
export const invalidatedByGateway: readonly Call[] = [gateways.list, sites.list]
export const invalidatedByServiceAgent: readonly Call[] = [serviceAgents.list]

type Upgrade = NonNullable<Edge['upgrade']>

/** What the numbers of an upgrade mean: the contract's `upgradeStatuses` the other way round. */
export const upgradeNames = {
  1: 'buildDone',
  2: 'upgrading',
  3: 'autoConfirm',
  4: 'manualConfirm',
  5: 'rollingBack',
  20: 'failed',
  40: 'complete',
} as const satisfies Readonly<Record<Upgrade['status'], keyof typeof upgradeStatuses>>

/** An upgrade goes on: another is refused meanwhile. One that waits for somebody's confirmation does not. */
export const isUpgrading = ({ upgrade }: Pick<Edge, 'upgrade'>): boolean => upgrade !== null && [1, 2, 3, 5].includes(upgrade.status)
/** The new version runs and waits for somebody to say that it may stay. */
export const awaitsConfirmation = ({ upgrade }: Pick<Edge, 'upgrade'>): boolean => upgrade?.status === 4

/** Why something cannot be done to a node now, or null where it can. The server refuses by the same rules. */
export function whyNotNode(t: TFunction<'edge'>, action: keyof typeof edgeCan, edge: Pick<Edge, 'status' | 'upgrade' | 'container_count'>): string | null {
  if (action === 'upgrade' && isUpgrading(edge)) return t('upgrade.running')
  const forbidden = allowed(edgeCan, action, edge.status, t(`status.${edge.status}`))
  if (forbidden !== null) return forbidden
  return action === 'delete' && edge.container_count > 0 ? t('delete.containers', { count: edge.container_count }) : null
}

/** `key=value`, or the key alone, as the filter of the list takes it, too. */
export const labelText = ({ key, value }: Label): string => (value === '' ? key : `${key}=${value}`)
/** `key=value:NoSchedule`. */
export const taintText = (taint: Taint): string => `${labelText(taint)}:${taint.effect}`

export const taintEffects: readonly Taint['effect'][] = ['NoSchedule', 'PreferNoSchedule']

/** A label as somebody typed it; whether it is one is for the contract's schema to say. */
export function readLabel(text: string): Label {
  const [key = '', ...rest] = text.split('=')
  return { key: key.trim(), value: rest.join('=').trim() }
}

/** A taint as somebody typed it; without an effect it keeps new containers away. */
export function readTaint(text: string): Taint {
  const effect = taintEffects.find((one) => text.endsWith(`:${one}`))
  return { ...readLabel(effect === undefined ? text : text.slice(0, -effect.length - 1)), effect: effect ?? 'NoSchedule' }
}

/** Whether only the server's own machine reaches the address that the command of an enrolment names. */
export function onlyHere({ url }: Pick<Enrolment, 'url'>): boolean {
  const server = URL.parse(url)?.searchParams.get('server') ?? ''
  return /^(localhost|127\..*|\[::1\])$/.test(URL.parse(server)?.hostname ?? '')
}

/** In the place of a page about a node that is not there. */
export const nodeGone = (t: TFunction<'edge'>): GoneProps => ({ title: t('missing'), to: paths.container.node.list(), back: t('back') })
