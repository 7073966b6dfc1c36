import type { Kind } from '@zhisuan/contract/kind'
import { sql } from 'kysely'
import type { Migrations } from './database.ts'

/** How kinds of things were called where each table had a list of its own. */
const spelled: Readonly<Record<string, Kind>> = {
  vm: 'nextstack.vm',
  snapshot: 'nextstack.snapshot',
  vpc: 'nextstack.vpc',
  securityGroup: 'nextstack.securityGroup',
  nat: 'nextstack.nat',
  eip: 'nextstack.eip',
  volume: 'nextstack.volume',
  volumeSnapshot: 'nextstack.volumeSnapshot',
  volumeBackup: 'nextstack.volumeBackup',
  image: 'nextstack.image',
  host: 'nextstack.host',
  storagePool: 'nextstack.storagePool',
  command: 'nextstack.command',
  computeInstance: 'compute.instance',
  edge: 'ecrm.edge',
  edge_image_pull: 'ecrm.imagePull',
  container: 'cis.container',
  containerConfig: 'cis.config',
  stack: 'aos.stack',
  template: 'aos.template',
  order: 'bill.order',
}
const columns = {
  operations: 'resource_type',
  usage_events: 'resource_type',
  metered_resources: 'type',
  bill_orders: 'resource_type',
  prepaid_resources: 'resource_type',
  suspended_resources: 'kind',
} as const

export const kindMigrations: Migrations = {
  '20261123_90_one_spelling_of_kinds': async (tx) => {
    await sql`alter table if exists prepaid_resources drop constraint prepaid_resources_resource_type_check`.execute(tx)
    for (const [name, column] of Object.entries(columns)) {
      const there = await sql<{ there: boolean }>`select to_regclass(${name}) is not null as there`.execute(tx)
      if (there.rows[0]?.there !== true) continue
      const [table, kind, spelling] = [sql.table(name), sql.ref(column), sql`${JSON.stringify(spelled)}::jsonb`]
      // What is told of a change, and what refuses one, is not meant: the thing is the same.
      await sql`alter table ${table} disable trigger user`.execute(tx)
      await sql`update ${table} set ${kind} = ${spelling} ->> ${kind} where ${spelling} ? ${kind}`.execute(tx)
      await sql`alter table ${table} enable trigger user`.execute(tx)
    }
    await sql`
      alter table if exists prepaid_resources add constraint prepaid_resources_resource_type_check
        check (resource_type in ('nextstack.vm', 'nextstack.volume', 'nextstack.eip'))
    `.execute(tx)

    const triggers = await sql<{ made: string }>`
      select pg_get_triggerdef(pg_trigger.oid) as made from pg_trigger join pg_proc on pg_proc.oid = tgfoid where proname in ('tell_change', 'tell_usage') and not tgisinternal
    `.execute(tx)
    for (const { made } of triggers.rows) {
      const anew = made.replace(/\('(\w+)'\)$/, (all, was: string) => (was in spelled ? `('${spelled[was]}')` : all))
      if (anew !== made) await sql.raw(anew.replace('CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER')).execute(tx)
    }
    const functions = await sql<{ made: string }>`select pg_get_functiondef(oid) as made from pg_proc where proname = 'tell_usage_of_gpus'`.execute(tx)
    for (const { made } of functions.rows) await sql.raw(made.replace(`'vm'`, `'nextstack.vm'`)).execute(tx)
    // The name is written with the operation.
    await sql`drop trigger if exists operations_name on operations`.execute(tx)
    await sql`drop function if exists name_of_operation()`.execute(tx)
  },
}
