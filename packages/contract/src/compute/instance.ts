import { z } from 'zod'
import { can } from '../can.ts'
import { defineCall, empty, moment, flag } from '../define.ts'
import { inProject, sizeBytes } from '../resource.ts'
import { problem } from '../problem.ts'
import { admins, tenants } from '../roles.ts'
import { terminalOpened, terminalWish } from '../terminal.ts'
import { fieldTexts } from '../texts.ts'
import { isAddress } from '../ip.ts'
import { description, name, passwordNew, plainLine, plainText } from '../validation.ts'
import { lineOf } from '../line.ts'
import { cloudId, engineId, inCloud } from './ids.ts'
import { recycledInstance } from './recycled.ts'

const resting = [
  'running',
  'stopped',
  'paused',
  'suspended',
  'shelved',
  'rescued',
  /** Resized or migrated, waiting to be confirmed or reverted. */
  'resized',
  /** Kept by the cloud itself: stands in the recycle bin. */
  'soft_deleted',
  'deleted',
  'create_failed',
  /** It was created once, and something failed since. */
  'error',
] as const
/** Something is done to it that was asked for. */
const passing = [
  'starting',
  'stopping',
  'rebooting',
  'pausing',
  'unpausing',
  'suspending',
  'resuming',
  'shelving',
  'unshelving',
  'rescuing',
  'unrescuing',
  'resizing',
  'confirming',
  'reverting',
  'rebuilding',
  'migrating',
  'snapshotting',
  'restoring',
  'deleting',
] as const

/** What an instance is in, in one word: made of Nova's `vm_state` and `task_state`. */
export const instanceStates = ['creating', ...resting, ...passing, 'unknown'] as const
export type InstanceState = (typeof instanceStates)[number]

/** Something is being done: it will be another soon. */
export const instanceTransitional: readonly InstanceState[] = ['creating', ...passing]

const rest = ['running', 'stopped', 'paused', 'suspended', 'shelved', 'rescued', 'resized', 'error'] as const

/** What may be done to an instance in which state (nova/compute/api.py, `check_instance_state`). */
export const instanceCan = can<InstanceState>()({
  start: ['stopped'],
  stop: ['running', 'error'],
  pause: ['running'],
  unpause: ['paused'],
  suspend: ['running'],
  resume: ['suspended'],
  shelve: ['running', 'stopped', 'paused', 'suspended'],
  unshelve: ['shelved'],
  rebootSoft: ['running'],
  rebootHard: ['running', 'stopped', 'paused', 'suspended', 'error', 'rebooting'],
  lock: [...rest, 'create_failed'],
  unlock: [...rest, 'create_failed'],
  resize: ['running', 'stopped'],
  confirmResize: ['resized'],
  revertResize: ['resized'],
  rebuild: ['running', 'stopped', 'error'],
  rescue: ['running', 'stopped', 'error'],
  unrescue: ['rescued'],
  changePassword: ['running'],
  migrate: ['running', 'stopped'],
  liveMigrate: ['running', 'paused'],
  resetState: instanceStates.filter((state) => state !== 'deleted' && state !== 'soft_deleted'),
  update: [...rest, 'create_failed'],
  setMetadata: ['running', 'stopped', 'paused', 'suspended'],
  setTags: ['running', 'stopped', 'paused', 'suspended'],
  snapshot: ['running', 'stopped', 'paused', 'suspended'],
  attachInterface: ['running', 'stopped', 'paused'],
  detachInterface: ['running', 'stopped', 'paused'],
  attachVolume: ['running', 'stopped', 'paused', 'resized', 'shelved'],
  detachVolume: ['running', 'stopped', 'paused', 'resized', 'shelved'],
  console: ['running', 'paused', 'rescued', 'resized', 'rebooting', 'snapshotting'],
  consoleLog: ['running', 'stopped', 'paused', 'suspended', 'rescued', 'resized', 'rebooting', 'snapshotting', 'error'],
  /** To the recycle bin. Others are deleted for good. */
  recycle: ['running', 'stopped', 'paused', 'suspended', 'shelved', 'error'],
  delete: instanceStates.filter((state) => state !== 'deleting' && state !== 'deleted' && state !== 'soft_deleted'),
})
export type InstanceAction = keyof typeof instanceCan

/** What may be done to one that is locked; everything else wants it unlocked first. */
export const instanceCanLocked = [
  'unlock',
  'lock',
  'update',
  'snapshot',
  'setTags',
  'console',
  'consoleLog',
  'resetState',
] as const satisfies readonly InstanceAction[]

export const computeInstance = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  state: z.enum(instanceStates),
  /** Specification, section 4. */
  code: z.int(),
  /** Nova's own words; null for who is not of the platform. */
  vm_state: z.string().nullable(),
  task_state: z.string().nullable(),
  /** Null where it was started from a volume. Its name stands in `names`, as those of `volume_ids` where they are told. */
  image_id: z.string().nullable(),
  /** As it was when the instance was made or resized: flavors may be gone since. */
  flavor: z.object({ name: z.string(), vcpus: z.int(), memory_bytes: z.int(), disk_bytes: z.int() }).nullable(),
  addresses: z.array(
    z.object({
      /** As it is called. */
      network: z.string(),
      address: z.string(),
      version: z.union([z.literal(4), z.literal(6)]),
      type: z.enum(['fixed', 'floating']),
      mac: z.string().nullable(),
    }),
  ),
  volume_ids: z.array(z.string()),
  /** By name, of all its ports together. */
  security_groups: z.array(z.string()),
  /** As the cloud calls it; `names` has what its owner calls it. */
  key_name: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  tags: z.array(z.string()),
  locked: z.boolean(),
  zone: z.string(),
  /** Null for who is not of the platform. */
  host: z.string().nullable(),
  /** Percent of what is being done, where the cloud tells it. */
  progress: z.int(),
  /** What went wrong, in the cloud's words. */
  fault: z.string().nullable(),
  keystone_project_id: z.string().nullable(),
  /** It lies in the recycle bin: nothing may be done to it here. Never in the list. */
  recycled: z.boolean(),
  created_at: moment.nullable(),
  updated_at: moment.nullable(),
  launched_at: moment.nullable(),
})
export type ComputeInstance = z.output<typeof computeInstance>

export const instanceInterface = z.object({
  port_id: z.string(),
  /** Its name stands in `names`. */
  network_id: z.string(),
  mac: z.string().nullable(),
  /** Neutron's `ACTIVE`, `DOWN`, `BUILD`, `ERROR`. */
  status: z.string(),
  addresses: z.array(z.object({ address: z.string(), subnet_id: z.string() })),
})
export const instanceVolume = z.object({
  volume_id: z.string(),
  name: z.string(),
  /** Null where the volume service does not answer. */
  size_bytes: z.int().nullable(),
  volume_type: z.string().nullable(),
  bootable: z.boolean().nullable(),
  /** Such as `/dev/vdb`. */
  device: z.string(),
  delete_on_termination: z.boolean(),
})
/** One instance, with what hangs on it. */
export const computeInstanceDetail = computeInstance.extend({
  interfaces: z.array(instanceInterface),
  volumes: z.array(instanceVolume),
  /** What is named by id is called: image, networks, project, key pair. */
  names: z.record(z.string(), z.string()),
  /** Other services that failed: what they would have told of it is missing. */
  failed: z.array(problem),
})
export type ComputeInstanceDetail = z.output<typeof computeInstanceDetail>

/** Nova's own rule for keys; values are any text in one line. */
const metadata = z.record(z.string().regex(/^[\w\-.: ]{1,255}$/u, fieldTexts.metadataKey), z.string().max(255).regex(plainLine, fieldTexts.controlCharacters))
const tags = z
  .array(
    z
      .string()
      .trim()
      .min(1)
      .max(60)
      .regex(/^[^\p{Cc}/,]*$/u, fieldTexts.instanceTag),
  )
  .max(50)
/** Nova takes 65,535 bytes of what is encoded. */
const userData = z
  .string()
  .regex(plainText, fieldTexts.controlCharacters)
  .refine((text) => new TextEncoder().encode(text).length <= 49_149, fieldTexts.userData48)
const ipv6 = z.ipv6()
const address = z
  .string()
  .trim()
  .refine((text) => isAddress(text) || ipv6.safeParse(text).success, fieldTexts.addressAny)
const volumeType = z.string().trim().min(1).max(255).regex(plainLine, fieldTexts.controlCharacters)
const host = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(/^[\w.-]+$/, fieldTexts.format)

/** A disk that is made with the instance. */
const newDisk = z.object({
  /** Whole GiB are what clouds make: rounded up. */
  size_bytes: sizeBytes,
  /** Null: the cloud's default. */
  volume_type: volumeType.nullable().default(null),
  /** Goes with the instance. */
  delete_on_termination: z.boolean().default(true),
})

/** One of both: a network, in which a port is made, or a port that is there. */
const connection = z
  .object({
    network_id: engineId.optional(),
    /** Of the network; left out: any free one. */
    address: address.optional(),
    port_id: engineId.optional(),
  })
  .refine((one) => (one.network_id === undefined) !== (one.port_id === undefined), { path: ['network_id'], message: fieldTexts.networkOrPort })
  .refine((one) => one.address === undefined || one.port_id === undefined, { path: ['address'], message: fieldTexts.addressOfPort })

export const createInstanceBody = z
  .object({
    name,
    description: description.default(''),
    ...inProject,
    flavor_id: engineId,
    /** What it is started from. */
    source: z.discriminatedUnion('type', [
      /** With `disk` its copy lies on a volume, else on the host. */
      z.object({ type: z.literal('image'), image_id: engineId, disk: newDisk.nullable().default(null) }),
      z.object({ type: z.literal('volume'), volume_id: engineId, delete_on_termination: z.boolean().default(false) }),
      /** Of a volume; a new one is made from it, at least as big. */
      z.object({
        type: z.literal('snapshot'),
        snapshot_id: engineId,
        size_bytes: sizeBytes.nullable().default(null),
        delete_on_termination: z.boolean().default(true),
      }),
    ]),
    /** Empty ones besides. */
    disks: z.array(newDisk).max(20).default([]),
    networks: z.array(connection).max(16),
    /** Not for ports that are given: those have their own. */
    security_group_ids: z.array(engineId).max(20).default([]),
    /** Of the organisation's. */
    key_pair_id: z.uuid().nullable().default(null),
    password: passwordNew.optional(),
    user_data: userData.optional(),
    server_group_id: engineId.nullable().default(null),
    zone: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .regex(/^[\w.-]+$/, fieldTexts.format)
      .nullable()
      .default(null),
    metadata: metadata.default({}),
    tags: tags.default([]),
    /** More than one are named name-1, name-2, … */
    count: z.int().min(1, fieldTexts.eipCount).max(20, fieldTexts.eipCount).default(1),
  })
  .refine((body) => body.count === 1 || body.source.type !== 'volume', { path: ['count'], message: fieldTexts.countOfVolume })
  .refine((body) => body.count === 1 || body.networks.every((one) => one.address === undefined && one.port_id === undefined), {
    path: ['count'],
    message: fieldTexts.countOfAddress,
  })

const base = '/api/compute/v1/clouds/{cloud_id}/instances'
/** Answers with the instance as it is right after: mostly in its transitional state. */
const one = { access: tenants, params: inCloud, status: 202, response: computeInstance } as const
const byAdmins = { ...one, access: admins } as const
const inInterface = inCloud.extend({ port_id: engineId })
const inVolume = inCloud.extend({ volume_id: engineId })

export const computeInstances = {
  list: defineCall({
    id: 'compute.instance.list',
    method: 'GET',
    path: base,
    summary: 'Instances of a cloud, in lines; without those of the recycle bin. Names: images, projects, key pairs',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeInstance),
  }),
  get: defineCall({
    id: 'compute.instance.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One instance, with its interfaces and volumes',
    access: tenants,
    params: inCloud,
    response: computeInstanceDetail,
  }),
  create: defineCall({
    id: 'compute.instance.create',
    method: 'POST',
    path: base,
    summary: 'Create instances: all that are asked for together, or none',
    also: ({ body }) => [
      ...(body !== undefined && (body.disks.length > 0 || body.source.type === 'snapshot' || (body.source.type === 'image' && body.source.disk !== null))
        ? [{ action: 'compute.volume.create' }]
        : []),
      ...(body?.source.type === 'volume' ? [{ action: 'compute.volume.attach', on: { kind: 'compute.volume', id: body.source.volume_id } }] : []),
    ],
    access: tenants,
    params: cloudId,
    status: 202,
    body: createInstanceBody,
    response: z.object({
      items: z.array(
        z.object({
          name: z.string(),
          /** Null where the cloud did not tell it: then lists have it soon. */
          id: z.string().nullable(),
        }),
      ),
    }),
  }),
  update: defineCall({
    id: 'compute.instance.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: inCloud,
    body: z.object({ name, description: description.default('') }),
    response: computeInstance,
  }),
  start: defineCall({ ...one, id: 'compute.instance.start', method: 'POST', path: `${base}/{id}/start`, summary: 'Start' }),
  stop: defineCall({
    ...one,
    id: 'compute.instance.stop',
    method: 'POST',
    path: `${base}/{id}/stop`,
    summary: 'Shut down; the power is cut where it does not',
  }),
  pause: defineCall({ ...one, id: 'compute.instance.pause', method: 'POST', path: `${base}/{id}/pause`, summary: 'Halt, kept in memory' }),
  unpause: defineCall({ ...one, id: 'compute.instance.unpause', method: 'POST', path: `${base}/{id}/unpause`, summary: 'Go on after a pause' }),
  suspend: defineCall({ ...one, id: 'compute.instance.suspend', method: 'POST', path: `${base}/{id}/suspend`, summary: 'Halt, memory written to disk' }),
  resume: defineCall({ ...one, id: 'compute.instance.resume', method: 'POST', path: `${base}/{id}/resume`, summary: 'Go on after it was suspended' }),
  shelve: defineCall({
    ...one,
    id: 'compute.instance.shelve',
    method: 'POST',
    path: `${base}/{id}/shelve`,
    summary: 'Put away: shut down, kept as an image, its host set free',
  }),
  unshelve: defineCall({ ...one, id: 'compute.instance.unshelve', method: 'POST', path: `${base}/{id}/unshelve`, summary: 'Bring back what was put away' }),
  reboot: defineCall({
    ...one,
    id: 'compute.instance.reboot',
    method: 'POST',
    path: `${base}/{id}/reboot`,
    summary: 'Restart by its system, or hard by its power',
    body: z.object({ type: z.enum(['soft', 'hard']).default('soft') }),
  }),
  lock: defineCall({ ...one, id: 'compute.instance.lock', method: 'POST', path: `${base}/{id}/lock`, summary: 'Guard against changes' }),
  unlock: defineCall({ ...one, id: 'compute.instance.unlock', method: 'POST', path: `${base}/{id}/unlock`, summary: 'Let changes in again' }),
  resize: defineCall({
    ...one,
    id: 'compute.instance.resize',
    method: 'POST',
    path: `${base}/{id}/resize`,
    summary: 'Change the flavor; then it waits to be confirmed or reverted',
    body: z.object({ flavor_id: engineId }),
  }),
  confirmResize: defineCall({
    ...one,
    id: 'compute.instance.confirmResize',
    method: 'POST',
    path: `${base}/{id}/confirm-resize`,
    summary: 'Keep what it was resized or migrated to',
  }),
  revertResize: defineCall({
    ...one,
    id: 'compute.instance.revertResize',
    method: 'POST',
    path: `${base}/{id}/revert-resize`,
    summary: 'Back to what it was before',
  }),
  rebuild: defineCall({
    ...one,
    id: 'compute.instance.rebuild',
    method: 'POST',
    path: `${base}/{id}/rebuild`,
    summary: 'Replace the root disk by a fresh copy of an image; everything on it is lost',
    also: ({ params }) => [{ action: 'compute.instance.create', on: { kind: 'compute.instance', id: params.id } }],
    body: z.object({ image_id: engineId, password: passwordNew.optional(), user_data: userData.optional() }),
  }),
  rescue: defineCall({
    id: 'compute.instance.rescue',
    method: 'POST',
    path: `${base}/{id}/rescue`,
    summary: 'Start it from another image, its own disk beside',
    access: tenants,
    params: inCloud,
    status: 202,
    body: z.object({
      /** Null: its own. */
      image_id: engineId.nullable().default(null),
      password: passwordNew.optional(),
    }),
    response: z.object({
      instance: computeInstance,
      /** Of the rescue system, told this once. */
      password: z.string().nullable(),
    }),
  }),
  unrescue: defineCall({ ...one, id: 'compute.instance.unrescue', method: 'POST', path: `${base}/{id}/unrescue`, summary: 'Start it from its own disk again' }),
  changePassword: defineCall({
    ...one,
    id: 'compute.instance.changePassword',
    method: 'POST',
    path: `${base}/{id}/password`,
    summary: 'Set the password of its administrator, where its system takes it',
    body: z.object({ password: passwordNew }),
  }),
  migrate: defineCall({
    ...byAdmins,
    id: 'compute.instance.migrate',
    method: 'POST',
    path: `${base}/{id}/migrate`,
    summary: 'To another host, shut down meanwhile; then it waits to be confirmed or reverted',
    body: z.object({ host: host.nullable().default(null) }),
  }),
  liveMigrate: defineCall({
    ...byAdmins,
    id: 'compute.instance.liveMigrate',
    method: 'POST',
    path: `${base}/{id}/live-migrate`,
    summary: 'To another host while it runs',
    body: z.object({ host: host.nullable().default(null) }),
  }),
  resetState: defineCall({
    ...byAdmins,
    id: 'compute.instance.resetState',
    method: 'POST',
    path: `${base}/{id}/reset-state`,
    summary: 'What the cloud says of it, not what it is: after a failure',
    body: z.object({ state: z.enum(['active', 'error']) }),
  }),
  recycle: defineCall({
    id: 'compute.instance.recycle',
    method: 'POST',
    path: `${base}/{id}/recycle`,
    summary: 'To the recycle bin: shut down, its floating IPs taken off, locked, until it is restored or its time is over',
    access: tenants,
    params: inCloud,
    status: 202,
    response: recycledInstance,
  }),
  /**
   * Its floating IPs and the volumes that do not go with it stay, and go on being paid for, unless they are to go too,
   * which asks for `compute.floatingIp.release` and `compute.volume.delete` of them as well.
   */
  delete: defineCall({
    id: 'compute.instance.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete for good, with the volumes that go with it; with its floating IPs and its other volumes where that is said',
    access: tenants,
    params: inCloud,
    query: z.object({ release_floating_ips: flag.optional(), release_volumes: flag.optional() }),
    response: empty,
  }),
  console: defineCall({
    outside: false,
    id: 'compute.instance.console',
    method: 'POST',
    path: `${base}/{id}/console`,
    summary: 'An address that leads to its console for some minutes',
    access: tenants,
    params: inCloud,
    body: z.object({ type: z.enum(['novnc']).default('novnc') }),
    response: z.object({
      /** A page of the cloud's. */
      url: z.string(),
    }),
  }),
  serialConsole: defineCall({
    outside: false,
    id: 'compute.instance.serialConsole',
    method: 'POST',
    path: `${base}/{id}/serial-console`,
    summary: 'Open its serial console as a terminal, or with `terminal_id` come back to it. There is one for all: 409 (94009) while it is open',
    access: tenants,
    params: inCloud,
    status: 201,
    body: terminalWish,
    response: terminalOpened,
  }),
  consoleLog: defineCall({
    id: 'compute.instance.consoleLog',
    method: 'GET',
    path: `${base}/{id}/console-log`,
    summary: 'The last lines that it printed on its serial console',
    access: tenants,
    params: inCloud,
    query: z.object({ lines: z.coerce.number().int().min(1).max(10_000).default(500) }),
    response: z.object({ text: z.string() }),
  }),
  actions: defineCall({
    id: 'compute.instance.actions',
    method: 'GET',
    path: `${base}/{id}/actions`,
    summary: 'What was done to it as the cloud tells it, newest first, in lines',
    access: tenants,
    params: inCloud,
    lines: true,
    response: lineOf(
      z.object({
        request_id: z.string(),
        /** Nova's word: `create`, `start`, `reboot`, `resize` … */
        action: z.string(),
        started_at: moment.nullable(),
        /** What went wrong; null where nothing did. */
        message: z.string().nullable(),
      }),
    ),
  }),
  setMetadata: defineCall({
    id: 'compute.instance.setMetadata',
    method: 'PUT',
    path: `${base}/{id}/metadata`,
    summary: 'Its metadata: exactly these',
    access: tenants,
    params: inCloud,
    body: z.object({ metadata }),
    response: computeInstance,
  }),
  setTags: defineCall({
    id: 'compute.instance.setTags',
    method: 'PUT',
    path: `${base}/{id}/tags`,
    summary: 'Its tags: exactly these',
    access: tenants,
    params: inCloud,
    body: z.object({ tags }),
    response: computeInstance,
  }),
  attachInterface: defineCall({
    id: 'compute.instance.attachInterface',
    method: 'POST',
    path: `${base}/{id}/interfaces`,
    summary: 'Connect it to a network, or to a port',
    also: ({ body }) => (body?.network_id === undefined ? [] : [{ action: 'compute.port.create' }]),
    access: tenants,
    params: inCloud,
    status: 201,
    body: connection,
    response: instanceInterface,
  }),
  detachInterface: defineCall({
    id: 'compute.instance.detachInterface',
    method: 'DELETE',
    path: `${base}/{id}/interfaces/{port_id}`,
    summary: 'Disconnect it; a port that was made with it goes',
    access: tenants,
    params: inInterface,
    response: empty,
  }),
  attachVolume: defineCall({
    id: 'compute.instance.attachVolume',
    method: 'POST',
    path: `${base}/{id}/volumes`,
    summary: 'Attach a volume',
    also: ({ body }) => (body === undefined ? [] : [{ action: 'compute.volume.attach', on: { kind: 'compute.volume', id: body.volume_id } }]),
    access: tenants,
    params: inCloud,
    status: 202,
    body: z.object({ volume_id: engineId }),
    response: z.object({ volume_id: z.string(), device: z.string() }),
  }),
  detachVolume: defineCall({
    id: 'compute.instance.detachVolume',
    method: 'DELETE',
    path: `${base}/{id}/volumes/{volume_id}`,
    summary: 'Detach a volume; not the one that it was started from',
    also: ({ params }) => [{ action: 'compute.volume.detach', on: { kind: 'compute.volume', id: params.volume_id } }],
    access: tenants,
    params: inVolume,
    response: empty,
  }),
  snapshot: defineCall({
    id: 'compute.instance.snapshot',
    method: 'POST',
    path: `${base}/{id}/snapshot`,
    summary: 'Make an image of it',
    also: () => [{ action: 'compute.image.create' }],
    access: tenants,
    params: inCloud,
    status: 202,
    body: z.object({ name, description: description.default('') }),
    response: z.object({ image_id: z.string() }),
  }),
} as const

export const serverGroupPolicies = ['affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity'] as const

/** Instances that are to be together on a host, or apart. */
export const serverGroup = z.object({
  id: z.string(),
  name: z.string(),
  /** One of `serverGroupPolicies`, or what the cloud has besides. */
  policy: z.string(),
  member_ids: z.array(z.string()),
  keystone_project_id: z.string().nullable(),
})
export type ServerGroup = z.output<typeof serverGroup>

const groups = '/api/compute/v1/clouds/{cloud_id}/server-groups'
export const serverGroups = {
  list: defineCall({
    id: 'compute.serverGroup.list',
    method: 'GET',
    path: groups,
    summary: 'Server groups, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(serverGroup),
  }),
  create: defineCall({
    id: 'compute.serverGroup.create',
    method: 'POST',
    path: groups,
    summary: 'Create a server group',
    access: tenants,
    params: cloudId,
    status: 201,
    body: z.object({ name, policy: z.enum(serverGroupPolicies), ...inProject }),
    response: serverGroup,
  }),
  delete: defineCall({
    id: 'compute.serverGroup.delete',
    method: 'DELETE',
    path: `${groups}/{id}`,
    summary: 'Delete a server group; its instances stay',
    access: tenants,
    params: inCloud,
    response: empty,
  }),
} as const

export const availabilityZones = {
  list: defineCall({
    id: 'compute.zone.list',
    method: 'GET',
    path: '/api/compute/v1/clouds/{cloud_id}/zones',
    summary: 'Availability zones of a cloud',
    access: tenants,
    params: cloudId,
    response: z.object({ items: z.array(z.object({ name: z.string(), available: z.boolean() })) }),
  }),
} as const
