import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { snapshotCan, type snapshots, type VmSnapshot } from '@zhisuan/contract/nextstack/snapshot'
import { vmCan, type Vm, type VmAction, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import { platformScope, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { openOperation } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import type { VmService } from '../vm/vm.service.ts'
import * as vmStore from '../vm/vm.store.ts'
import type { VmRow } from '../vm/vm.store.ts'
import type { SnapshotOperations } from './snapshot.operations.ts'
import * as store from './snapshot.store.ts'
import type { ShownSnapshot, SnapshotRow } from './snapshot.store.ts'

type Calls = typeof snapshots

export type SnapshotService = ReturnType<typeof createSnapshotService>

/** Who makes a snapshot: a person, or a schedule. */
export interface Maker {
  actor: Pick<Actor, 'user_id' | 'name'> | null
  schedule: { id: string; name: string } | null
}

export function createSnapshotService(
  platform: Pick<Platform, 'db' | 'operations'>,
  parts: { clouds: CloudService; quotas: QuotaService; operations: SnapshotOperations; vms: Pick<VmService, 'clone'> },
) {
  const { db } = platform
  const { clouds, quotas, operations, vms } = parts

  /** As it is now: once the transaction commits, the operation may end before anybody looks. */
  const shownNow = async (tx: Tx, id: string): Promise<VmSnapshot> => shape(found(await store.getSnapshot(tx, platformScope, id)))

  /** Changes a snapshot in a state that allows it, with its cloud and its instance held. */
  const change = (
    actor: Actor,
    id: string,
    action: keyof typeof snapshotCan,
    act: (tx: Tx, snapshot: SnapshotRow, vm: VmRow) => Promise<void>,
  ): Promise<VmSnapshot> =>
    db.transaction().execute(async (tx) => {
      const before = found(await store.getSnapshot(tx, scopeOf(actor), id))
      await clouds.forChange(tx, before.cloud_id)
      const vm = found(await vmStore.lockVm(tx, platformScope, before.vm_id))
      const snapshot = found(await store.lockSnapshot(tx, scopeOf(actor), id))
      refuseUnless(snapshotCan[action], snapshot)
      await act(tx, snapshot, vm)
      return shownNow(tx, id)
    })

  /** Records a snapshot of an instance, which is held as its cloud is, and begins to make it. @throws Refusal 94040, 94041, 94030, 90011 */
  const take = async (tx: Tx, vm: VmRow, wish: { name: string; description: string }, { actor, schedule }: Maker): Promise<string> => {
    refuseUnlessVmAllows(vm, 'snapshot')
    if (await store.isNameTaken(tx, vm.id, wish.name)) throw new Refusal('snapshotNameTaken', { field: 'name' })
    await quotas.take(tx, vm, { vm_snapshots: 1 })
    const id = uuidv7()
    await platform.operations.begin(tx, operations.create, { resource_id: vm.id, of: { id: vm.id, part: wish.name }, bp_id: vm.bp_id, actor, input: {} })
    // Who looks at the instance sees that something is done to it.
    await vmStore.updateVm(tx, vm.id, {})
    await store.insertSnapshot(tx, {
      id,
      cloud_id: vm.cloud_id,
      bp_id: vm.bp_id,
      vm_id: vm.id,
      ...wish,
      status: 'creating',
      engine_name: `zs-${id.replaceAll('-', '')}`,
      schedule_id: schedule?.id ?? null,
      created_by: actor?.user_id ?? null,
      created_by_name: actor?.name ?? schedule?.name ?? '',
    })
    return id
  }

  return {
    take,

    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listSnapshots(db, scope, query), shape),

    async get(actor: Actor, id: string): Promise<VmSnapshot> {
      return shape(found(await store.getSnapshot(db, scopeOf(actor), id)))
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<VmSnapshot> {
      return db.transaction().execute(async (tx) => {
        const before = await vmStore.getVm(tx, scopeOf(actor), body.vm_id)
        if (before === undefined) throw new Refusal('notFound', { field: 'vm_id' })
        await clouds.forChange(tx, before.cloud_id)
        const vm = found(await vmStore.lockVm(tx, scopeOf(actor), body.vm_id))
        return shownNow(tx, await take(tx, vm, { name: body.name, description: body.description }, { actor, schedule: null }))
      })
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<VmSnapshot> {
      return refusing({ vm_snapshots_name: ['snapshotNameTaken', 'name'] }, () =>
        db.transaction().execute(async (tx) => {
          const snapshot = found(await store.lockSnapshot(tx, scopeOf(actor), id))
          refuseUnless(snapshotCan.rename, snapshot)
          await store.updateSnapshot(tx, id, { name: body.name, description: body.description })
          return shownNow(tx, id)
        }),
      )
    },

    restore: (actor: Actor, id: string): Promise<VmSnapshot> =>
      change(actor, id, 'restore', async (tx, snapshot, vm) => {
        refuseUnlessVmAllows(vm, 'restore')
        // The disk that is copied, or of which a part is taken away, is not exchanged meanwhile.
        if ((await store.isDeleting(tx, vm.id)) || (await store.isCopied(tx, { vm_id: vm.id }))) throw new Refusal('operationRunning')
        await platform.operations.begin(tx, operations.restore, {
          resource_id: vm.id,
          of: { id: vm.id, part: snapshot.name },
          bp_id: vm.bp_id,
          actor,
          input: {},
        })
        await vmStore.updateVm(tx, vm.id, { status: 'restoring', error_text: null })
        await store.updateSnapshot(tx, snapshot.id, { status: 'restoring', error_text: null })
      }),

    async clone(actor: Actor, id: string, body: BodyOf<Calls['clone']>): Promise<Vm> {
      const { vm_id } = found(await store.getSnapshot(db, scopeOf(actor), id))
      return vms.clone(actor, vm_id, body, async (tx) => {
        const snapshot = found(await store.lockSnapshot(tx, scopeOf(actor), id))
        refuseUnless(snapshotCan.clone, snapshot)
        return snapshot
      })
    },

    delete: (actor: Actor, id: string): Promise<VmSnapshot> =>
      change(actor, id, 'delete', async (tx, snapshot, vm) => {
        if ((await openOperation(tx, vm.id)) !== undefined || (await store.isCopied(tx, { id }))) throw new Refusal('operationRunning')
        await operations.beginDelete(tx, snapshot, actor)
      }),
  }
}

function refuseUnlessVmAllows(vm: Pick<VmRow, 'status'>, action: VmAction & ('snapshot' | 'restore')): void {
  const allowed: readonly VmStatus[] = vmCan[action]
  if (!allowed.includes(vm.status)) throw new Refusal('snapshotVmBusy')
}

const shape = (row: ShownSnapshot): VmSnapshot => ({
  ...shapeOnEngine(row),
  status: row.status,
  vm: row.vm,
  size_bytes: row.size_bytes,
  schedule_id: row.schedule_id,
})
