import { fieldTexts } from '@zhisuan/contract/texts'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { FirewallGroup as Group, FirewallPolicy as Policy, FirewallRule as Rule } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import { Refusal } from '../../../platform/errors.ts'
import type { Pages } from '../../../platform/lines.ts'
import type { Reading } from '../network/network.refusals.ts'
import type { View } from '../tenancy/tenancy.service.ts'
import { sharedPagesOf } from '../view.ts'

const isShared = ({ shared }: { readonly shared: boolean }): boolean => shared
/** All that the asker may see, of each of the three. */
export const groupsOf = (view: View, signal?: AbortSignal): Pages<Group> =>
  sharedPagesOf<Group>(view, (cloud) => cloud.network.firewalls.groups.list({}, signal), isShared)
export const policiesOf = (view: View, signal?: AbortSignal): Pages<Policy> =>
  sharedPagesOf<Policy>(view, (cloud) => cloud.network.firewalls.policies.list({}, signal), isShared)
export const rulesOf = (view: View, signal?: AbortSignal): Pages<Rule> =>
  sharedPagesOf<Rule>(view, (cloud) => cloud.network.firewalls.rules.list({}, signal), isShared)
/** What a list needs beside it: who waits for it hears of a failure. */
export const beside = <T>(pages: Pages<T>): Promise<T[]> => {
  const list = all(pages)
  list.catch(() => undefined)
  return list
}
/** What each is called, for the `names` of a list's lines, once they are all read. */
export async function* namesLater(list: Promise<readonly { readonly id: string; readonly name: string }[]>): AsyncGenerator<(readonly [string, string])[]> {
  yield (await list).map(({ id, name }) => [id, name] as const)
}

/** Whether the cloud's Neutron has the extension for firewalls. */
export const hasService = async (cloud: OpenStack, signal?: AbortSignal): Promise<boolean> => (await cloud.network.extensions(signal)).has('fwaas_v2')
/** @throws Refusal 93190 where the cloud has no firewall service */
export async function served({ administrator }: View, signal?: AbortSignal): Promise<void> {
  if (!(await hasService(administrator, signal))) throw new Refusal('computeFirewallMissing')
}

/** By its name; of one that has none, by its id. */
export const called = ({ id, name }: { readonly id: string; readonly name: string }): string => (name === '' ? id : name)

/** Of what somebody deleted since it was looked up. */
export const goneReadings: readonly Reading[] = [{ kind: 'not_found', refusal: 'notFound' }]
/** Of what the cloud is still at work on. */
export const pending = /is in PENDING_/i
/** Of names and things that are the service's own. */
export const reserved: readonly Reading[] = [
  { kind: 'busy', says: /is a reserved name/i, refusal: 'fieldsInvalid', field: 'name', message: fieldTexts.firewallReserved },
  { kind: 'busy', says: /default object|default firewall group/i, refusal: 'computeFirewallDefault' },
]
