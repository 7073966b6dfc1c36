import { firewallCan, type FirewallGroup, type firewallGroups } from '@zhisuan/contract/compute/firewall'
import type { BodyOf } from '@zhisuan/contract/define'
import { fieldTexts } from '@zhisuan/contract/texts'
import type { FirewallGroup as Group } from '@zhisuan/engines/openstack/network'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { linesOf, mapped } from '../../../platform/lines.ts'
import { defined } from '../defined.ts'
import { read, type Reading } from '../network/network.refusals.ts'
import { namesIn, namesOfPlaces } from '../view.ts'
import type { FirewallChanges } from './firewall.changes.ts'
import { firewallStatus, groupShape, isDefaultGroup } from './firewall.shapes.ts'
import { goneReadings, groupsOf, pending, policiesOf, reserved, served } from './firewall.views.ts'

/** What stands before ports: two policies, one for each direction. */
export function createFirewallGroups({ tenancy, toChange, making, changing, holding }: FirewallChanges) {
  const groupToChange = (actor: Actor, cloudId: string, id: string) => toChange(actor, cloudId, (cloud) => cloud.network.firewalls.groups.get(id))

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
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      await served(view, signal)
      yield* linesOf({
        items: mapped(groupsOf(view, signal), (group) => groupShape(view, group)),
        names: [namesOfPlaces(view), namesIn(policiesOf(view, signal))],
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
      const { name, description, enabled, ingress_policy_id: ingressPolicyId, egress_policy_id: egressPolicyId, shared } = body
      const changes = defined({ name, description, enabled, ingressPolicyId, egressPolicyId, shared })
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
  }
}

/** @throws Refusal 93192 of what the cloud is still at work on: it would refuse that itself */
function refusePending({ status }: Group): void {
  const allowed: readonly string[] = firewallCan.update
  if (!allowed.includes(firewallStatus(status))) throw new Refusal('computeFirewallPending')
}

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
