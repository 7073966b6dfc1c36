import {
  firewallGroups,
  firewallPolicies,
  firewallRules,
  type FirewallAction,
  type FirewallRule,
  type FirewallStatus,
} from '@zhisuan/contract/compute/firewall'
import { constants } from '@zhisuan/contract/constants'
import type { TFunction } from 'i18next'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

export const firewallTones: Readonly<Record<FirewallStatus, StatusTone>> = {
  active: 'good',
  inactive: 'rest',
  down: 'rest',
  created: 'rest',
  pending_create: 'busy',
  pending_update: 'busy',
  pending_delete: 'busy',
  error: 'bad',
  unknown: 'warning',
}
/** How often whether there is a firewall service is asked again: as lists are while there is none, or nobody could tell, and then no more. */
export const serviceRefreshMs = (service: { readonly available: boolean } | undefined): number | false =>
  service?.available === true ? false : constants.listRefreshMs

export const actionTones: Readonly<Record<FirewallAction, StatusTone>> = { allow: 'good', deny: 'bad', reject: 'warning' }

/** What a change to any of them makes untrue. */
export const invalidatedByFirewall = [firewallGroups.list, firewallPolicies.list, firewallRules.list] as const

type T = TFunction<'computeFirewall'>
export const called = ({ id, name }: { readonly id: string; readonly name: string }): string => (name === '' ? id : name)

export const protocolText = (t: T, protocol: string | null): string => (protocol === null ? t('any') : protocol.toUpperCase())

/** An address and ports: `10.0.0.0/8 : 443`, and 任意 for what is not said. */
export function sideText(t: T, address: string | null, port: string | null): string {
  return port === null ? (address ?? t('any')) : `${address ?? t('any')} : ${port}`
}

/** Which traffic a rule is about, in a line. */
export const ruleText = (t: T, rule: FirewallRule): string =>
  `IPv${rule.version} ${protocolText(t, rule.protocol)} · ${sideText(t, rule.source_address, rule.source_port)} → ${sideText(t, rule.destination_address, rule.destination_port)}`

/** The same list with one of it elsewhere. */
export function moved<Item>(list: readonly Item[], from: number, to: number): Item[] {
  const rest = list.toSpliced(from, 1)
  const item = list[from]
  return item === undefined ? [...list] : rest.toSpliced(to, 0, item)
}

/** Of what stands in a form, what differs from what was there. */
export function differing<T extends object>(before: T, after: T): Partial<T> {
  // What is left has the names and values of T.
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => value !== before[key as keyof T])) as Partial<T>
}
