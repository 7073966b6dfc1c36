import { sql } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { counted } from '../../../platform/db/page.ts'

interface VpcAddressTable {
  vpc_id: string
  /** The IPv4 address as a number. */
  number: number
  /** Null for the gateway, and for what an instance had that is gone while something on the engine may still lead to it. */
  vm_id: string | null
  /** Its instance leaves: free as soon as that is gone and this change of the network is applied. Null while it stays. */
  left_at: number | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    vpc_addresses: VpcAddressTable
  }
}

export const addressMigrations: Migrations = {
  // No cascade from instances: who removes one has to say that it is gone.
  '20261123_00_16_vpc_addresses': migration(`
    create table vpc_addresses (
      vpc_id uuid not null references vpcs on delete cascade,
      number bigint not null,
      vm_id uuid unique references vms,
      left_at integer,
      primary key (vpc_id, number)
    );
  `),
}

export const insertAddress = async (tx: Tx, row: { vpc_id: string; number: number; vm_id: string | null }): Promise<void> => {
  await tx
    .insertInto('vpc_addresses')
    .values({ ...row, left_at: null })
    .execute()
}

/** The lowest that nobody has, under the network's lock; the gateway's is the lowest of all. @param last the greatest that an instance may have */
export async function lowestFree(tx: Tx, vpcId: string, last: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom('vpc_addresses as taken')
    .select(sql<number>`taken.number + 1`.as('number'))
    .where('taken.vpc_id', '=', vpcId)
    .where('taken.number', '<', last)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('vpc_addresses as next')
            .where('next.vpc_id', '=', vpcId)
            .where(sql<boolean>`next.number = taken.number + 1`),
        ),
      ),
    )
    .orderBy('taken.number')
    .limit(1)
    .executeTakeFirst()
  return row?.number
}

export const isTaken = async (on: Sql, vpcId: string, number: number): Promise<boolean> =>
  (await on.selectFrom('vpc_addresses').select('number').where('vpc_id', '=', vpcId).where('number', '=', number).executeTakeFirst()) !== undefined

/** Where an instance is; undefined where it is in no private network. */
export const placeOf = (on: Sql, vmId: string): Promise<VpcAddressTable | undefined> =>
  on.selectFrom('vpc_addresses').selectAll().where('vm_id', '=', vmId).executeTakeFirst()

/** Held against being deleted until the transaction ends, by whoever makes something lead to it: before its network is. */
export const holdVm = async (tx: Tx, vmId: string): Promise<void> => {
  await tx.selectFrom('vms').select('id').where('id', '=', vmId).forKeyShare().execute()
}

/** Which instances have addresses in a network. */
export const holdersOf = (on: Sql, vpcId: string): Promise<{ number: number; id: string; name: string }[]> =>
  on
    .selectFrom('vpc_addresses')
    .innerJoin('vms', 'vms.id', 'vpc_addresses.vm_id')
    .where('vpc_id', '=', vpcId)
    .select(['vpc_addresses.number', 'vms.id', 'vms.name'])
    .orderBy('number')
    .execute()

export const countVms = (on: Sql, vpcId: string): Promise<number> => counted(on.selectFrom('vpc_addresses').where('vpc_id', '=', vpcId), 'vm_id')

export const setLeaving = async (tx: Tx, vmId: string, leftAt: number | null): Promise<void> => {
  await tx.updateTable('vpc_addresses').set({ left_at: leftAt }).where('vm_id', '=', vmId).execute()
}

/** Nobody's any more; free once its `left_at` is applied. */
export const detach = async (tx: Tx, vmId: string): Promise<void> => {
  await tx.updateTable('vpc_addresses').set({ vm_id: null }).where('vm_id', '=', vmId).execute()
}

/** Addresses of what is gone, and to which nothing on the engine leads any more, are free again. */
export const freeLeft = async (tx: Tx, vpcId: string, applied: number): Promise<void> => {
  await tx.deleteFrom('vpc_addresses').where('vpc_id', '=', vpcId).where('vm_id', 'is', null).where('left_at', '<=', applied).execute()
}
