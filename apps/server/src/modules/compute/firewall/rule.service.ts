import { firewallRuleProblems, type FirewallRule, type firewallRules } from '@zhisuan/contract/compute/firewall'
import type { BodyOf } from '@zhisuan/contract/define'
import type { FirewallRule as Rule } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { linesOf } from '../../../platform/lines.ts'
import { defined } from '../defined.ts'
import { read, someOf, unlessUsed } from '../network/network.refusals.ts'
import { namesOfPlaces } from '../view.ts'
import type { FirewallChanges } from './firewall.changes.ts'
import { holdersOf, portsThere, ruleShape } from './firewall.shapes.ts'
import { beside, called, namesLater, pending, policiesOf, rulesOf, served } from './firewall.views.ts'

/** What is let through, and what is not. */
export function createFirewallRules({ tenancy, toChange, making, changing }: FirewallChanges) {
  const ruleToChange = (actor: Actor, cloudId: string, id: string) => toChange(actor, cloudId, (cloud) => cloud.network.firewalls.rules.get(id))
  const shownRule = async (actor: Actor, cloudId: string, rule: Rule): Promise<FirewallRule> => {
    const view = await tenancy.view(actor, cloudId)
    return ruleShape(view, rule, await all(policiesOf(view)))
  }

  return {
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
      return shownRule(actor, cloudId, await cloud.network.firewalls.rules.create({ name, description, action: body.action, ...ruleWish(settings), ...owner }))
    },

    async update(actor: Actor, cloudId: string, id: string, body: BodyOf<typeof firewallRules.update>): Promise<FirewallRule> {
      const changeable = await ruleToChange(actor, cloudId, id)
      const cloud = changing(changeable, body)
      // What stays counts as well: addresses may come to be of another version than the rule.
      const fields = firewallRuleProblems({ ...ruleShape(changeable.view, changeable.one, []), ...defined(body) })
      if (fields.length > 0) throw new Refusal('fieldsInvalid', { fields })
      const { name, description, shared } = body
      const changes = { ...ruleWish(body), ...defined({ name, description, shared }) }
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
  }
}

const ruleWish = ({
  action,
  protocol,
  version,
  source_address: sourceAddress,
  source_port,
  destination_address: destinationAddress,
  destination_port,
  enabled,
}: Partial<BodyOf<typeof firewallRules.update>>) =>
  defined({
    action,
    protocol,
    version,
    sourceAddress,
    sourcePort: source_port === undefined ? undefined : portsThere(source_port),
    destinationAddress,
    destinationPort: destination_port === undefined ? undefined : portsThere(destination_port),
    enabled,
  })
