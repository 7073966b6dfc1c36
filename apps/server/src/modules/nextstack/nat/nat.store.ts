import type { QueryOf } from '@zhisuan/contract/define'
import type { natGateways } from '@zhisuan/contract/nextstack/nat'
import type { VpcStatus } from '@zhisuan/contract/nextstack/vpc'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import type { OwnedTable } from '../../../platform/resource.shape.ts'

interface NatGatewayTable extends OwnedTable {
  cloud_id: string
  vpc_id: string
  snat: boolean
  snat_eip_id: string | null
  /** Which change of the network removes it; null while it stays. */
  deleting_at: number | null
}
interface NatRuleTable {
  id: string
  nat_id: string
  eip_id: string
  protocol: 'tcp' | 'udp'
  /** First and last port. */
  outside_first: number
  outside_last: number
  /** The IPv4 address inside, as a number. */
  inside: number
  inside_first: number
  inside_last: number
  /** The instance that was named, with which the rule goes; null where the address was. */
  vm_id: string | null
  description: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    nat_gateways: NatGatewayTable
    nat_rules: NatRuleTable
  }
}
export type NatGatewayRow = Selectable<NatGatewayTable>
interface ShownRule extends Omit<Selectable<NatRuleTable>, 'created_at' | 'nat_id' | 'eip_id' | 'vm_id'> {
  eip: { id: string; number: number }
  vm: { id: string; name: string } | null
}
export type ShownNatGateway = NatGatewayRow & {
  bp_name: string | null
  operation_id: string | null
  vpc_name: string
  vpc_status: VpcStatus
  vpc_error_text: string | null
  snat_eip: { id: string; number: number } | null
  rules: ShownRule[]
}

/** One gateway for each network. */
export const natVpcIndex = 'nat_gateways_vpc_id_key'
/** Broken by ports that overlap those of another rule of the address. */
export const natPortsRule = 'nat_rules_ports'

export const natMigrations: Migrations = {
  '20261123_00_19_nat_gateways': migration(`
    create table nat_gateways (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      vpc_id uuid not null unique references vpcs on delete cascade,
      bp_id uuid,
      name text not null,
      description text not null,
      snat boolean not null,
      snat_eip_id uuid references eips,
      deleting_at integer,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index nat_gateways_newest on nat_gateways (cloud_id, created_at desc, id desc);
    create index nat_gateways_newest_bp on nat_gateways (bp_id, cloud_id, created_at desc, id desc);
    create index nat_gateways_search on nat_gateways using gin (search gin_trgm_ops);
    create index nat_gateways_snat_eip on nat_gateways (snat_eip_id) where snat_eip_id is not null;
    alter table eips add foreign key (nat_id) references nat_gateways;
    create table nat_rules (
      id uuid primary key,
      nat_id uuid not null references nat_gateways on delete cascade,
      eip_id uuid not null references eips,
      protocol text not null check (protocol in ('tcp', 'udp')),
      outside_first integer not null,
      outside_last integer not null,
      inside bigint not null,
      inside_first integer not null,
      inside_last integer not null,
      vm_id uuid references vms,
      description text not null,
      created_at timestamptz not null default now(),
      constraint nat_rules_ports exclude using gist (eip_id with =, protocol with =, int4range(outside_first, outside_last, '[]') with &&)
    );
    create index nat_rules_nat on nat_rules (nat_id, created_at, id);
    create index nat_rules_vm on nat_rules (vm_id) where vm_id is not null;
    ${tellsChanges('nat_gateways', 'nextstack.nat')}
    create index nat_gateways_by_name on nat_gateways (cloud_id, name, id);
    create index nat_gateways_by_name_bp on nat_gateways (bp_id, cloud_id, name, id);
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('nat_gateways').where(within(scope, 'nat_gateways.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'nat_gateways', T>) =>
  query
    .innerJoin('vpcs', 'vpcs.id', 'nat_gateways.vpc_id')
    .leftJoin('organisations', 'organisations.id', 'nat_gateways.bp_id')
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'nat_gateways.vpc_id').on('operations.status', 'in', openStatuses))
    .selectAll('nat_gateways')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      'vpcs.name as vpc_name',
      'vpcs.status as vpc_status',
      'vpcs.error_text as vpc_error_text',
      jsonObjectFrom(of.selectFrom('eips').whereRef('eips.id', '=', 'nat_gateways.snat_eip_id').select(['eips.id', 'eips.number'])).as('snat_eip'),
      jsonArrayFrom(
        of
          .selectFrom('nat_rules')
          .whereRef('nat_rules.nat_id', '=', 'nat_gateways.id')
          .select((rule) => [
            'nat_rules.id',
            'nat_rules.protocol',
            'nat_rules.outside_first',
            'nat_rules.outside_last',
            'nat_rules.inside',
            'nat_rules.inside_first',
            'nat_rules.inside_last',
            'nat_rules.description',
            jsonObjectFrom(rule.selectFrom('eips').whereRef('eips.id', '=', 'nat_rules.eip_id').select(['eips.id', 'eips.number']))
              .$notNull()
              .as('eip'),
            // Whoever has the address now, where none was named.
            jsonObjectFrom(
              rule
                .selectFrom('vpc_addresses')
                .innerJoin('vms', 'vms.id', 'vpc_addresses.vm_id')
                .whereRef('vpc_addresses.vpc_id', '=', 'nat_gateways.vpc_id')
                .whereRef('vpc_addresses.number', '=', 'nat_rules.inside')
                .select(['vms.id', 'vms.name']),
            ).as('vm'),
          ])
          .orderBy('nat_rules.created_at')
          .orderBy('nat_rules.id'),
      ).as('rules'),
    ])

const order = orderOf('nat_gateways', '-created_at', 'name', 'created_at')

export async function listNats(on: Sql, scope: Scope, query: QueryOf<typeof natGateways.list>): Promise<{ total: number; rows: ShownNatGateway[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'nat_gateways', 'cloud_id', 'vpc_id'))
    .where(matching(query.keyword, 'nat_gateways.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('nat_gateways').where('nat_gateways.id', 'in', ids)))
}

export const getNat = (on: Sql, scope: Scope, id: string): Promise<ShownNatGateway | undefined> =>
  shown(visible(on, scope).where('nat_gateways.id', '=', id)).executeTakeFirst()

/** Without a lock of its own: whoever changes a gateway holds its network. */
export const getNatRow = (on: Sql, scope: Scope, id: string): Promise<NatGatewayRow | undefined> =>
  visible(on, scope).selectAll('nat_gateways').where('nat_gateways.id', '=', id).executeTakeFirst()

export const natOfVpc = (on: Sql, vpcId: string): Promise<ShownNatGateway | undefined> =>
  shown(on.selectFrom('nat_gateways').where('nat_gateways.vpc_id', '=', vpcId)).executeTakeFirst()

export const { insert: insertNat, update: updateNat } = rowsOf('nat_gateways', 'updated_at')

/** An address that is to lead nowhere is nobody's way out. */
export const dropSnatEip = async (tx: Tx, eipId: string): Promise<void> => {
  await tx
    .updateTable('nat_gateways')
    .set({ snat_eip_id: null, updated_at: sql`now()` })
    .where('snat_eip_id', '=', eipId)
    .execute()
}

/** The engine has all changes of a network up to this one. After its addresses are settled. */
export const deleteLeftNats = async (tx: Tx, vpcId: string, applied: number): Promise<void> => {
  await tx.deleteFrom('nat_gateways').where('vpc_id', '=', vpcId).where('deleting_at', '<=', applied).execute()
}

export const insertRule = insertsInto('nat_rules')

/** False where there is none. */
export const deleteRule = async (tx: Tx, natId: string, id: string): Promise<boolean> =>
  (await tx.deleteFrom('nat_rules').where('nat_id', '=', natId).where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n

export const hasRules = async (on: Sql, by: { eip_id: string } | { vm_id: string }): Promise<boolean> => {
  const [[column, value] = ['eip_id', '']] = Object.entries(by)
  return (await on.selectFrom('nat_rules').select('id').where(sql.ref(column), '=', value).limit(1).executeTakeFirst()) !== undefined
}

/** Rules go with the instance that they named. */
export const deleteRulesOfVm = async (tx: Tx, vmId: string): Promise<void> => {
  await tx.deleteFrom('nat_rules').where('vm_id', '=', vmId).execute()
}
