import type { Service } from '@zhisuan/contract/aos/stack'
import { sql, type ColumnType, type Generated, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { ComposeService } from '../compose/compose.service.ts'

type Port = Service['ports'][number]

interface ServiceTable {
  id: string
  stack_id: string
  name: string
  image: string
  /** As it is to have: by its file, or by who scaled it since. */
  replicas: number
  /** Those of its file that say where they lead out; what Docker gave is with the containers. */
  ports: ColumnType<Port[], string, string>
  /** Of each container, where others share its node. */
  shared_cpu: number | null
  shared_memory_bytes: number | null
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    stack_services: ServiceTable
  }
}
export type ServiceRow = Selectable<ServiceTable>
export type ShownService = ServiceRow & { running: number; seen_ports: Port[] }

export const serviceMigrations: Migrations = {
  '20261123_00_44_stack_services': migration(`
    create table stack_services (
      id uuid primary key,
      stack_id uuid not null references stacks on delete cascade,
      name text not null,
      image text not null,
      replicas integer not null,
      ports jsonb not null,
      created_at timestamptz not null default now(),
      unique (stack_id, name)
    );
  `),
  '20261128_88_shared_services': migration(`
    alter table stack_services add column shared_cpu double precision, add column shared_memory_bytes bigint;
  `),
}

const shown = (on: Sql) =>
  on
    .selectFrom('stack_services')
    .selectAll('stack_services')
    .select([
      sql<number>`(select count(*) from containers where containers.service_id = stack_services.id and containers.status = 'running')`.as('running'),
      sql<
        Port[]
      >`(select coalesce(jsonb_agg(distinct port), '[]') from containers, jsonb_array_elements(containers.ports) as port where containers.service_id = stack_services.id)`.as(
        'seen_ports',
      ),
    ])

/** Of a stack that the scope shows. */
export const servicesOf = (on: Sql, stackId: string): Promise<ShownService[]> => shown(on).where('stack_id', '=', stackId).orderBy('name').execute()

export const getService = (on: Sql, scope: Scope, id: string): Promise<ShownService | undefined> =>
  shown(on)
    .where('stack_services.id', '=', id)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('stacks').select('stacks.id').whereRef('stacks.id', '=', 'stack_services.stack_id').where(within(scope, 'stacks.bp_id'))),
    )
    .executeTakeFirst()

export const serviceRowsOf = (on: Sql, stackId: string): Promise<ServiceRow[]> =>
  on.selectFrom('stack_services').selectAll().where('stack_id', '=', stackId).execute()

/** From now on they are to be these; one that was there stays the same one. Others stay until their containers are gone. */
/** @param shared whether others share the node */
export async function wishServices(tx: Tx, stackId: string, services: readonly ComposeService[], shared: boolean): Promise<void> {
  for (const { name, image, replicas, ports, cpu_limit, memory_limit_bytes } of services) {
    const share = { shared_cpu: shared ? cpu_limit : null, shared_memory_bytes: shared ? memory_limit_bytes : null }
    const now = { image, replicas, ...share, ports: JSON.stringify(ports.filter(({ host_port }) => host_port !== null)) }
    await tx
      .insertInto('stack_services')
      .values({ id: uuidv7(), stack_id: stackId, name, ...now })
      .onConflict((on) => on.columns(['stack_id', 'name']).doUpdateSet(now))
      .execute()
  }
}

export const setReplicas = async (tx: Tx, id: string, replicas: number): Promise<void> => {
  await tx.updateTable('stack_services').set({ replicas }).where('id', '=', id).execute()
}

export const deleteServices = async (tx: Tx, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0)
    await tx
      .deleteFrom('stack_services')
      .where('id', 'in', [...ids])
      .execute()
}
