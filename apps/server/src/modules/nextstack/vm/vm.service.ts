import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { eips } from '@zhisuan/contract/nextstack/eip'
import type { Operation } from '@zhisuan/contract/operation'
import { vmCan, type Vm, type VmAction, type VmStatus, type vms } from '@zhisuan/contract/nextstack/vm'
import { volumes as volumeCalls } from '@zhisuan/contract/nextstack/volume'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { asksAlso } from '../../../platform/auth/also.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { idsOf } from '../../../platform/ids.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as eipStore from '../eip/eip.store.ts'
import { flavorFor } from '../flavor/flavor.service.ts'
import { createHistory } from '../../../platform/history.ts'
import { mustKeepGpus } from '../host/host.place.ts'
import { mustFit } from '../host/host.reach.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import * as snapshotStore from '../snapshot/snapshot.store.ts'
import * as volumeStore from '../volume/volume.store.ts'
import type { Place } from '../vpc/facts.store.ts'
import { createConsoles } from './vm.console.ts'
import type { Metrics } from './vm.metrics.ts'
import { createVmMaking, refuseBelow, type VmMakingParts } from './vm.making.ts'
import { statusDuring } from './vm.operations.ts'
import * as store from './vm.store.ts'
import type { ShownVm, VmRow } from './vm.store.ts'

type Calls = typeof vms

const describeMs = 3_000
const consoleMs = 15_000

export type VmService = ReturnType<typeof createVmService>

export function createVmService(platform: Pick<Platform, 'db' | 'operations' | 'log' | 'kinds' | 'secrets'>, parts: VmMakingParts & { metrics: Metrics }) {
  const { db, log } = platform
  const { clouds, operations, members, quotas } = parts
  const history = createHistory(platform)
  const consoles = createConsoles(platform)

  const get = async (actor: Actor, id: string): Promise<ShownVm> => found(await store.getVm(db, scopeOf(actor), id))
  const shapeAll = async (on: Sql, rows: readonly ShownVm[]): Promise<Vm[]> => {
    const places = await members.shownOf(on, idsOf(rows))
    return rows.map((row) => shape(row, places.get(row.id)))
  }
  const shapeOne = async (on: Sql, row: ShownVm): Promise<Vm> => found((await shapeAll(on, [row]))[0])
  const making = createVmMaking(platform, parts, shapeAll)

  /**
   * Begins an operation: the row locked, the state checked, the status passing, the operation
   * recorded and enqueued, all in one transaction.
   */
  const begin = async <Input>(
    actor: Actor,
    id: string,
    action: VmAction,
    definition: OperationDefinition<Input>,
    during: VmStatus,
    input: Input | ((tx: Tx, vm: VmRow) => Promise<Input>),
  ): Promise<Vm> =>
    db.transaction().execute(async (tx) => {
      const { cloud_id } = found(await store.getVm(tx, scopeOf(actor), id))
      // The cloud before the instance, as its removal does: in the other order the two would wait for each other.
      await clouds.forChange(tx, cloud_id)
      const vm = found(await store.lockVm(tx, scopeOf(actor), id))
      refuseUnless(vmCan[action], vm)
      const resolved = typeof input === 'function' ? await (input as (tx: Tx, vm: VmRow) => Promise<Input>)(tx, vm) : input
      await platform.operations.begin(tx, definition, { resource_id: id, bp_id: vm.bp_id, actor, input: resolved })
      await store.updateVm(tx, id, { status: during, error_text: null })
      // As it is now: once this commits, the operation may end before anybody looks.
      return shapeOne(tx, found(await store.getVm(tx, scopeOf(actor), id)))
    })

  /** So that operators of the engine find it by its name. Nobody waits for an engine that is away: the name is ours. */
  const tellEngine = async (vm: Pick<VmRow, 'id' | 'cloud_id' | 'engine_name' | 'name'>): Promise<void> => {
    try {
      const engine = await clouds.forReading(vm.cloud_id)
      await engine.instances.describe(vm.engine_name, vm.name, { signal: AbortSignal.timeout(describeMs) })
    } catch (error) {
      log.info({ err: error, vm: vm.id }, 'the engine was not told the new name')
    }
  }

  return {
    async list(scope: Scope, query: QueryOf<Calls['list']>) {
      const { total, rows } = await store.listVms(db, scope, query)
      return { total, items: await shapeAll(db, rows) }
    },

    async get(actor: Actor, id: string): Promise<Vm> {
      return shapeOne(db, await get(actor, id))
    },

    /** For the platform, in a transaction of its own. */
    async find(on: Sql, scope: Scope, id: string): Promise<Vm | undefined> {
      const row = await store.getVm(on, scope, id)
      return row === undefined ? undefined : shapeOne(on, row)
    },

    create: making.create,
    clone: making.clone,

    start: (actor: Actor, id: string) => begin(actor, id, 'start', operations.start, statusDuring.start, {}),

    stop: (actor: Actor, id: string, force: boolean) => begin(actor, id, force ? 'forceStop' : 'stop', operations.stop, statusDuring.stop, { force }),

    restart: (actor: Actor, id: string, force: boolean) => begin(actor, id, 'restart', operations.restart, statusDuring.restart, { force }),

    /** Nothing leads to it any more before it goes. What is to go with it goes once it is gone: where it stays after all, that stays too. */
    delete: (actor: Actor, id: string, { release_eip = false, release_volumes = false }: QueryOf<Calls['delete']>, context: Context) =>
      begin(actor, id, 'delete', operations.delete, statusDuring.delete, async (tx) => {
        // A clone is being made of one of its snapshots.
        if (await snapshotStore.isCopied(tx, { vm_id: id })) throw new Refusal('operationRunning')
        const [eip, volumes] = [release_eip ? await eipStore.eipOfVm(tx, id) : undefined, release_volumes ? await volumeStore.lockVolumesOf(tx, id) : []]
        if (eip !== undefined) await asksAlso(platform.kinds, actor, eips.release, { id: eip.id }, context)
        for (const volume of volumes) await asksAlso(platform.kinds, actor, volumeCalls.delete, { id: volume.id }, context)
        await members.leaving(tx, id)
        if (eip !== undefined) await eipStore.updateEip(tx, eip.id, { release_with: id })
        for (const volume of volumes) await volumeStore.updateVolume(tx, volume.id, { release_by: jsonb({ user_id: actor.user_id, name: actor.name }) })
        return {}
      }),

    async setSecurityGroups(actor: Actor, id: string, ids: readonly string[]): Promise<Vm> {
      return db.transaction().execute(async (tx) => {
        const { cloud_id } = found(await store.getVm(tx, scopeOf(actor), id))
        await clouds.forChange(tx, cloud_id)
        const vm = found(await store.lockVm(tx, scopeOf(actor), id))
        refuseUnless(vmCan.setSecurityGroups, vm)
        await members.setGroups(tx, actor, vm, ids)
        return shapeOne(tx, found(await store.getVm(tx, scopeOf(actor), id)))
      })
    },

    async rename(actor: Actor, id: string, body: BodyOf<Calls['rename']>): Promise<Vm> {
      await making.record(async (tx) => {
        const vm = found(await store.lockVm(tx, scopeOf(actor), id))
        refuseUnless(vmCan.rename, vm)
        await store.updateVm(tx, id, { name: body.name, description: body.description })
      })
      const vm = await get(actor, id)
      await tellEngine(vm)
      return shapeOne(db, vm)
    },

    async resize(actor: Actor, id: string, body: BodyOf<Calls['resize']>): Promise<Vm> {
      const flavor = await flavorFor(db, scopeOf(actor), body.flavor_id)
      return begin(actor, id, 'resize', operations.resize, statusDuring.resize, async (tx, vm) => {
        const diskBytes = body.disk_bytes ?? Math.max(vm.disk_bytes, flavor.disk_bytes)
        if (diskBytes < vm.disk_bytes) throw new Refusal('diskShrink', { field: 'disk_bytes' })
        refuseBelow(flavor, diskBytes)
        await mustKeepGpus(tx, vm.id, flavor)
        await mustFit(tx, vm, flavor)
        if (flavor.cpu_cores === vm.cpu_cores && flavor.memory_bytes === vm.memory_bytes && diskBytes === vm.disk_bytes) {
          throw new Refusal('sizeUnchanged', { field: 'flavor_id' })
        }
        await quotas.take(tx, vm, { cpu_cores: flavor.cpu_cores - vm.cpu_cores, memory_bytes: flavor.memory_bytes - vm.memory_bytes })
        return {
          flavor_id: flavor.id,
          flavor_name: flavor.name,
          cpu_cores: flavor.cpu_cores,
          memory_bytes: flavor.memory_bytes,
          disk_bytes: diskBytes,
        }
      })
    },

    async rebuild(actor: Actor, id: string, body: BodyOf<Calls['rebuild']>): Promise<Vm> {
      const before = await get(actor, id)
      const image = await making.checkImage(actor, before.cloud_id, body.image_fingerprint, before, body.user_data)
      return begin(actor, id, 'rebuild', operations.rebuild, statusDuring.rebuild, async (tx, vm) => {
        const count = await snapshotStore.countOnEngine(tx, id)
        if (count > 0) throw new Refusal('vmHasSnapshots', { values: { count } })
        return {
          ...(await making.accessOf(tx, scopeOf(actor), body, image)),
          image_fingerprint: image.fingerprint,
          image_name: image.name,
          was_running: vm.status === 'running',
        }
      })
    },

    async operations(actor: Actor, id: string, query: QueryOf<Calls['operations']>): Promise<{ total: number; items: Operation[] }> {
      await get(actor, id)
      return history.list(id, query)
    },

    /** @throws Refusal 90017, 90018 */
    async cancelOperation(actor: Actor, id: string, operationId: string): Promise<Operation> {
      await get(actor, id)
      return history.cancel(id, operationId)
    },

    async metrics(actor: Actor, id: string, minutes: number) {
      const vm = await get(actor, id)
      return parts.metrics.of(vm, minutes)
    },

    async consoleLog(actor: Actor, id: string): Promise<{ text: string }> {
      const vm = await get(actor, id)
      refuseUnless(vmCan.consoleLog, vm)
      const engine = await clouds.forReading(vm.cloud_id)
      const read = () => engine.instances.consoleLog(vm.engine_name, { signal: AbortSignal.timeout(consoleMs) })
      // Of a container the engine keeps its log itself.
      return { text: vm.type === 'vm' ? await consoles.continued(id, read) : await read() }
    },

    /** For the terminal: the instance and its engine, if the actor may type there now. */
    async forTerminal(actor: Actor, id: string) {
      const vm = await get(actor, id)
      refuseUnless(vmCan.terminal, vm)
      return { vm, engine: await clouds.forReading(vm.cloud_id) }
    },
  }
}

const shape = (row: ShownVm, place: Place | undefined): Vm => ({
  ...shapeOnEngine(row),
  type: row.type,
  status: row.status,
  image: { fingerprint: row.image_fingerprint, name: row.image_name },
  flavor: { id: row.flavor_id, name: row.flavor_name },
  cpu_cores: row.cpu_cores,
  memory_bytes: row.memory_bytes,
  disk_bytes: row.disk_bytes,
  gpus: row.gpus,
  network: row.network,
  vpc: place?.vpc ?? null,
  security_groups: place?.security_groups ?? [],
  eip: place?.eip ?? null,
  addresses: row.addresses,
  reserved_address: place?.address ?? null,
  node: row.node,
  project_id: row.project_id,
})
