import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { createFirewallChanges } from './firewall.changes.ts'
import { hasService } from './firewall.views.ts'
import { createFirewallGroups } from './group.service.ts'
import { createFirewallPolicies } from './policy.service.ts'
import { createFirewallRules } from './rule.service.ts'

export type Firewalls = ReturnType<typeof createFirewalls>

/** Firewalls of a cloud's Neutron, where it has the service: groups before ports, their policies, and the rules of these. */
export function createFirewalls(parts: { db: Db; tenancy: Tenancy }) {
  const changes = createFirewallChanges(parts)
  return {
    async available(actor: Actor, cloudId: string): Promise<{ available: boolean }> {
      const { administrator } = await parts.tenancy.view(actor, cloudId)
      return { available: await hasService(administrator) }
    },
    groups: createFirewallGroups(changes),
    policies: createFirewallPolicies(changes),
    rules: createFirewallRules(changes),
  }
}
