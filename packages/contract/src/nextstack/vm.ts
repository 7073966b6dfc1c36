import { z } from 'zod'
import { directoryEntry, machinePath } from '../directory.ts'
import { can } from '../can.ts'
import { actsOn, byId, defineCall, flag, listOf, listQuery, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { terminalOpened, terminalWish } from '../terminal.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named, passwordNew, plainLine, plainText } from '../validation.ts'
import { isAddress } from '../ip.ts'
import { operation } from '../operation.ts'
import { inProject, reference } from '../resource.ts'

/** `vm`: own kernel. `container`: system container, shown as 轻量实例. */
export const vmTypes = ['vm', 'container'] as const
export type VmType = (typeof vmTypes)[number]

/**
 * At rest: running, stopped, paused, error (the engine says so, or creation failed), lost (the
 * engine no longer has it). The others pass: an operation is running.
 */
export const vmStatuses = [
  'creating',
  'running',
  'stopped',
  'paused',
  'starting',
  'stopping',
  'restarting',
  'resizing',
  'rebuilding',
  'restoring',
  'deleting',
  'error',
  'lost',
] as const
export type VmStatus = (typeof vmStatuses)[number]

export const vmTransitional: readonly VmStatus[] = ['creating', 'starting', 'stopping', 'restarting', 'resizing', 'rebuilding', 'restoring', 'deleting']

/** What may be done to an instance in which status. */
export const vmCan = can<VmStatus>()({
  start: ['stopped'],
  stop: ['running'],
  forceStop: ['running', 'paused', 'error'],
  restart: ['running'],
  rename: ['running', 'stopped', 'paused', 'error', 'lost'],
  resize: ['running', 'stopped'],
  setSecurityGroups: ['running', 'stopped', 'paused', 'error'],
  rebuild: ['running', 'stopped', 'error'],
  snapshot: ['running', 'stopped'],
  restore: ['running', 'stopped'],
  clone: ['running', 'stopped', 'paused', 'error'],
  delete: ['running', 'stopped', 'paused', 'error', 'lost'],
  terminal: ['running'],
  consoleLog: ['running', 'stopped', 'paused', 'error'],
})
export type VmAction = keyof typeof vmCan

export const vm = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  cloud_id: z.uuid(),
  type: z.enum(vmTypes),
  status: z.enum(vmStatuses),
  /** Chinese text of what went wrong the last time; null once something succeeded, or the engine says otherwise. */
  error: z.string().nullable(),
  /** The operation that is running, or null. */
  operation_id: z.uuid().nullable(),
  image: z.object({ fingerprint: z.string(), name: z.string() }),
  flavor: z.object({ id: z.uuid().nullable(), name: z.string() }),
  cpu_cores: z.int(),
  memory_bytes: z.int(),
  disk_bytes: z.int(),
  /** Whole GPUs that it alone has. */
  gpus: z.array(z.object({ model: z.string(), count: z.int() })),
  /** As the engine calls it. */
  network: z.string(),
  /** The private network that it is in; null in one of the cloud's own. */
  vpc: reference.nullable(),
  security_groups: z.array(reference),
  /** The outside address that leads to it. */
  eip: z.object({ id: z.uuid(), address: z.string() }).nullable(),
  addresses: z.array(z.object({ family: z.union([z.literal(4), z.literal(6)]), address: z.string() })),
  /** The one that it has in its private network, also while it is off and `addresses` are empty; null in one of the cloud's own. */
  reserved_address: z.string().nullable(),
  /** Host or cluster member. */
  node: z.string().nullable(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  project_id: z.uuid().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Vm = z.output<typeof vm>

/** Rates between two samples; null where the engine cannot tell, or there is one sample only. */
export const vmSample = z.object({
  at: moment,
  /** 0 to 1 over all cores of the instance. */
  cpu: z.number().nullable(),
  memory_bytes: z.number(),
  disk_bytes: z.number().nullable(),
  received_bytes_per_second: z.number().nullable(),
  sent_bytes_per_second: z.number().nullable(),
})

const fingerprint = z.string().regex(/^[0-9a-f]{12,64}$/)

/** `ssh-ed25519 AAAA… comment`, one line. */
const sshPublicKey = z
  .string()
  .trim()
  .max(8192)
  .regex(
    /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com) [A-Za-z0-9+/]+={0,3}( \P{Cc}*)?$/u,
    fieldTexts.sshPublicKey,
  )
const userData = z
  .string()
  .max(65_536, fieldTexts.userDataTooLong)
  .regex(/^(#cloud-config|#!)/, fieldTexts.userData)
  .regex(plainText, fieldTexts.controlCharacters)

/** How a person gets in: each is optional. */
const access = {
  password: passwordNew.optional(),
  ssh_public_key: sshPublicKey.optional(),
  /** Keys of the organisation, besides. */
  key_pair_ids: z.array(z.uuid()).max(10).default([]),
  user_data: userData.optional(),
}

export const createVmBody = z
  .object({
    cloud_id: z.uuid(),
    name,
    description: description.default(''),
    ...inProject,
    type: z.enum(vmTypes),
    image_fingerprint: fingerprint,
    flavor_id: z.uuid(),
    /** Root disk, at least the flavor's. */
    disk_bytes: z
      .int()
      .min(1)
      .max(2 ** 50)
      .optional(),
    /** A private network, or one of the cloud's own: one of the two. */
    vpc_id: z.uuid().nullable().default(null),
    network: z.string().min(1).max(63).regex(plainLine, fieldTexts.controlCharacters).nullable().default(null),
    /** In the private network; left out: the lowest free one. */
    address: z.string().trim().refine(isAddress, fieldTexts.address).optional(),
    /** Of use in a private network only. */
    security_group_ids: z.array(z.uuid()).max(10).default([]),
    /** More than one are named name-1, name-2, … */
    count: z.int().min(1, fieldTexts.vmCount).max(50, fieldTexts.vmCount).default(1),
    ...access,
  })
  .refine((body) => body.password !== undefined || body.ssh_public_key !== undefined || body.key_pair_ids.length > 0 || body.user_data !== undefined, {
    path: ['password'],
    message: fieldTexts.loginChoice,
  })
  .refine((body) => (body.vpc_id === null) !== (body.network === null), { path: ['network'], message: fieldTexts.networkChoice })
  .refine((body) => body.address === undefined || (body.vpc_id !== null && body.count === 1), { path: ['address'], message: fieldTexts.addressOfOne })
  .refine((body) => body.security_group_ids.length === 0 || body.vpc_id !== null, { path: ['security_group_ids'], message: fieldTexts.groupsNeedVpc })

const operationStarted = vm

const base = '/api/nextstack/v1/vms'
const one = { access: tenants, params: byId, status: 202, response: operationStarted } as const

export const vms = {
  list: defineCall({
    id: 'nextstack.vm.list',
    method: 'GET',
    path: base,
    summary: 'Instances of one cloud, or of all',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at', 'cpu_cores', 'memory_bytes'], {
      cloud_id: z.uuid().optional(),
      /** Part of the name, an address, or the id. */
      keyword,
      status: z.enum(vmStatuses).optional(),
      type: z.enum(vmTypes).optional(),
      bp_id: z.uuid().optional(),
      vpc_id: z.uuid().optional(),
      host_id: z.uuid().optional(),
    }),
    response: listOf(vm),
  }),
  get: defineCall({ id: 'nextstack.vm.get', method: 'GET', path: `${base}/{id}`, summary: 'One instance', access: tenants, params: byId, response: vm }),
  create: defineCall({
    id: 'nextstack.vm.create',
    method: 'POST',
    path: base,
    summary: 'Create one or more instances; all are recorded or none',
    access: tenants,
    status: 202,
    body: createVmBody,
    response: z.object({ items: z.array(vm) }),
  }),
  start: defineCall({ ...one, id: 'nextstack.vm.start', method: 'POST', path: `${base}/{id}/start`, summary: 'Start' }),
  stop: defineCall({
    ...one,
    id: 'nextstack.vm.stop',
    method: 'POST',
    path: `${base}/{id}/stop`,
    summary: 'Shut down, or with force cut the power',
    body: z.object({ force: z.boolean().default(false) }),
  }),
  restart: defineCall({
    ...one,
    id: 'nextstack.vm.restart',
    method: 'POST',
    path: `${base}/{id}/restart`,
    summary: 'Restart, or with force reset',
    body: z.object({ force: z.boolean().default(false) }),
  }),
  rename: defineCall({
    id: 'nextstack.vm.rename',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name and description; the engine’s own name stays',
    access: tenants,
    params: byId,
    body: named,
    response: vm,
  }),
  resize: defineCall({
    ...one,
    id: 'nextstack.vm.resize',
    method: 'POST',
    path: `${base}/{id}/resize`,
    summary: 'Change flavor, and grow the disk',
    body: z.object({
      flavor_id: z.uuid(),
      disk_bytes: z
        .int()
        .min(1)
        .max(2 ** 50)
        .optional(),
    }),
  }),
  rebuild: defineCall({
    ...one,
    id: 'nextstack.vm.rebuild',
    method: 'POST',
    path: `${base}/{id}/rebuild`,
    summary: 'Replace the root disk by a fresh copy of an image; everything on it is lost',
    also: ({ params }) => [{ action: 'nextstack.vm.create', on: { kind: 'nextstack.vm', id: params.id } }],
    body: z.object({ image_fingerprint: fingerprint, ...access }),
  }),
  setSecurityGroups: defineCall({
    id: 'nextstack.vm.setSecurityGroups',
    method: 'PUT',
    path: `${base}/{id}/security-groups`,
    summary: 'Which groups guard the instance: exactly these',
    access: tenants,
    params: byId,
    body: z.object({ security_group_ids: z.array(z.uuid()).max(10) }),
    response: vm,
  }),
  /**
   * Its snapshots go with it. Its outside address and its volumes stay, and go on being paid for, unless they are to go
   * too, which asks for `nextstack.eip.release` and `nextstack.volume.delete` of them as well.
   */
  delete: defineCall({
    ...one,
    id: 'nextstack.vm.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete with its root disk and its snapshots; with its outside address and its volumes where that is said',
    query: z.object({ release_eip: flag.optional(), release_volumes: flag.optional() }),
  }),
  operations: defineCall({
    id: 'nextstack.vm.operations',
    method: 'GET',
    path: `${base}/{id}/operations`,
    summary: 'What was done to the instance, newest first',
    access: tenants,
    params: byId,
    query: listQuery(['created_at'], {}),
    response: listOf(operation),
  }),
  cancelOperation: defineCall({
    id: 'nextstack.vm.cancelOperation',
    method: 'POST',
    path: `${base}/{id}/operations/{operation_id}/cancel`,
    summary:
      'Take back an operation that has not ended. 409 (90017) where it has, (90018) where its step cannot be left. The instance of a creation goes with it',
    access: tenants,
    params: byId.extend({ operation_id: z.uuid() }),
    status: 202,
    response: operation,
  }),
  metrics: defineCall({
    id: 'nextstack.vm.metrics',
    method: 'GET',
    path: `${base}/{id}/metrics`,
    summary: 'Samples of the last minutes (at most an hour is kept), oldest first',
    access: tenants,
    params: byId,
    query: z.object({ minutes: z.coerce.number().int().min(1).max(60).default(15) }),
    response: z.object({ interval_seconds: z.int(), items: z.array(vmSample) }),
  }),
  consoleLog: defineCall({
    id: 'nextstack.vm.consoleLog',
    method: 'GET',
    path: `${base}/{id}/console-log`,
    summary: 'What the instance printed on its console, also before it was started anew; the last 1 MiB',
    access: tenants,
    params: byId,
    response: z.object({ text: z.string() }),
  }),
  files: defineCall({
    id: 'nextstack.vm.files',
    method: 'GET',
    path: `${base}/{id}/files`,
    summary: 'What is in a directory of a running instance',
    access: tenants,
    params: byId,
    query: z.object({ path: machinePath }),
    response: z.object({ items: z.array(directoryEntry) }),
  }),
} as const

export const terminals = {
  open: defineCall({
    id: 'nextstack.terminal.open',
    method: 'POST',
    path: `${base}/{id}/terminals`,
    summary: 'Open a terminal in a running instance, or with `terminal_id` come back to one. 409 (94009) while another is open',
    also: ({ params }) => actsOn('nextstack.terminal.open', { kind: 'nextstack.vm', id: params.id }),
    access: tenants,
    params: byId,
    status: 201,
    body: terminalWish,
    response: terminalOpened,
  }),
} as const

const onCloud = z.object({ cloud_id: z.uuid() })

export const images = {
  list: defineCall({
    id: 'nextstack.image.list',
    method: 'GET',
    path: '/api/nextstack/v1/images',
    summary: 'Images of the library that the user can make instances from on this cloud',
    access: tenants,
    query: onCloud.extend({ type: z.enum(vmTypes).optional() }),
    response: listOf(
      z.object({
        fingerprint: z.string(),
        name: z.string(),
        description: z.string(),
        os: z.string().nullable(),
        release: z.string().nullable(),
        architecture: z.string(),
        size_bytes: z.int(),
        type: z.enum(vmTypes),
        cloud_init: z.boolean(),
        /** Whether everybody may use it, or the user's organisation. */
        visibility: z.enum(['public', 'private']),
        /** Smallest flavor that may be used with it. */
        min_cpu_cores: z.int(),
        min_memory_bytes: z.int(),
        min_disk_bytes: z.int(),
        created_at: moment.nullable(),
      }),
    ),
  }),
} as const

export const networks = {
  list: defineCall({
    id: 'nextstack.network.list',
    method: 'GET',
    path: '/api/nextstack/v1/networks',
    summary: 'Networks that the cloud can connect instances to',
    access: tenants,
    query: onCloud,
    response: listOf(z.object({ name: z.string(), description: z.string(), ipv4: z.string().nullable(), ipv6: z.string().nullable() })),
  }),
} as const
