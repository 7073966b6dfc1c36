import { addressText } from '@zhisuan/contract/ip'
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Sql } from '../../../platform/db/database.ts'
import type { VpcFacts } from './vpc.plan.ts'

/** What a network's plan is made of, all of one moment. What leaves, or is to lead nowhere, is left out. */
export async function factsOf(on: Sql, vpcId: string): Promise<VpcFacts | undefined> {
  const row = await on
    .selectFrom('vpcs')
    .where('vpcs.id', '=', vpcId)
    .select((of) => [
      'vpcs.id',
      'vpcs.cloud_id',
      'vpcs.engine_name',
      'vpcs.name',
      'vpcs.cidr',
      'vpcs.dhcp',
      'vpcs.dns_domain',
      jsonArrayFrom(
        of
          .selectFrom('vpc_security_groups')
          .innerJoin('security_groups', 'security_groups.id', 'vpc_security_groups.group_id')
          .whereRef('vpc_security_groups.vpc_id', '=', 'vpcs.id')
          .select('security_groups.rules')
          .orderBy('security_groups.id'),
      ).as('groups'),
      jsonArrayFrom(
        of
          .selectFrom('vpc_addresses')
          .innerJoin('vm_security_groups', 'vm_security_groups.vm_id', 'vpc_addresses.vm_id')
          .innerJoin('security_groups', 'security_groups.id', 'vm_security_groups.group_id')
          .whereRef('vpc_addresses.vpc_id', '=', 'vpcs.id')
          .where('vpc_addresses.left_at', 'is', null)
          .groupBy('security_groups.id')
          .select((group) => [
            'security_groups.rules',
            group.fn.agg<number[]>('array_agg', ['vpc_addresses.number']).orderBy('vpc_addresses.number').as('addresses'),
          ])
          .orderBy('security_groups.id'),
      ).as('member_groups'),
      jsonObjectFrom(
        of
          .selectFrom('nat_gateways')
          .leftJoin('eips', (join) => join.onRef('eips.id', '=', 'nat_gateways.snat_eip_id').on('eips.unbinding', '=', false))
          .whereRef('nat_gateways.vpc_id', '=', 'vpcs.id')
          .where('nat_gateways.deleting_at', 'is', null)
          .select(['nat_gateways.snat', 'eips.number as snat_address']),
      ).as('nat'),
      jsonArrayFrom(
        of
          .selectFrom('eips')
          .innerJoin('vpc_addresses', 'vpc_addresses.vm_id', 'eips.vm_id')
          .whereRef('eips.vpc_id', '=', 'vpcs.id')
          .where('eips.unbinding', '=', false)
          .where('vpc_addresses.left_at', 'is', null)
          .select(['eips.id', 'eips.number', 'vpc_addresses.number as inside'])
          .orderBy('eips.number'),
      ).as('eips'),
      jsonArrayFrom(
        of
          .selectFrom('nat_rules')
          .innerJoin('nat_gateways', 'nat_gateways.id', 'nat_rules.nat_id')
          .innerJoin('eips', 'eips.id', 'nat_rules.eip_id')
          .leftJoin('vpc_addresses', 'vpc_addresses.vm_id', 'nat_rules.vm_id')
          .whereRef('nat_gateways.vpc_id', '=', 'vpcs.id')
          .where('nat_gateways.deleting_at', 'is', null)
          .where('eips.unbinding', '=', false)
          .where('vpc_addresses.left_at', 'is', null)
          .select([
            'eips.id as eip_id',
            'eips.number',
            'nat_rules.protocol',
            'nat_rules.outside_first',
            'nat_rules.outside_last',
            'nat_rules.inside',
            'nat_rules.inside_first',
            'nat_rules.inside_last',
            'nat_rules.description',
          ])
          .orderBy('eips.number')
          .orderBy('nat_rules.protocol')
          .orderBy('nat_rules.outside_first'),
      ).as('rules'),
    ])
    .executeTakeFirst()
  return row
}

/** An instance of a network as the engine knows it; undefined where it is not in it. */
export async function nicOf(on: Sql, vpcId: string, vmId: string): Promise<{ engine_name: string; address: string } | undefined> {
  const row = await on
    .selectFrom('vpc_addresses')
    .innerJoin('vms', 'vms.id', 'vpc_addresses.vm_id')
    .where('vpc_id', '=', vpcId)
    .where('vm_id', '=', vmId)
    .select(['vms.engine_name', 'vpc_addresses.number'])
    .executeTakeFirst()
  return row === undefined ? undefined : { engine_name: row.engine_name, address: addressText(row.number) }
}

export interface Place {
  vm_id: string
  vpc: { id: string; name: string }
  address: string
  security_groups: { id: string; name: string }[]
  /** The outside address that leads to it. */
  eip: { id: string; address: string } | null
}

/** Where instances are, those in private networks. */
export async function placesOf(on: Sql, vmIds: readonly string[]): Promise<Place[]> {
  if (vmIds.length === 0) return []
  const rows = await on
    .selectFrom('vpc_addresses')
    .innerJoin('vpcs', 'vpcs.id', 'vpc_addresses.vpc_id')
    .where('vpc_addresses.vm_id', 'in', vmIds)
    .select((of) => [
      'vpc_addresses.vm_id',
      'vpc_addresses.number',
      'vpcs.id',
      'vpcs.name',
      jsonArrayFrom(
        of
          .selectFrom('vm_security_groups')
          .innerJoin('security_groups', 'security_groups.id', 'vm_security_groups.group_id')
          .whereRef('vm_security_groups.vm_id', '=', 'vpc_addresses.vm_id')
          .select(['security_groups.id', 'security_groups.name'])
          .orderBy('security_groups.name'),
      ).as('security_groups'),
      jsonObjectFrom(of.selectFrom('eips').whereRef('eips.vm_id', '=', 'vpc_addresses.vm_id').select(['eips.id', 'eips.number'])).as('eip'),
    ])
    .execute()
  return rows.flatMap(({ vm_id, number, id, name, security_groups, eip }) =>
    vm_id === null
      ? []
      : [
          {
            vm_id,
            vpc: { id, name },
            address: addressText(number),
            security_groups,
            eip: eip === null ? null : { id: eip.id, address: addressText(eip.number) },
          },
        ],
  )
}
