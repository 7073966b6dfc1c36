import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { vmCan, type Flavor, type Vm, type VmAction, type VmOperation, type VmStatus, type vms } from '@zhisuan/contract/nextstack/vm'
import { errors } from '@zhisuan/contract/errors'
import type { Image } from '@zhisuan/engines/compute'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, isUniqueViolation, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { runsCloudInit, type Catalogue } from '../catalogue/catalogue.service.ts'
import { getFlavor } from '../flavor/flavor.store.ts'
import type { Metrics } from './vm.metrics.ts'
import { statusDuring, type AccessInput, type VmOperations } from './vm.operations.ts'
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
    licence: { assertValid(): Promise<void> | void }
  },
) {
  const { db } = platform
  const { clouds, catalogue, operations, licence } = parts

  const get = async (actor: Actor, id: string): Promise<ShownVm> => found(await store.getVm(db, scopeOf(actor), id))

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
  ): Promise<Vm> => {
    await db.transaction().execute(async (tx) => {
      const { cloud_id } = found(await store.getVm(tx, scopeOf(actor), id))
      // The cloud before the instance, as its removal does: in the other order the two would wait for each other.
      await clouds.forChange(tx, cloud_id)
      const vm = found(await store.lockVm(tx, scopeOf(actor), id))
      refuseUnlessAllowed(vm, action)
      const resolved = typeof input === 'function' ? await (input as (tx: Tx, vm: VmRow) => Promise<Input>)(tx, vm) : input
      await platform.operations.begin(tx, definition, { resource_id: id, bp_id: vm.bp_id, actor, input: resolved })
      await store.updateVm(tx, id, { status: during, error_text: null })
    })
    return shape(await get(actor, id))
  }

  /** The image, network and access of a create or rebuild, checked against what the cloud has. */
  const checkImage = async (cloudId: string, fingerprint: string, type: string, userData: string | undefined): Promise<Image> => {
    const { images } = await catalogue.known(cloudId, await clouds.forReading(cloudId))
    const image = images.find((candidate) => candidate.fingerprint === fingerprint)
    if (image === undefined) throw new Refusal('imageMissing', { field: 'image_fingerprint' })
    if (image.type !== type) throw new Refusal('imageTypeMismatch', { field: 'image_fingerprint' })
    if (userData !== undefined && !runsCloudInit(image)) throw new Refusal('cloudInitUnsupported', { field: 'user_data' })
    return image
  }
  const accessOf = (body: Pick<BodyOf<Calls['create']>, 'password' | 'ssh_public_key' | 'user_data'>, image: Image): AccessInput => ({
    password: body.password,
    ssh_public_key: body.ssh_public_key,
    user_data: body.user_data,
    cloud_init: runsCloudInit(image),
  })
  const flavorOf = async (id: string) => {
    const flavor = await getFlavor(db, id)
    if (flavor === undefined) throw new Refusal('flavorMissing', { field: 'flavor_id' })
    return flavor
  }

  return {
    async list(scope: Scope, query: QueryOf<Calls['list']>) {
      const { total, rows } = await store.listVms(db, scope, query)
      return { total, items: rows.map(shape) }
    },

    async get(actor: Actor, id: string): Promise<Vm> {
      return shape(await get(actor, id))
    },

    /** All of them are recorded, or none. */
    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<{ items: Vm[] }> {
      // What belongs to nobody would be seen by nobody, not even by who made it.
      if ('nothing' in scopeOf(actor)) throw new Refusal('noPermission')
      await licence.assertValid()
      const flavor = await flavorOf(body.flavor_id)
      const diskBytes = body.disk_bytes ?? flavor.disk_bytes
      refuseBelow(flavor, diskBytes)
      const image = await checkImage(body.cloud_id, body.image_fingerprint, body.type, body.user_data)
      const { networks } = await catalogue.known(body.cloud_id, await clouds.forReading(body.cloud_id))
      if (!networks.some((network) => network.name === body.network)) throw new Refusal('networkMissing', { field: 'network' })

      const names = numbered(body.name, body.count)
      const rows = names.map((name) => {
        const id = uuidv7()
        return {
          id,
          cloud_id: body.cloud_id,
          bp_id: actor.bp_id,
          name,
          description: body.description,
          type: body.type,
          status: statusDuring.create,
          error_text: null,
          engine_name: engineNameOf(id),
          image_fingerprint: image.fingerprint,
          image_name: image.name,
          flavor_id: flavor.id,
          flavor_name: flavor.name,
          cpu_cores: flavor.cpu_cores,
          memory_bytes: flavor.memory_bytes,
          disk_bytes: diskBytes,
          network: body.network,
          observed: null,
          addresses: JSON.stringify([]) as unknown as [],
          node: null,
          created_by: actor.user_id,
          created_by_name: actor.name,
        }
      })
      try {
        await db.transaction().execute(async (tx) => {
          const cloud = await clouds.forChange(tx, body.cloud_id)
          if (cloud.product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'cloud_id' })
          if (cloud.instance_types?.[body.type].available === false) throw new Refusal('vmTypeUnavailable', { field: 'type' })
          await store.insertVms(tx, rows)
          for (const row of rows) {
            await platform.operations.begin(tx, operations.create, {
              resource_id: row.id,
              bp_id: row.bp_id,
              actor,
              input: accessOf(body, image),
            })
          }
        })
      } catch (error) {
        if (isUniqueViolation(error, 'vms_name')) throw new Refusal('vmNameTaken', { field: 'name', cause: error })
        throw error
      }
      const items = await Promise.all(rows.map(async (row) => shape(await get(actor, row.id))))
      return { items }
    },

    start: (actor: Actor, id: string) => begin(actor, id, 'start', operations.start, statusDuring.start, {}),

    stop: (actor: Actor, id: string, force: boolean) =>
      begin(actor, id, force ? 'forceStop' : 'stop', operations.stop, statusDuring.stop, { force }),

    restart: (actor: Actor, id: string, force: boolean) =>
      begin(actor, id, 'restart', operations.restart, statusDuring.restart, { force }),

    delete: (actor: Actor, id: string) => begin(actor, id, 'delete', operations.delete, statusDuring.delete, {}),

    async rename(actor: Actor, id: string, body: BodyOf<Calls['rename']>): Promise<Vm> {
      try {
        await db.transaction().execute(async (tx) => {
          const vm = found(await store.lockVm(tx, scopeOf(actor), id))
          refuseUnlessAllowed(vm, 'rename')
          await store.updateVm(tx, id, { name: body.name, description: body.description })
        })
      } catch (error) {
        if (isUniqueViolation(error, 'vms_name')) throw new Refusal('vmNameTaken', { field: 'name', cause: error })
        throw error
      }
      return shape(await get(actor, id))
    },

    async resize(actor: Actor, id: string, body: BodyOf<Calls['resize']>): Promise<Vm> {
      const flavor = await flavorOf(body.flavor_id)
      return begin(actor, id, 'resize', operations.resize, statusDuring.resize, async (_tx, vm) => {
        const diskBytes = body.disk_bytes ?? Math.max(vm.disk_bytes, flavor.disk_bytes)
        if (diskBytes < vm.disk_bytes) throw new Refusal('diskShrink', { field: 'disk_bytes' })
        refuseBelow(flavor, diskBytes)
        if (flavor.cpu_cores === vm.cpu_cores && flavor.memory_bytes === vm.memory_bytes && diskBytes === vm.disk_bytes) {
          throw new Refusal('sizeUnchanged', { field: 'flavor_id' })
        }
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
      const image = await checkImage(before.cloud_id, body.image_fingerprint, before.type, body.user_data)
      return begin(actor, id, 'rebuild', operations.rebuild, statusDuring.rebuild, async (_tx, vm) => ({
        ...accessOf(body, image),
        image_fingerprint: image.fingerprint,
        image_name: image.name,
        was_running: vm.status === 'running',
      }))
    },

    async operations(actor: Actor, id: string, query: QueryOf<Calls['operations']>): Promise<{ total: number; items: VmOperation[] }> {
      await get(actor, id)
      const { total, rows } = await store.listOperations(db, id, query)
      return {
        total,
        items: rows.map((row) => ({
          id: row.id,
          kind: row.kind,
          // Undoing is how it runs on after it failed.
          status: row.status === 'undoing' ? 'running' : row.status,
          step: row.step,
          steps_done: row.steps_done,
          steps_total: row.steps_total,
          error: row.error_text ?? (row.error === null ? null : errors[row.error].text),
          actor_name: row.actor_name,
          created_at: iso(row.created_at),
          started_at: isoOrNull(row.started_at),
          finished_at: isoOrNull(row.finished_at),
        })),
      }
    },

    async metrics(actor: Actor, id: string, minutes: number) {
      const vm = await get(actor, id)
      return parts.metrics.of(vm, minutes)
    },

    async consoleLog(actor: Actor, id: string): Promise<{ text: string }> {
      const vm = await get(actor, id)
      refuseUnlessAllowed(vm, 'consoleLog')
      const engine = await clouds.forReading(vm.cloud_id)
      return { text: await engine.instances.consoleLog(vm.engine_name) }
    },

    /** For the terminal: the instance and its engine, if the actor may type there now. */
    async forTerminal(actor: Actor, id: string) {
      const vm = await get(actor, id)
      refuseUnlessAllowed(vm, 'terminal')
      return { vm, engine: await clouds.forReading(vm.cloud_id) }
    },
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

function refuseUnlessAllowed(vm: Pick<VmRow, 'status'>, action: VmAction): void {
  const allowed: readonly VmStatus[] = vmCan[action]
  if (!allowed.includes(vm.status)) throw new Refusal('stateForbids')
}

const shape = (row: ShownVm): Vm => ({
  id: row.id,
  name: row.name,
  description: row.description,
  cloud_id: row.cloud_id,
  type: row.type,
  status: row.status,
  error: row.error_text,
  operation_id: row.operation_id,
  image: { fingerprint: row.image_fingerprint, name: row.image_name },
  flavor: { id: row.flavor_id, name: row.flavor_name },
  cpu_cores: row.cpu_cores,
  memory_bytes: row.memory_bytes,
  disk_bytes: row.disk_bytes,
  network: row.network,
  addresses: row.addresses,
  node: row.node,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})
