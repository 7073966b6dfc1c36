import type { BodyOf } from '@zhisuan/contract/define'
import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import type { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { vmCan, type Vm, type vms } from '@zhisuan/contract/nextstack/vm'
import type { Image } from '@zhisuan/engines/compute'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { idsOf, uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { Catalogue, UsableImage } from '../catalogue/catalogue.service.ts'
import { flavorFor } from '../flavor/flavor.service.ts'
import type { FlavorRow } from '../flavor/flavor.store.ts'
import { place } from '../host/host.place.ts'
import { keyPairsOf, publicKeysOf, remember } from '../key-pair/key-pair.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import type { VpcMembers } from '../vpc/vpc.members.ts'
import { statusDuring, type AccessInput, type CreateInput, type VmOperations } from './vm.operations.ts'
import * as store from './vm.store.ts'
import type { ShownVm, VmRow } from './vm.store.ts'

type Calls = typeof vms

export interface VmMakingParts {
  clouds: CloudService
  catalogue: Catalogue
  operations: VmOperations
  members: VpcMembers
  quotas: QuotaService
  licence: { assertValid(): Promise<void> | void }
}

/** How instances come to be: out of images, and out of snapshots of others. */
export function createVmMaking(
  platform: Pick<Platform, 'db' | 'operations'>,
  parts: VmMakingParts,
  shapeAll: (on: Sql, rows: readonly ShownVm[]) => Promise<Vm[]>,
) {
  const { db } = platform
  const { clouds, catalogue, operations, members, quotas, licence } = parts

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
    checkImage,
    accessOf,
    record,

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
      const before = found(await store.getVm(db, scopeOf(actor), sourceId))
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

/** A disk is at least as large as the flavor's. @throws Refusal diskBelowFlavor */
export function refuseBelow(flavor: Pick<Flavor, 'disk_bytes'>, diskBytes: number): void {
  if (diskBytes < flavor.disk_bytes) throw new Refusal('diskBelowFlavor', { field: 'disk_bytes', values: { size: flavor.disk_bytes / 2 ** 30 } })
}
