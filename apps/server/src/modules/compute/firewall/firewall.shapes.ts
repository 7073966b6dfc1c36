import type { FirewallGroup, FirewallPolicy, FirewallRule, FirewallStatus } from '@zhisuan/contract/compute/firewall'
import type { FirewallGroup as Group, FirewallPolicy as Policy, FirewallRule as Rule } from '@zhisuan/engines/openstack/network'
import { ownedBy } from '../network/network.shapes.ts'
import type { View } from '../tenancy/tenancy.service.ts'

const statuses: Readonly<Record<string, FirewallStatus>> = {
  ACTIVE: 'active',
  INACTIVE: 'inactive',
  DOWN: 'down',
  CREATED: 'created',
  PENDING_CREATE: 'pending_create',
  PENDING_UPDATE: 'pending_update',
  PENDING_DELETE: 'pending_delete',
  ERROR: 'error',
}
export const firewallStatus = (status: string): FirewallStatus => statuses[status] ?? 'unknown'

/** What FWaaS makes of itself for each project, and keeps the names for. */
export const isDefaultGroup = ({ name }: { readonly name: string }): boolean => name === 'default'
export const isDefaultPolicy = ({ name }: { readonly name: string }): boolean => name === 'default ingress' || name === 'default egress'

/** What is of a project, or everybody's. */
export interface Owned {
  readonly shared: boolean
  readonly projectId: string | null
}
/** What everybody uses is changed by platform-level people only, whosever project it is in. */
export const firewallChangeable = (view: View, one: Owned): boolean => view.everything || (!one.shared && ownedBy(view, one.projectId))

/** `8000-8010` here is `8000:8010` there. */
export const portsThere = (ports: string | null): string | null => ports?.replace('-', ':') ?? null
const portsHere = (ports: string | null): string | null => ports?.replace(':', '-') ?? null

export const groupShape = (view: View, group: Group): FirewallGroup => ({
  id: group.id,
  name: group.name,
  description: group.description,
  status: firewallStatus(group.status),
  enabled: group.enabled,
  shared: group.shared,
  default: isDefaultGroup(group),
  ingress_policy_id: group.ingressPolicyId,
  egress_policy_id: group.egressPolicyId,
  // Of another's, which everybody may see, the ports stay theirs.
  port_ids: ownedBy(view, group.projectId) ? group.portIds : [],
  keystone_project_id: group.projectId,
  changeable: firewallChangeable(view, group),
})

export const policyShape = (view: View, policy: Policy, groups: readonly Group[]): FirewallPolicy => ({
  id: policy.id,
  name: policy.name,
  description: policy.description,
  audited: policy.audited,
  shared: policy.shared,
  default: isDefaultPolicy(policy),
  rule_ids: policy.ruleIds,
  group_ids: usersOf(policy.id, groups).map(({ id }) => id),
  keystone_project_id: policy.projectId,
  changeable: firewallChangeable(view, policy),
})

export const ruleShape = (view: View, rule: Rule, policies: readonly Policy[]): FirewallRule => ({
  id: rule.id,
  name: rule.name,
  description: rule.description,
  action: rule.action,
  protocol: rule.protocol,
  version: rule.version === 6 ? 6 : 4,
  source_address: rule.sourceAddress,
  source_port: portsHere(rule.sourcePort),
  destination_address: rule.destinationAddress,
  destination_port: portsHere(rule.destinationPort),
  enabled: rule.enabled,
  shared: rule.shared,
  policy_ids: holdersOf(rule.id, policies).map(({ id }) => id),
  keystone_project_id: rule.projectId,
  changeable: firewallChangeable(view, rule),
})

/** The firewalls that use a policy. */
export const usersOf = (policyId: string, groups: readonly Group[]): readonly Group[] =>
  groups.filter(({ ingressPolicyId, egressPolicyId }) => ingressPolicyId === policyId || egressPolicyId === policyId)
/** The policies that a rule is in. */
export const holdersOf = (ruleId: string, policies: readonly Policy[]): readonly Policy[] => policies.filter(({ ruleIds }) => ruleIds.includes(ruleId))
