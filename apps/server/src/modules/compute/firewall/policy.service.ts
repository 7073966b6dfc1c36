import type { FirewallPolicy, firewallPolicies } from '@zhisuan/contract/compute/firewall'
import type { BodyOf } from '@zhisuan/contract/define'
import { fieldTexts } from '@zhisuan/contract/texts'
import type { FirewallPolicy as Policy } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { linesOf } from '../../../platform/lines.ts'
import { defined } from '../defined.ts'
import { read, someOf, unlessUsed, type Reading } from '../network/network.refusals.ts'
import { namesIn, namesOfPlaces } from '../view.ts'
import type { FirewallChanges } from './firewall.changes.ts'
import { policyShape, usersOf } from './firewall.shapes.ts'
import { beside, called, goneReadings, groupsOf, namesLater, pending, policiesOf, reserved, rulesOf, served } from './firewall.views.ts'

/** Rules in an order. */
export function createFirewallPolicies({ tenancy, toChange, making, changing, holding }: FirewallChanges) {
  const policyToChange = (actor: Actor, cloudId: string, id: string) => toChange(actor, cloudId, (cloud) => cloud.network.firewalls.policies.get(id))
  const shownPolicy = async (actor: Actor, cloudId: string, policy: Policy): Promise<FirewallPolicy> => {
    // Read as whoever asked sees it: their projects may be one more by now.
    const view = await tenancy.view(actor, cloudId)
    return policyShape(view, policy, await all(groupsOf(view)))
  }

  return {
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
      yield* linesOf({ items: items(), names: [namesOfPlaces(view), namesLater(groups), namesIn(rulesOf(view, signal))], requestId })
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
      const changes = defined({ name, description, audited, shared })
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
  }
}

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
