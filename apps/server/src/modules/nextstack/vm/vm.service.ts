import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import type { Operation } from '@zhisuan/contract/operation'
import type { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { vmCan, type Vm, type VmAction, type VmStatus, type vms } from '@zhisuan/contract/nextstack/vm'
import type { Image } from '@zhisuan/engines/compute'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { idsOf, uuidv7 } from '../../../platform/ids.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { Catalogue, UsableImage } from '../catalogue/catalogue.service.ts'
import { flavorFor } from '../flavor/flavor.service.ts'
import type { FlavorRow } from '../flavor/flavor.store.ts'
import { createHistory } from '../../../platform/history.ts'
import { mustKeepGpus, place } from '../host/host.place.ts'
import { keyPairsOf, publicKeysOf, remember } from '../key-pair/key-pair.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import * as snapshotStore from '../snapshot/snapshot.store.ts'
import type { Place } from '../vpc/facts.store.ts'
import type { VpcMembers } from '../vpc/vpc.members.ts'
import type { Metrics } from './vm.metrics.ts'
import { statusDuring, type AccessInput, type CreateInput, type VmOperations } from './vm.operations.ts'
import * as store from './vm.store.ts'
import type { ShownVm, VmRow } from './vm.store.ts'

type Calls = typeof vms

export type VmService = ReturnType<typeof createVmService>

export function createVmService(
  platform: Pick<Platform, 'db' | 'operations'>,
  parts: {
    clouds: CloudService
    catalogue: Catalogue
    operations: VmOperations
    metrics: Metrics
    members: VpcMembers
    quotas: QuotaService
    licence: { assertValid(): Promise<void> | void }
  },
) {
  const { db } = platform
  const { clouds, catalogue, operations, members, quotas, licence } = parts
  const history = createHistory(platform)

  const get = async (actor: Actor, id: string): Promise<ShownVm> => found(await store.getVm(db, scopeOf(actor), id))
  const shapeAll = async (on: Sql, rows: readonly ShownVm[]): Promise<Vm[]> => {
    const places = await members.shownOf(on, idsOf(rows))
    return rows.map((row) => shape(row, places.get(row.id)))
  }
  const shapeOne = async (on: Sql, row: ShownVm): Promise<Vm> => found((await shapeAll(on, [row]))[0])

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

  /** The image of a create or rebuild, of those that the actor may use, and whether it fits. */
  const checkImage = async (
    actor: Actor,
    cloudId: string,
    fingerprint: string,
    of: Pick<VmRow, 'type' | 'cpu_cores' | 'memory_bytes' | 'disk_bytes'>,
    userData: string | undefined,
  ): Promise<UsableImage> => {
    const image = (await catalogue.usable(scopeOf(actor), cloudId)).find((candidate) => candidate.fingerprint === fingerprint)
    if (image === undefined) throw new Refusal('imageMissing', { field: 'image_fingerprint' })
    if (image.type !== of.type) throw new Refusal('imageTypeMismatch', { field: 'image_fingerprint' })
    if (userData !== undefined && !image.cloudInit) throw new Refusal('cloudInitUnsupported', { field: 'user_data' })
    if (of.cpu_cores < image.minCpuCores || of.memory_bytes < image.minMemoryBytes) throw new Refusal('flavorTooSmall', { field: 'flavor_id' })
    if (of.disk_bytes < image.minDiskBytes) throw new Refusal('flavorTooSmall', { field: 'disk_bytes' })
    return image
  }
  /** In the transaction that uses the keys: until it ends they are not deleted. */
  const accessOf = async (
    on: Sql,
    scope: Scope,
    body: Pick<BodyOf<Calls['create']>, 'password' | 'ssh_public_key' | 'key_pair_ids' | 'user_data'>,
    image: UsableImage,
  ): Promise<AccessInput> => ({
    password: body.password,
    ssh_public_keys: [...(body.ssh_public_key === undefined ? [] : [body.ssh_public_key]), ...(await publicKeysOf(on, scope, body.key_pair_ids))],
    user_data: body.user_data,
    cloud_init: image.cloudInit,
  })

  /** Runs a transaction that records instances, or their names. */
  const record = <T>(act: (tx: Tx) => Promise<T>): Promise<T> => refusing({ vms_name: ['vmNameTaken', 'name'] }, () => db.transaction().execute(act))
  /** A network of the cloud's own; the first where none is named. @throws Refusal `networkMissing` */
  const checkNetwork = async (cloudId: string, name: string | null): Promise<string> => {
    const { networks } = await catalogue.known(cloudId, await clouds.forReading(cloudId))
    const network = name === null ? networks[0] : networks.find((one) => one.name === name)
    if (network === undefined) throw new Refusal('networkMissing', { field: name === null ? 'vpc_id' : 'network' })
    return network.name
  }
  /** The one way to new instances: whatever holds for all of them is checked and taken here. The cloud is held. */
  const make = async (tx: Tx, actor: Actor, cloud: Awaited<ReturnType<CloudService['forChange']>>, wish: NewVms): Promise<{ items: Vm[] }> => {
    if (cloud.product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'cloud_id' })
    if (cloud.instance_types?.[wish.type].available === false) throw new Refusal('vmTypeUnavailable', { field: 'type' })
    // So that it is not deleted while it is chosen.
    const flavor = await flavorFor(tx, scopeOf(actor), wish.flavor_id)
    const rows = wish.names.map((name) => rowOf(actor, wish, flavor, name))
    await quotas.take(tx, wish, {
      vms: rows.length,
      cpu_cores: rows.length * flavor.cpu_cores,
      memory_bytes: rows.length * flavor.memory_bytes,
      gpus: rows.length * (flavor.gpu_count ?? 0),
    })
    await store.insertVms(tx, rows)
    await place(tx, rows, flavor)
    const access = { ...(await wish.access()), copy_of: wish.copy_of }
    for (const row of rows) {
      await remember(tx, row.id, wish.key_pair_ids)
      if (wish.vpc_id !== null) {
        const { network } = await members.join(tx, row, { ...wish, vpc_id: wish.vpc_id })
        await store.updateVm(tx, row.id, { network })
      }
      await platform.operations.begin(tx, operations.create, { resource_id: row.id, bp_id: row.bp_id, actor, input: access })
    }
    // In the order in which they are numbered, and as they are before anything was done.
    const made = new Map((await store.getVms(tx, idsOf(rows))).map((row) => [row.id, row]))
    return {
      items: await shapeAll(
        tx,
        rows.map(({ id }) => found(made.get(id))),
      ),
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

    /**
     * All of them are recorded, or none.
     * @param also in the same transaction: where it throws, none is
     */
    async create(
      actor: Actor,
      body: BodyOf<Calls['create']>,
      also: (tx: Tx, made: readonly Vm[]) => Promise<void> = async () => undefined,
    ): Promise<{ items: Vm[] }> {
      refuseOwnerless(scopeOf(actor))
      await licence.assertValid()
      const flavor = await flavorFor(db, scopeOf(actor), body.flavor_id)
      const diskBytes = body.disk_bytes ?? flavor.disk_bytes
      refuseBelow(flavor, diskBytes)
      const image = await checkImage(actor, body.cloud_id, body.image_fingerprint, { ...flavor, type: body.type, disk_bytes: diskBytes }, body.user_data)
      if (body.network !== null) await checkNetwork(body.cloud_id, body.network)
      return record(async (tx) => {
        const cloud = await clouds.forChange(tx, body.cloud_id)
        const made = await make(tx, actor, cloud, {
          ...body,
          ...(await quotas.ownerOf(tx, actor, body.project_id)),
          names: numbered(body.name, body.count),
          image,
          flavor_id: flavor.id,
          disk_bytes: diskBytes,
          source_snapshot_id: null,
          access: () => accessOf(tx, scopeOf(actor), body, image),
          copy_of: null,
        })
        await also(tx, made.items)
        return made
      })
    },

    /**
     * A new instance that begins as a snapshot of another, and belongs to the same organisation and
     * project. Size, network, groups and keys are that one's where nothing else is asked for.
     * @param held called with the source locked: which snapshot it is, if it may be copied
     */
    async clone(
      actor: Actor,
      sourceId: string,
      body: BodyOf<(typeof snapshots)['clone']>,
      held: (tx: Tx) => Promise<{ id: string; engine_name: string }>,
    ): Promise<Vm> {
      const before = await get(actor, sourceId)
      await licence.assertValid()
      const flavorId = body.flavor_id ?? before.flavor_id
      if (flavorId === null) throw new Refusal('flavorMissing', { field: 'flavor_id' })
      const flavor = await flavorFor(db, scopeOf(actor), flavorId)
      const inVpc = (await members.shownOf(db, [sourceId])).get(sourceId)
      const vpcId = body.vpc_id === undefined ? (inVpc?.vpc.id ?? null) : body.vpc_id
      const network = vpcId === null ? await checkNetwork(before.cloud_id, inVpc === undefined ? before.network : null) : null
      const { items } = await record(async (tx) => {
        const cloud = await clouds.forChange(tx, before.cloud_id)
        const source = found(await store.lockVm(tx, scopeOf(actor), sourceId))
        refuseUnless(vmCan.clone, source)
        const snapshot = await held(tx)
        return make(tx, actor, cloud, {
          cloud_id: source.cloud_id,
          bp_id: source.bp_id,
          project_id: source.project_id,
          names: [body.name],
          description: body.description,
          type: source.type,
          image: { fingerprint: source.image_fingerprint, name: source.image_name },
          flavor_id: flavor.id,
          disk_bytes: Math.max(source.disk_bytes, flavor.disk_bytes),
          network,
          vpc_id: vpcId,
          security_group_ids: vpcId === null ? [] : (inVpc?.security_groups ?? []).map(({ id }) => id),
          key_pair_ids: await keyPairsOf(tx, sourceId),
          source_snapshot_id: snapshot.id,
          // Whoever could sign in to the source can sign in to the copy: it is on the disk.
          access: async () => ({ ssh_public_keys: [], cloud_init: true }),
          copy_of: { instance: source.engine_name, snapshot: snapshot.engine_name },
        })
      })
      return found(items[0])
    },

    start: (actor: Actor, id: string) => begin(actor, id, 'start', operations.start, statusDuring.start, {}),

    stop: (actor: Actor, id: string, force: boolean) => begin(actor, id, force ? 'forceStop' : 'stop', operations.stop, statusDuring.stop, { force }),

    restart: (actor: Actor, id: string, force: boolean) => begin(actor, id, 'restart', operations.restart, statusDuring.restart, { force }),

    /** Nothing leads to it any more before it goes. */
    delete: (actor: Actor, id: string) =>
      begin(actor, id, 'delete', operations.delete, statusDuring.delete, async (tx) => {
        // A clone is being made of one of its snapshots.
        if (await snapshotStore.isCopied(tx, { vm_id: id })) throw new Refusal('operationRunning')
        await members.leaving(tx, id)
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
      await record(async (tx) => {
        const vm = found(await store.lockVm(tx, scopeOf(actor), id))
        refuseUnless(vmCan.rename, vm)
        await store.updateVm(tx, id, { name: body.name, description: body.description })
      })
      return shapeOne(db, await get(actor, id))
    },

    async resize(actor: Actor, id: string, body: BodyOf<Calls['resize']>): Promise<Vm> {
      const flavor = await flavorFor(db, scopeOf(actor), body.flavor_id)
      return begin(actor, id, 'resize', operations.resize, statusDuring.resize, async (tx, vm) => {
        const diskBytes = body.disk_bytes ?? Math.max(vm.disk_bytes, flavor.disk_bytes)
        if (diskBytes < vm.disk_bytes) throw new Refusal('diskShrink', { field: 'disk_bytes' })
        refuseBelow(flavor, diskBytes)
        await mustKeepGpus(tx, vm.id, flavor)
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
      const image = await checkImage(actor, before.cloud_id, body.image_fingerprint, before, body.user_data)
      return begin(actor, id, 'rebuild', operations.rebuild, statusDuring.rebuild, async (tx, vm) => {
        const count = await snapshotStore.countOnEngine(tx, id)
        if (count > 0) throw new Refusal('vmHasSnapshots', { values: { count } })
        return {
          ...(await accessOf(tx, scopeOf(actor), body, image)),
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
      return { text: await engine.instances.consoleLog(vm.engine_name) }
    },

    /** For the terminal: the instance and its engine, if the actor may type there now. */
    async forTerminal(actor: Actor, id: string) {
      const vm = await get(actor, id)
      refuseUnless(vmCan.terminal, vm)
      return { vm, engine: await clouds.forReading(vm.cloud_id) }
    },
  }
}

/** Instances to be made, when everything that they are made of is known. */
interface NewVms extends Pick<VmRow, 'cloud_id' | 'bp_id' | 'project_id' | 'description' | 'type' | 'disk_bytes' | 'source_snapshot_id'> {
  names: readonly string[]
  image: Pick<Image, 'fingerprint' | 'name'>
  flavor_id: string
  /** A network of the cloud's own, or a private one: one of the two. */
  network: string | null
  vpc_id: string | null
  address?: string | undefined
  security_group_ids: readonly string[]
  key_pair_ids: readonly string[]
  /** Read in the transaction, so that no key goes meanwhile. */
  access: () => Promise<AccessInput>
  copy_of: CreateInput['copy_of']
}

const rowOf = (actor: Actor, wish: NewVms, flavor: FlavorRow, name: string) => {
  const id = uuidv7()
  return {
    id,
    cloud_id: wish.cloud_id,
    bp_id: wish.bp_id,
    project_id: wish.project_id,
    name,
    description: wish.description,
    type: wish.type,
    status: statusDuring.create,
    engine_name: engineNameOf(id),
    image_fingerprint: wish.image.fingerprint,
    image_name: wish.image.name,
    flavor_id: flavor.id,
    flavor_name: flavor.name,
    cpu_cores: flavor.cpu_cores,
    memory_bytes: flavor.memory_bytes,
    disk_bytes: wish.disk_bytes,
    // Of a private network it is known once the instance has joined.
    network: wish.network ?? '',
    addresses: jsonb([]),
    source_snapshot_id: wish.source_snapshot_id,
    ...authoredBy(actor),
  }
}

/** `web` once stays as it is; `web` three times is web-1, web-2, web-3. */
export function numbered(name: string, count: number): string[] {
  if (count === 1) return [name]
  return Array.from({ length: count }, (_, index) => {
    const suffix = `-${index + 1}`
    return `${[...name].slice(0, 64 - suffix.length).join('')}${suffix}`
  })
}

/** The engine's name for it: never what a person typed. */
const engineNameOf = (id: string): string => `zs-${id.replaceAll('-', '')}`

function refuseBelow(flavor: Pick<Flavor, 'disk_bytes'>, diskBytes: number): void {
  if (diskBytes < flavor.disk_bytes) throw new Refusal('diskBelowFlavor', { field: 'disk_bytes', values: { size: flavor.disk_bytes / 2 ** 30 } })
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
  node: row.node,
  project_id: row.project_id,
})
