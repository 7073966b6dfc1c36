import type { computeInstances } from '@zhisuan/contract/compute/instance'
import { allQuotaKinds, type QuotaKind } from '@zhisuan/contract/compute/project'
import { computeSnapshotCan } from '@zhisuan/contract/compute/volume'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Disk, Flavor, ServerWish } from '@zhisuan/engines/openstack/compute'
import { OpenStackError } from '@zhisuan/engines/openstack/errors'
import { all } from '@zhisuan/engines/openstack/session'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { Refusal, refuseUnless } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { read, type Reading } from '../network/network.refusals.ts'
import { cloudKinds, refuseBeyondQuota } from '../tenancy/quota.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { statusOf as statusOfSnapshot } from '../volume/snapshot.service.ts'
import { refuseUnlessAttachable } from '../volume/volume.service.ts'
import { chosen, connectable, connectionReadings, type PublicKeys } from './instance.ground.ts'
import { withKey } from './instance.keys.ts'

type Body = BodyOf<typeof computeInstances.create>

const gib = 2 ** 30
const gibOf = (bytes: number): number => Math.ceil(bytes / gib)

/**
 * Everything that a wish names, asked for from where it will be: what is another's is not there.
 * @throws Refusal at the field of what is not there, or not as it has to be
 * @returns what the disks that are made with an instance take, as far as it is known
 */
async function look({ compute, images, network, volume }: OpenStack, body: Body): Promise<{ flavor: Flavor; disksGib: number[] }> {
  const { source } = body
  const disks = [
    ...(source.type === 'image' && source.disk !== null ? [{ at: 'source.disk', disk: source.disk }] : []),
    ...body.disks.map((disk, index) => ({ at: `disks.${index}`, disk })),
  ]
  const typed = disks.flatMap(({ at, disk: { volume_type } }) => (volume_type === null ? [] : [{ field: `${at}.volume_type`, volume_type }]))
  const [flavor, image, origin, snapshot, types] = await Promise.all([
    chosen('flavor_id', compute.flavors.get(body.flavor_id)),
    source.type === 'image' ? chosen('source.image_id', images.get(source.image_id)) : null,
    source.type === 'volume' ? chosen('source.volume_id', volume.volumes.get(source.volume_id)) : null,
    source.type === 'snapshot' ? chosen('source.snapshot_id', volume.snapshots.get(source.snapshot_id)) : null,
    typed.length === 0 ? [] : all(volume.types.list()),
    ...body.networks.map((one, at) => connectable({ network }, one, `networks.${at}.`)),
    ...body.security_group_ids.map((id, at) => chosen(`security_group_ids.${at}`, network.securityGroups.get(id))),
    body.server_group_id === null ? null : chosen('server_group_id', compute.serverGroups.get(body.server_group_id)),
  ])
  for (const { field, volume_type } of typed)
    if (!types.some(({ id, name }) => id === volume_type || name === volume_type)) throw new Refusal('computeVolumeTypeMissing', { field })
  const leastGib = (sizeGib: number, bytes: number, field: string): void => {
    if (gibOf(bytes) < sizeGib) throw new Refusal('computeVolumeTooSmall', { field, values: { size: sizeGib } })
  }
  if (image !== null && source.type === 'image') {
    if (image.status !== 'active') throw new Refusal('computeImageUnready', { field: 'source.image_id' })
    // A flavor without a disk of its own takes what the image needs.
    const diskShort = source.disk === null && flavor.diskGib > 0 && flavor.diskGib < image.minDiskGib
    if (flavor.memoryMib < image.minMemoryMib || diskShort) throw new Refusal('flavorTooSmall', { field: 'flavor_id' })
    if (source.disk !== null) leastGib(image.minDiskGib, source.disk.size_bytes, 'source.disk.size_bytes')
  }
  if (origin !== null) {
    refuseUnlessAttachable(origin, 'source.volume_id')
    if (!origin.bootable) throw new Refusal('computeVolumeNotBootable', { field: 'source.volume_id' })
  }
  if (snapshot !== null && source.type === 'snapshot') {
    refuseUnless(computeSnapshotCan.createVolume, { status: statusOfSnapshot(snapshot) }, 'source.snapshot_id')
    if (source.size_bytes !== null) leastGib(snapshot.sizeGib, source.size_bytes, 'source.size_bytes')
  }
  const root = snapshot !== null && source.type === 'snapshot' ? [source.size_bytes === null ? snapshot.sizeGib : gibOf(source.size_bytes)] : []
  return { flavor, disksGib: [...root, ...disks.map(({ disk }) => gibOf(disk.size_bytes))] }
}

/** Where it is said of a quota that it does not suffice: of several, that they are too many. */
const fieldOfQuota =
  ({ count, source }: Body) =>
  (kind: QuotaKind): string => {
    if (count > 1 || kind === 'instances') return 'count'
    if (kind === 'cores' || kind === 'memory_bytes') return 'flavor_id'
    if (kind === 'ports') return 'networks'
    return source.type === 'snapshot' || (source.type === 'image' && source.disk !== null) ? 'source' : 'disks'
  }

/** What Nova refuses of what was looked at before, since somebody was faster, and what only Nova knows. */
const readings = (body: Body): Reading[] => [
  ...body.networks.flatMap((one, at) => connectionReadings(one, `networks.${at}.`)),
  ...(body.source.type === 'volume' ? [{ kind: 'busy', says: /volume/i, refusal: 'stateForbids', field: 'source.volume_id' } as const] : []),
  { kind: 'invalid', says: /availability zone/i, refusal: 'engineRefused', field: 'zone' },
  { kind: 'invalid', says: /flavor'?s? .*too small/i, refusal: 'flavorTooSmall', field: 'flavor_id' },
]

const diskOf = (from: Pick<Disk, 'from' | 'id'>, disk: { size_bytes: number; volume_type: string | null; delete_on_termination: boolean }): Disk => ({
  ...from,
  sizeGib: gibOf(disk.size_bytes),
  ...(disk.volume_type !== null && { volumeType: disk.volume_type }),
  deleteWithServer: disk.delete_on_termination,
})

function rootOf(source: Body['source']): Disk | null {
  switch (source.type) {
    case 'image':
      return source.disk && diskOf({ from: 'image', id: source.image_id }, source.disk)
    case 'volume':
      return { from: 'volume', id: source.volume_id, deleteWithServer: source.delete_on_termination }
    case 'snapshot':
      return {
        from: 'snapshot',
        id: source.snapshot_id,
        ...(source.size_bytes !== null && { sizeGib: gibOf(source.size_bytes) }),
        deleteWithServer: source.delete_on_termination,
      }
  }
}

function wishOf(body: Body, keyName: string | null): ServerWish {
  const root = rootOf(body.source)
  return {
    name: body.name,
    description: body.description,
    flavorId: body.flavor_id,
    ...(root === null && body.source.type === 'image' && { imageId: body.source.image_id }),
    disks: [...(root === null ? [] : [root]), ...body.disks.map((disk) => diskOf({ from: 'blank' }, disk))],
    networks:
      body.networks.length === 0
        ? 'none'
        : body.networks.map(({ network_id, address, port_id }) =>
            network_id === undefined ? { portId: port_id ?? '' } : { networkId: network_id, ...(address !== undefined && { address }) },
          ),
    ...(body.security_group_ids.length > 0 && { securityGroups: body.security_group_ids }),
    ...(keyName !== null && { keyName }),
    ...(body.user_data !== undefined && { userData: body.user_data }),
    ...(body.password !== undefined && { adminPassword: body.password }),
    ...(body.server_group_id !== null && { serverGroupId: body.server_group_id }),
    ...(body.zone !== null && { zone: body.zone }),
    metadata: body.metadata,
    tags: body.tags,
  }
}

/**
 * Makes instances: all that are asked for together, or none. One after the other would race with themselves, since Nova
 * counts what it has begun only some time later, and what does not fit then fails as an instance.
 */
export const createInstanceMaker =
  (parts: { tenancy: Tenancy; publicKeys: PublicKeys }) =>
  async (actor: Actor, cloudId: string, body: Body): Promise<ResponseOf<typeof computeInstances.create>> => {
    const { cloud, keystoneId } = await parts.tenancy.placeForMaking(actor, cloudId, body.project_id)
    const key = body.key_pair_id === null ? null : { id: body.key_pair_id, line: await parts.publicKeys.publicKey(scopeOf(actor), body.key_pair_id) }
    const [{ flavor, disksGib }, administrator] = await Promise.all([look(cloud, body), parts.tenancy.inside(cloudId, null)])
    const { count } = body
    const wants = {
      instances: count,
      cores: flavor.vcpus * count,
      memory_bytes: flavor.memoryMib * 2 ** 20 * count,
      volumes: disksGib.length * count,
      volume_bytes: disksGib.reduce((sum, size) => sum + size, 0) * gib * count,
      // What is plugged in is there already.
      ports: body.networks.filter(({ network_id }) => network_id !== undefined).length * count,
    }
    await refuseBeyondQuota(administrator, keystoneId, wants, fieldOfQuota(body))
    const { servers } = cloud.compute
    const asked = <T>(make: (wish: ServerWish) => Promise<T>): Promise<T> =>
      read(atQuota(key === null ? make(wishOf(body, null)) : withKey(cloud, key, (name) => make(wishOf(body, name))), body), readings(body))
    if (count === 1) return { items: [{ name: body.name, id: (await asked((wish) => servers.create(wish))).id }] }
    const reservation_id = await asked((wish) => servers.createMany(wish, count))
    const made = await all(servers.list({ reservation_id })).catch((error: unknown) => {
      // They are made all the same, and lists show them.
      if (!isEngineError(error)) throw error
      return []
    })
    const ids = new Map(made.map(({ name, id }) => [name, id]))
    return {
      items: Array.from({ length: count }, (_, at) => {
        const name = `${body.name}-${at + 1}`
        return { name, id: ids.get(name) ?? null }
      }),
    }
  }

/** What Nova counts itself once more, at the field of the first quota that it names. */
async function atQuota<T>(asked: Promise<T>, body: Body): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const name = error instanceof OpenStackError ? error.quotas[0] : undefined
    const kind = allQuotaKinds.find((one) => cloudKinds[one].name === name)
    if (kind === undefined) throw error
    const { refusal, values, detail, engine } = toRefusal(error)
    throw new Refusal(refusal, { field: fieldOfQuota(body)(kind), values: { ...values }, cause: error, detail, ...(engine !== undefined && { engine }) })
  }
}
