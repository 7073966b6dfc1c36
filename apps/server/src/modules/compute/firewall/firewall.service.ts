import {
  firewallCan,
  firewallRuleProblems,
  type FirewallGroup,
  type FirewallPolicy,
  type FirewallRule,
  type firewallGroups,
  type firewallPolicies,
  type firewallRules,
} from '@zhisuan/contract/compute/firewall'
import type { BodyOf } from '@zhisuan/contract/define'
import { fieldTexts } from '@zhisuan/contract/texts'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { FirewallGroup as Group, FirewallPolicy as Policy, FirewallRule as Rule } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { linesOf, mapped, type Pages } from '../../../platform/lines.ts'
import { read, someOf, unlessUsed, type Reading } from '../network/network.refusals.ts'
import type { Place, Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOne, namesOfPlaces, sharedPagesOf, type Changeable } from '../view.ts'
import {
  firewallChangeable,
  firewallStatus,
  groupShape,
  holdersOf,
  isDefaultGroup,
  policyShape,
  portsThere,
  ruleShape,
  usersOf,
  type Owned,
} from './firewall.shapes.ts'
import { holdFirewall } from './firewall.store.ts'

const isShared = ({ shared }: { readonly shared: boolean }): boolean => shared
const groupsOf = (view: View, signal?: AbortSignal): Pages<Group> =>
  sharedPagesOf<Group>(view, (cloud) => cloud.network.firewalls.groups.list({}, signal), isShared)
const policiesOf = (view: View, signal?: AbortSignal): Pages<Policy> =>
  sharedPagesOf<Policy>(view, (cloud) => cloud.network.firewalls.policies.list({}, signal), isShared)
const rulesOf = (view: View, signal?: AbortSignal): Pages<Rule> =>
  sharedPagesOf<Rule>(view, (cloud) => cloud.network.firewalls.rules.list({}, signal), isShared)
const namesOf = (pages: Pages<{ readonly id: string; readonly name: string }>): Pages<readonly [string, string]> =>
  mapped(pages, ({ id, name }) => [id, name] as const)
/** What a list needs beside it: who waits for it hears of a failure. */
const beside = <T>(pages: Pages<T>): Promise<T[]> => {
  const list = all(pages)
  list.catch(() => undefined)
  return list
}
async function* namesLater(list: Promise<readonly { readonly id: string; readonly name: string }[]>): AsyncGenerator<(readonly [string, string])[]> {
  yield (await list).map(({ id, name }) => [id, name] as const)
}

const hasService = async (cloud: OpenStack, signal?: AbortSignal): Promise<boolean> => (await cloud.network.extensions(signal)).has('fwaas_v2')
/** @throws Refusal 93190 where the cloud has no firewall service */
async function served({ administrator }: View, signal?: AbortSignal): Promise<void> {
  if (!(await hasService(administrator, signal))) throw new Refusal('computeFirewallMissing')
}

export function createFirewalls({ db, tenancy }: { db: Db; tenancy: Tenancy }) {
  /** @throws Refusal notFound, noPermission of what is everybody's or another's, 93190 */
  async function toChange<T extends Owned>(actor: Actor, cloudId: string, get: (cloud: OpenStack) => Promise<T>): Promise<Changeable<T> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOne(view, get, ({ projectId }) => projectId).catch(async (error: unknown) => {
      if (error instanceof Refusal && error.refusal === 'notFound') await served(view)
      throw error
    })
    if (!firewallChangeable(view, changeable.one)) throw new Refusal('noPermission')
    return { ...changeable, view }
  }
  const groupToChange = (actor: Actor, cloudId: string, id: string) => toChange(actor, cloudId, (cloud) => cloud.network.firewalls.groups.get(id))
  const policyToChange = (actor: Actor, cloudId: string, id: string) => toChange(actor, cloudId, (cloud) => cloud.network.firewalls.policies.get(id))
  const ruleToChange = (actor: Actor, cloudId: string, id: string) => toChange(actor, cloudId, (cloud) => cloud.network.firewalls.rules.get(id))

  /**
   * Where something is made, and by whom: what everybody may use, by the cloud's administrator in the asker's project.
   * @throws Refusal 93137, 93190
   */
  async function making(
    actor: Actor,
    cloudId: string,
    body: { shared: boolean; project_id: string | null },
  ): Promise<{ cloud: OpenStack; place: Place; owner: { shared?: true; projectId?: string } }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    if (body.shared && !view.everything) throw new Refusal('computePlatformOnly', { field: 'shared' })
    await served(view)
    const place = await tenancy.placeForMaking(actor, cloudId, body.project_id)
    return body.shared ? { cloud: view.administrator, place, owner: { shared: true, projectId: place.keystoneId } } : { cloud: place.cloud, place, owner: {} }
  }
  /** @throws Refusal 93137 of a tenant who wants to say whether everybody may use it */
  function changing({ view, cloud }: { view: View; cloud: OpenStack }, { shared }: { shared?: boolean | undefined }): OpenStack {
    if (shared === undefined) return cloud
    if (!view.everything) throw new Refusal('computePlatformOnly', { field: 'shared' })
    return view.administrator
  }
  /** @param act asks the cloud only: it holds a connection of the database, and as many as there are would wait for one more */
  const holding = <T>(id: string, how: 'alone' | 'together', refusal: 'computeFirewallPending' | 'changedMeanwhile', act: () => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      if (!(await holdFirewall(tx, id, how))) throw new Refusal(refusal)
      return act()
    })

  const shownPolicy = async (actor: Actor, cloudId: string, policy: Policy): Promise<FirewallPolicy> => {
    // Read as whoever asked sees it: their projects may be one more by now.
    const view = await tenancy.view(actor, cloudId)
    return policyShape(view, policy, await all(groupsOf(view)))
  }
  const shownRule = async (actor: Actor, cloudId: string, rule: Rule): Promise<FirewallRule> => {
    const view = await tenancy.view(actor, cloudId)
    return ruleShape(view, rule, await all(policiesOf(view)))
  }
  /** @param change what the ports are then, of those that it has */
  async function setPorts(
    actor: Actor,
    cloudId: string,
    id: string,
    asked: readonly string[],
    change: (now: readonly string[]) => readonly string[],
  ): Promise<FirewallGroup> {
    const { cloud, view } = await groupToChange(actor, cloudId, id)
    return holding(id, 'alone', 'computeFirewallPending', async () => {
      const now = await read(cloud.network.firewalls.groups.get(id), goneReadings)
      refusePending(now)
      return groupShape(
        view,
        await read(cloud.network.firewalls.groups.update(id, { portIds: change(now.portIds) }), [...groupReadings({}), ...portReadings(asked)]),
      )
    })
  }

  return {
    async available(actor: Actor, cloudId: string): Promise<{ available: boolean }> {
      const { administrator } = await tenancy.view(actor, cloudId)
      return { available: await hasService(administrator) }
    },

    groups: {
      async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
        const view = await tenancy.view(actor, cloudId)
        await served(view, signal)
        yield* linesOf({
          items: mapped(groupsOf(view, signal), (group) => groupShape(view, group)),
          names: [namesOfPlaces(view), namesOf(policiesOf(view, signal))],
          requestId,
        })
      },

      async create(actor: Actor, cloudId: string, body: BodyOf<typeof firewallGroups.create>): Promise<FirewallGroup> {
        const { cloud, owner } = await making(actor, cloudId, body)
        const { name, description, enabled, ingress_policy_id: ingressPolicyId, egress_policy_id: egressPolicyId, port_ids: portIds } = body
        const group = await read(cloud.network.firewalls.groups.create({ name, description, enabled, ingressPolicyId, egressPolicyId, portIds, ...owner }), [
          ...groupReadings(body),
          ...portReadings(portIds),
        ])
        return groupShape(await tenancy.view(actor, cloudId), group)
      },

      async update(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof firewallGroups.update>): Promise<FirewallGroup> {
        const { one, view, ...changeable } = await groupToChange(actor, cloudId, id)
        const cloud = changing({ view, ...changeable }, body)
        refusePending(one)
        const { name, description, enabled, ingress_policy_id, egress_policy_id, shared } = body
        const changes = {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          ...(enabled !== undefined && { enabled }),
          ...(ingress_policy_id !== undefined && { ingressPolicyId: ingress_policy_id }),
          ...(egress_policy_id !== undefined && { egressPolicyId: egress_policy_id }),
          ...(shared !== undefined && { shared }),
        }
        return groupShape(view, await read(cloud.network.firewalls.groups.update(id, changes), groupReadings(body)))
      },

      addPorts: (actor: Actor, cloudId: string, id: string, { port_ids }: BodyOf<typeof firewallGroups.addPorts>): Promise<FirewallGroup> =>
        setPorts(actor, cloudId, id, port_ids, (now) => [...new Set([...now, ...port_ids])]),
      removePorts: (actor: Actor, cloudId: string, id: string, { port_ids }: BodyOf<typeof firewallGroups.removePorts>): Promise<FirewallGroup> =>
        setPorts(actor, cloudId, id, [], (now) => now.filter((port) => !port_ids.includes(port))),

      async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
        const { one, cloud } = await groupToChange(actor, cloudId, id)
        if (isDefaultGroup(one)) throw new Refusal('computeFirewallDefault')
        refusePending(one)
        const values = { count: one.portIds.length }
        const allowed: readonly string[] = firewallCan.delete
        if (one.portIds.length > 0 || !allowed.includes(firewallStatus(one.status))) throw new Refusal('computeFirewallActive', { values })
        await read(cloud.network.firewalls.groups.delete(id), [
          {
            kind: 'busy',
            says: /still active/i,
            refusal: 'computeFirewallActive',
            values: async () => ({ count: (await cloud.network.firewalls.groups.get(id)).portIds.length }),
          },
          { kind: 'busy', says: pending, refusal: 'computeFirewallPending' },
        ])
      },
    },

    policies: {
      async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
        const view = await tenancy.view(actor, cloudId)
        await served(view, signal)
        const groups = beside(groupsOf(view, signal))
        async function* items(): AsyncGenerator<FirewallPolicy[]> {
          for await (const page of policiesOf(view, signal)) {
            const known = await groups
            yield page.map((policy) => policyShape(view, policy, known))
          }
        }
        yield* linesOf({ items: items(), names: [namesOfPlaces(view), namesLater(groups), namesOf(rulesOf(view, signal))], requestId })
      },

      async create(actor: Actor, cloudId: string, body: BodyOf<typeof firewallPolicies.create>): Promise<FirewallPolicy> {
        const { cloud, owner } = await making(actor, cloudId, body)
        const { name, description, audited, rule_ids: ruleIds } = body
        return shownPolicy(
          actor,
          cloudId,
          await read(cloud.network.firewalls.policies.create({ name, description, audited, ruleIds, ...owner }), policyReadings('rule_ids')),
        )
      },

      async update(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof firewallPolicies.update>): Promise<FirewallPolicy> {
        const changeable = await policyToChange(actor, cloudId, id)
        const cloud = changing(changeable, body)
        const { name, description, audited, shared } = body
        const changes = {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          ...(audited !== undefined && { audited }),
          ...(shared !== undefined && { shared }),
        }
        return shownPolicy(actor, cloudId, await read(cloud.network.firewalls.policies.update(id, changes), policyReadings('shared')))
      },

      async insertRule(actor: Actor, cloudId: string, id: string, { rule_id, after }: BodyOf<typeof firewallPolicies.insertRule>): Promise<FirewallPolicy> {
        const { cloud } = await policyToChange(actor, cloudId, id)
        const policy = await holding(id, 'together', 'changedMeanwhile', () =>
          read(cloud.network.firewalls.policies.insertRule(id, rule_id, after === null ? null : { after }), [
            { kind: 'conflict', says: /already associated/i, refusal: 'fieldsInvalid', field: 'rule_id', message: fieldTexts.firewallRuleTwice },
            // The one behind which it was to stand.
            { kind: 'invalid', says: /is not associated with/i, refusal: 'changedMeanwhile' },
            ...policyReadings('rule_id'),
          ]),
        )
        return shownPolicy(actor, cloudId, policy)
      },

      async removeRule(actor: Actor, cloudId: string, id: string, { rule_id }: BodyOf<typeof firewallPolicies.removeRule>): Promise<FirewallPolicy> {
        const { cloud } = await policyToChange(actor, cloudId, id)
        const policy = await holding(id, 'together', 'changedMeanwhile', () =>
          read(cloud.network.firewalls.policies.removeRule(id, rule_id), [
            { kind: 'invalid', says: /is not associated with/i, refusal: 'computeFirewallRuleMissing', field: 'rule_id' },
            ...policyReadings('rule_id'),
          ]),
        )
        return shownPolicy(actor, cloudId, policy)
      },

      async setRules(actor: Actor, cloudId: string, id: string, { rule_ids: ruleIds, was }: BodyOf<typeof firewallPolicies.setRules>): Promise<FirewallPolicy> {
        const { cloud } = await policyToChange(actor, cloudId, id)
        const policy = await holding(id, 'alone', 'changedMeanwhile', async () => {
          const now = await read(cloud.network.firewalls.policies.get(id), goneReadings)
          if (now.ruleIds.join() !== was.join()) throw new Refusal('changedMeanwhile')
          return read(cloud.network.firewalls.policies.update(id, { ruleIds }), policyReadings('rule_ids'))
        })
        return shownPolicy(actor, cloudId, policy)
      },

      async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
        const { cloud, view } = await policyToChange(actor, cloudId, id)
        await unlessUsed(cloud.network.firewalls.policies.delete(id), async () => {
          const users = usersOf(id, await all(groupsOf(view)))
          return users.length === 0 ? null : new Refusal('computeFirewallPolicyInUse', { values: { names: someOf(users.map(called)) } })
        })
      },
    },

    rules: {
      async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
        const view = await tenancy.view(actor, cloudId)
        await served(view, signal)
        const policies = beside(policiesOf(view, signal))
        async function* items(): AsyncGenerator<FirewallRule[]> {
          for await (const page of rulesOf(view, signal)) {
            const known = await policies
            yield page.map((rule) => ruleShape(view, rule, known))
          }
        }
        yield* linesOf({ items: items(), names: [namesOfPlaces(view), namesLater(policies)], requestId })
      },

      async create(actor: Actor, cloudId: string, body: BodyOf<typeof firewallRules.create>): Promise<FirewallRule> {
        const { cloud, owner } = await making(actor, cloudId, body)
        const { name, description, ...settings } = body
        return shownRule(
          actor,
          cloudId,
          await cloud.network.firewalls.rules.create({ name, description, action: body.action, ...ruleWish(settings), ...owner }),
        )
      },

      async update(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof firewallRules.update>): Promise<FirewallRule> {
        const changeable = await ruleToChange(actor, cloudId, id)
        const cloud = changing(changeable, body)
        // What stays counts as well: addresses may come to be of another version than the rule.
        const fields = firewallRuleProblems({ ...ruleShape(changeable.view, changeable.one, []), ...defined(body) })
        if (fields.length > 0) throw new Refusal('fieldsInvalid', { fields })
        const { name, description, shared } = body
        const changes = {
          ...ruleWish(body),
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          ...(shared !== undefined && { shared }),
        }
        return shownRule(
          actor,
          cloudId,
          await read(cloud.network.firewalls.rules.update(id, changes), [{ kind: 'busy', says: pending, refusal: 'computeFirewallPending' }]),
        )
      },

      async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
        const { cloud, view } = await ruleToChange(actor, cloudId, id)
        await unlessUsed(cloud.network.firewalls.rules.delete(id), async () => {
          const holders = holdersOf(id, await all(policiesOf(view)))
          return holders.length === 0 ? null : new Refusal('computeFirewallRuleInUse', { values: { names: someOf(holders.map(called)) } })
        })
      },
    },
  }
}
export type Firewalls = ReturnType<typeof createFirewalls>

const called = ({ id, name }: { readonly id: string; readonly name: string }): string => (name === '' ? id : name)

/** Without what is undefined. */
const defined = <T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  // What is left has none of the values that the type takes out.
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }

/** @throws Refusal 93192 of what the cloud is still at work on: it would refuse that itself */
function refusePending({ status }: Group): void {
  const allowed: readonly string[] = firewallCan.update
  if (!allowed.includes(firewallStatus(status))) throw new Refusal('computeFirewallPending')
}

const ruleWish = ({
  action,
  protocol,
  version,
  source_address,
  source_port,
  destination_address,
  destination_port,
  enabled,
}: Partial<BodyOf<typeof firewallRules.update>>) => ({
  ...(action !== undefined && { action }),
  ...(protocol !== undefined && { protocol }),
  ...(version !== undefined && { version }),
  ...(source_address !== undefined && { sourceAddress: source_address }),
  ...(source_port !== undefined && { sourcePort: portsThere(source_port) }),
  ...(destination_address !== undefined && { destinationAddress: destination_address }),
  ...(destination_port !== undefined && { destinationPort: portsThere(destination_port) }),
  ...(enabled !== undefined && { enabled }),
})

/** Of what somebody deleted since it was looked up. */
const goneReadings: readonly Reading[] = [{ kind: 'not_found', refusal: 'notFound' }]
const pending = /is in PENDING_/i
const reserved: readonly Reading[] = [
  { kind: 'busy', says: /is a reserved name/i, refusal: 'fieldsInvalid', field: 'name', message: fieldTexts.firewallReserved },
  { kind: 'busy', says: /default object|default firewall group/i, refusal: 'computeFirewallDefault' },
]
const groupReadings = ({
  ingress_policy_id,
  egress_policy_id,
}: {
  ingress_policy_id?: string | null | undefined
  egress_policy_id?: string | null | undefined
}): readonly Reading[] => [
  { kind: 'busy', says: pending, refusal: 'computeFirewallPending' },
  ...reserved,
  ...(
    [
      ['ingress_policy_id', ingress_policy_id],
      ['egress_policy_id', egress_policy_id],
    ] as const
  ).flatMap(([field, id]): Reading[] =>
    typeof id === 'string'
      ? [{ kind: 'not_found', says: new RegExp(`firewall policy ${id.replaceAll('.', '\\.')} `, 'i'), refusal: 'computeFirewallPolicyMissing', field }]
      : [],
  ),
]
const portReadings = (asked: readonly string[]): readonly Reading[] =>
  asked.length === 0
    ? []
    : [
        { kind: 'not_found', says: /\bport\b/i, refusal: 'computePortMissing', field: 'port_ids' },
        { kind: 'busy', says: /invalid project/i, refusal: 'fieldsInvalid', field: 'port_ids', message: fieldTexts.firewallPortProject },
        { kind: 'busy', says: /not supported by firewall driver/i, refusal: 'fieldsInvalid', field: 'port_ids', message: fieldTexts.firewallPortUnsupported },
        { kind: 'busy', says: /of firewall group is invalid/i, refusal: 'fieldsInvalid', field: 'port_ids', message: fieldTexts.firewallPortKind },
        { kind: 'conflict', says: /already associated/i, refusal: 'fieldsInvalid', field: 'port_ids', message: fieldTexts.firewallPortTaken },
      ]
const policyReadings = (field: string): readonly Reading[] => [
  { kind: 'busy', says: pending, refusal: 'computeFirewallPending' },
  ...reserved,
  // Either of a policy that is to be everybody's and has rules that are not.
  { kind: 'busy', says: /Before sharing firewall policy/i, refusal: 'fieldsInvalid', field, message: fieldTexts.firewallRuleNotShared },
  { kind: 'not_found', says: /could not find the firewall rule/i, refusal: 'fieldsInvalid', field, message: fieldTexts.firewallRuleNotShared },
  { kind: 'busy', says: /is not shared and belongs to/i, refusal: 'computeFirewallRuleMissing', field },
  { kind: 'not_found', says: /firewall rule/i, refusal: 'computeFirewallRuleMissing', field },
  // Of a policy that is to be everybody's no more, while another project's firewall uses it.
  { kind: 'busy', says: /is being used/i, refusal: 'stateForbids', field },
]
