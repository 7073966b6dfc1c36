import {
  defaultGroup,
  isIcmp,
  kindOfGroup,
  securityGroupCan,
  type ComputeSecurityGroup,
  type ComputeSecurityRule,
  type computeSecurityGroups,
  type RuleWish,
} from '@zhisuan/contract/compute/security-group'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { ruleTemplates, type SecurityRule } from '@zhisuan/contract/nextstack/security-group'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { SecurityGroup, SecurityGroupRule } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { createOneAtATimeEverywhere } from '../../../platform/oneAtATime.ts'
import { linesOf } from '../../../platform/lines.ts'
import { read, someOf, unlessUsed, type Reading } from '../network/network.refusals.ts'
import { portsOf, usersNamed } from '../network/network.views.ts'
import { ownedBy, project } from '../network/network.shapes.ts'
import type { Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesOfPlaces, pagesOf, readOne, type Changeable } from '../view.ts'

/** Of a port all that counts here. */
const portFields = ['id', 'network_id', 'mac_address', 'project_id', 'security_groups'] as const

export function createSecurityGroups({ db, tenancy }: { db: Db; tenancy: Tenancy }) {
  const oneAtATime = createOneAtATimeEverywhere(db)

  async function toChange(actor: Actor, cloudId: string, id: string): Promise<Changeable<SecurityGroup> & { view: View }> {
    const view = await tenancy.viewForChange(actor, cloudId)
    const changeable = await changeableOf(view, (cloud) => cloud.network.securityGroups.get(id))
    if (!ownedBy(view, changeable.one.projectId)) throw new Refusal('notFound')
    return { ...changeable, view }
  }
  const refuseDefault = (allowed: readonly string[], group: SecurityGroup, field?: string): void => {
    if (!allowed.includes(kindOfGroup(group))) throw new Refusal('computeSecurityGroupDefault', field === undefined ? {} : { field })
  }
  // Older clouds do not know this filter and tell all ports.
  const portsGuarded = async (cloud: OpenStack, id: string) =>
    (await all(cloud.network.ports.list({ security_groups: id }))).filter(({ securityGroupIds }) => securityGroupIds.includes(id))
  /** As it is now. */
  const shown = async (view: View, cloud: OpenStack, group: SecurityGroup): Promise<ComputeSecurityGroup> =>
    shape(view, group, (await portsGuarded(cloud, group.id)).filter(({ projectId }) => ownedBy(view, projectId)).length)

  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const counts = countsOf(portsOf(view, { fields: portFields }, signal))
      counts.catch(() => undefined)
      async function* items(): AsyncGenerator<ComputeSecurityGroup[]> {
        for await (const page of pagesOf(view, (cloud) => cloud.network.securityGroups.list({}, signal))) {
          const known = await counts
          yield page.map((group) => shape(view, group, known.get(group.id) ?? 0))
        }
      }
      yield* linesOf({ items: items(), names: [namesOfPlaces(view)], requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ResponseOf<typeof computeSecurityGroups.get>> {
      const view = await tenancy.view(actor, cloudId)
      const group = await readOne(view, (cloud) => cloud.network.securityGroups.get(id))
      const cloud = view.places.find(({ keystoneId }) => keystoneId === group.projectId)?.cloud ?? view.administrator
      const remotes = remoteIds(group)
      const [one, named] = await Promise.all([
        shown(view, cloud, group),
        remotes.length === 0 ? [] : all(cloud.network.securityGroups.list({ id: remotes, fields: ['id', 'name'] })),
      ])
      return {
        ...one,
        rules: group.rules.map(ruleShape),
        names: { ...namesOfPlaces(view), ...Object.fromEntries(named.map((other) => [other.id, other.name])) },
      }
    },

    /** With all rules of its template, or not at all. */
    async create(actor: Actor, cloudId: string, body: BodyOf<typeof computeSecurityGroups.create>): Promise<ComputeSecurityGroup> {
      if (body.name === defaultGroup) throw new Refusal('computeSecurityGroupDefault', { field: 'name' })
      const place = await tenancy.placeForMaking(actor, cloudId, body.project_id, 'free')
      const { securityGroups, securityGroupRules } = place.cloud.network
      const group = await read(securityGroups.create({ name: body.name, description: body.description }), groupReadings)
      try {
        for (const rule of ruleTemplates[body.template].flatMap(wishesOf))
          await read(securityGroupRules.create({ securityGroupId: group.id, ...rule }), groupReadings)
        return shape(await tenancy.view(actor, cloudId), await securityGroups.get(group.id), 0)
      } catch (error) {
        await securityGroups.delete(group.id).catch(() => undefined)
        throw error
      }
    },

    async update(actor: Actor, cloudId: string, id: string, { name, description }: BodyOf<typeof computeSecurityGroups.update>): Promise<ComputeSecurityGroup> {
      const { one, cloud, view } = await toChange(actor, cloudId, id)
      const renamed = name !== undefined && name !== one.name
      if (renamed) refuseDefault(securityGroupCan.rename, one, 'name')
      if (renamed && name === defaultGroup) throw new Refusal('computeSecurityGroupDefault', { field: 'name' })
      return shown(view, cloud, await cloud.network.securityGroups.update(id, { ...(renamed && { name }), ...(description !== undefined && { description }) }))
    },

    async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
      const { one, cloud, view } = await toChange(actor, cloudId, id)
      refuseDefault(securityGroupCan.delete, one)
      await unlessUsed(cloud.network.securityGroups.delete(id), async () => {
        const users = await portsGuarded(cloud, id)
        return users.length === 0
          ? null
          : new Refusal('computeSecurityGroupInUse', { values: { count: users.length, names: someOf(await usersNamed(view, cloud, users)) } })
      })
    },

    async addRule(actor: Actor, cloudId: string, id: string, rule: RuleWish): Promise<ComputeSecurityRule> {
      const { cloud } = await toChange(actor, cloudId, id)
      const wish = {
        securityGroupId: id,
        direction: rule.direction,
        version: rule.version,
        description: rule.description,
        ...given('protocol', rule.protocol),
        ...given('portFrom', rule.port_from ?? rule.icmp_type),
        // One port is a range of one.
        ...given('portTo', rule.port_from === null ? rule.icmp_code : (rule.port_to ?? rule.port_from)),
        ...given('remoteCidr', rule.remote_cidr),
        ...given('remoteGroupId', rule.remote_group_id),
      }
      // Neutron looks for the same rule and then makes it: two at once would make it twice.
      return oneAtATime(`rules ${cloudId} ${id}`, async () => ruleShape(await read(cloud.network.securityGroupRules.create(wish), ruleReadings)))
    },

    async removeRule(actor: Actor, cloudId: string, id: string, ruleId: string): Promise<void> {
      const { one, cloud } = await toChange(actor, cloudId, id)
      if (!one.rules.some((rule) => rule.id === ruleId)) throw new Refusal('notFound')
      await cloud.network.securityGroupRules.delete(ruleId)
    },
  }
}
export type SecurityGroups = ReturnType<typeof createSecurityGroups>

const given = <K extends string, T>(key: K, value: T | null): { [P in K]?: T } => (value === null ? {} : { [key]: value }) as { [P in K]?: T }

async function countsOf(ports: ReturnType<typeof portsOf>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for await (const page of ports) for (const { securityGroupIds } of page) for (const id of securityGroupIds) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

const groupReadings: readonly Reading[] = [
  { kind: 'exhausted', refusal: 'computeSecurityGroupQuota', field: 'name' },
  { kind: 'conflict', says: /default/i, refusal: 'computeSecurityGroupDefault', field: 'name' },
]
const ruleReadings: readonly Reading[] = [
  { kind: 'conflict', says: /rule already exists/i, refusal: 'computeRuleExists', field: 'protocol' },
  { kind: 'exhausted', refusal: 'computeSecurityGroupQuota', field: 'protocol' },
  { kind: 'not_found', says: /security group/i, refusal: 'computeGroupMissing', field: 'remote_group_id' },
  { kind: 'invalid', says: /remote_group_id/i, refusal: 'computeGroupMissing', field: 'remote_group_id' },
]

/** A rule of the first family's, whose ports are several ranges, as rules of Neutron. */
const wishesOf = ({ direction, protocol, ports, remote, description }: SecurityRule) =>
  ports.split(',').map((range) => {
    const [from = '', to = from] = range.split('-')
    return {
      direction,
      remoteCidr: remote,
      description,
      ...(protocol !== 'any' && { protocol }),
      ...(from !== '' && { portFrom: Number(from), portTo: Number(to) }),
    }
  })

const remoteIds = (group: SecurityGroup): string[] => [...new Set(group.rules.flatMap(({ remoteGroupId }) => (remoteGroupId === null ? [] : [remoteGroupId])))]

const shape = (view: View, group: SecurityGroup, ports: number): ComputeSecurityGroup => ({
  id: group.id,
  name: group.name,
  description: group.description,
  rule_count: group.rules.length,
  port_count: ports,
  remote_group_ids: remoteIds(group),
  keystone_project_id: project(group.projectId),
  changeable: ownedBy(view, group.projectId),
})

// What older clouds and newer ones call the same.
const protocolNames: Readonly<Record<string, string>> = { 'ipv6-icmp': 'icmpv6', any: '' }
const ruleShape = ({
  id,
  direction,
  version,
  protocol: said,
  portFrom,
  portTo,
  remoteCidr,
  remoteGroupId,
  description,
}: SecurityGroupRule): ComputeSecurityRule => {
  const called = protocolNames[said ?? ''] ?? said
  const protocol = called === '' ? null : called
  const icmp = isIcmp(protocol)
  return {
    id,
    direction,
    version: version === 6 ? 6 : 4,
    protocol,
    port_from: icmp ? null : portFrom,
    port_to: icmp ? null : portTo,
    icmp_type: icmp ? portFrom : null,
    icmp_code: icmp ? portTo : null,
    remote_cidr: remoteCidr,
    remote_group_id: remoteGroupId,
    description,
  }
}
