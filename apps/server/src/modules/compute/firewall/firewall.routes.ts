import { firewallGroups, firewallPolicies, firewallRules, firewallServices } from '@zhisuan/contract/compute/firewall'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { Firewalls } from './firewall.service.ts'

export const firewallRoutes = ({ available, groups, policies, rules }: Firewalls): Handler[] => [
  handle(firewallServices.get, ({ actor, params }) => available(actor, params.cloud_id)),
  handleLines(firewallGroups.list, ({ actor, params, request, signal }) => groups.list(actor, params.cloud_id, request.id, signal)),
  handle(firewallGroups.create, ({ actor, params, body }) => groups.create(actor, params.cloud_id, body)),
  handle(firewallGroups.update, ({ actor, params, body }) => groups.update(actor, params.cloud_id, params.id, body)),
  handle(firewallGroups.addPorts, ({ actor, params, body }) => groups.addPorts(actor, params.cloud_id, params.id, body)),
  handle(firewallGroups.removePorts, ({ actor, params, body }) => groups.removePorts(actor, params.cloud_id, params.id, body)),
  handle(firewallGroups.delete, ({ actor, params }) => groups.delete(actor, params.cloud_id, params.id)),
  handleLines(firewallPolicies.list, ({ actor, params, request, signal }) => policies.list(actor, params.cloud_id, request.id, signal)),
  handle(firewallPolicies.create, ({ actor, params, body }) => policies.create(actor, params.cloud_id, body)),
  handle(firewallPolicies.update, ({ actor, params, body }) => policies.update(actor, params.cloud_id, params.id, body)),
  handle(firewallPolicies.insertRule, ({ actor, params, body }) => policies.insertRule(actor, params.cloud_id, params.id, body)),
  handle(firewallPolicies.removeRule, ({ actor, params, body }) => policies.removeRule(actor, params.cloud_id, params.id, body)),
  handle(firewallPolicies.setRules, ({ actor, params, body }) => policies.setRules(actor, params.cloud_id, params.id, body)),
  handle(firewallPolicies.delete, ({ actor, params }) => policies.delete(actor, params.cloud_id, params.id)),
  handleLines(firewallRules.list, ({ actor, params, request, signal }) => rules.list(actor, params.cloud_id, request.id, signal)),
  handle(firewallRules.create, ({ actor, params, body }) => rules.create(actor, params.cloud_id, body)),
  handle(firewallRules.update, ({ actor, params, body }) => rules.update(actor, params.cloud_id, params.id, body)),
  handle(firewallRules.delete, ({ actor, params }) => rules.delete(actor, params.cloud_id, params.id)),
]
