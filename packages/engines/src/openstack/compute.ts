import { z } from 'zod'
import type { TerminalSession } from '../compute.ts'
import { openSerialConsole } from './serial.ts'
import type { Query, Session } from './session.ts'
import { codeOf, stateOf } from './states.ts'

const time = z
  .string()
  .nullish()
  // Nova tells some times without saying that they are UTC.
  .transform((value) => (value === null || value === undefined || value === '' ? null : new Date(/Z|[+-]\d\d:?\d\d$/.test(value) ? value : `${value}Z`)))
  .refine((date) => date === null || !Number.isNaN(date.getTime()), 'not a time')
const text = z.string().nullish()
const strings = z.record(z.string(), z.string())

/** Compute API, "List Servers Detailed", as of microversion 2.47 and later. */
export const serverSchema = z
  .object({
    id: z.string(),
    name: text,
    status: z.string(),
    tenant_id: text,
    user_id: text,
    metadata: strings.nullish(),
    // Empty where it was started from a volume.
    image: z.union([z.object({ id: z.string() }), z.literal('')]).nullish(),
    flavor: z
      .object({
        original_name: z.string(),
        vcpus: z.number(),
        ram: z.number(),
        disk: z.number(),
        ephemeral: z.number().nullish(),
        extra_specs: strings.nullish(),
      })
      .nullish(),
    created: time,
    updated: time,
    addresses: z
      .record(z.string(), z.array(z.object({ addr: z.string(), version: z.number(), 'OS-EXT-IPS:type': text, 'OS-EXT-IPS-MAC:mac_addr': text })))
      .nullish(),
    key_name: text,
    progress: z.number().nullish(),
    locked: z.boolean().nullish(),
    description: text,
    tags: z.array(z.string()).nullish(),
    fault: z.object({ code: z.number().nullish(), message: text, details: text }).nullish(),
    security_groups: z.array(z.object({ name: z.string() })).nullish(),
    'OS-EXT-STS:vm_state': text,
    'OS-EXT-STS:task_state': text,
    'OS-EXT-AZ:availability_zone': text,
    'OS-EXT-SRV-ATTR:host': text,
    'OS-SRV-USG:launched_at': time,
    'os-extended-volumes:volumes_attached': z.array(z.object({ id: z.string() })).nullish(),
  })
  .transform((raw) => {
    const launchedAt = raw['OS-SRV-USG:launched_at']
    const state = stateOf(raw['OS-EXT-STS:vm_state'], raw['OS-EXT-STS:task_state'], launchedAt !== null)
    return {
      id: raw.id,
      name: raw.name ?? '',
      state,
      /** Specification, section 4. */
      code: codeOf(state),
      /** Nova's own words, for operators. */
      vmState: raw['OS-EXT-STS:vm_state'] ?? null,
      taskState: raw['OS-EXT-STS:task_state'] ?? null,
      projectId: raw.tenant_id ?? null,
      userId: raw.user_id ?? null,
      imageId: raw.image === '' ? null : (raw.image?.id ?? null),
      flavor:
        raw.flavor === null || raw.flavor === undefined
          ? null
          : {
              name: raw.flavor.original_name,
              vcpus: raw.flavor.vcpus,
              memoryMib: raw.flavor.ram,
              diskGib: raw.flavor.disk,
              extraSpecs: raw.flavor.extra_specs ?? {},
            },
      addresses: Object.entries(raw.addresses ?? {}).flatMap(([network, all]) =>
        all.map((one) => ({
          network,
          address: one.addr,
          version: one.version,
          type: one['OS-EXT-IPS:type'] === 'floating' ? ('floating' as const) : ('fixed' as const),
          mac: one['OS-EXT-IPS-MAC:mac_addr'] ?? null,
        })),
      ),
      volumeIds: (raw['os-extended-volumes:volumes_attached'] ?? []).map(({ id }) => id),
      /** By name, of all its ports together. */
      securityGroups: [...new Set((raw.security_groups ?? []).map(({ name }) => name))],
      keyName: raw.key_name ?? null,
      metadata: raw.metadata ?? {},
      tags: raw.tags ?? [],
      description: raw.description ?? '',
      locked: raw.locked === true,
      zone: raw['OS-EXT-AZ:availability_zone'] ?? '',
      /** Told to the cloud's administrators only. */
      host: raw['OS-EXT-SRV-ATTR:host'] ?? null,
      progress: raw.progress ?? 0,
      fault: raw.fault?.message ?? null,
      createdAt: raw.created,
      updatedAt: raw.updated,
      launchedAt,
    }
  })
export type Server = z.output<typeof serverSchema>

export const flavorSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    vcpus: z.number(),
    ram: z.number(),
    disk: z.number(),
    'OS-FLV-EXT-DATA:ephemeral': z.number().nullish(),
    // An empty text where there is none.
    swap: z.union([z.number(), z.string().transform(Number)]).nullish(),
    'os-flavor-access:is_public': z.boolean().nullish(),
    description: text,
    extra_specs: strings.nullish(),
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name,
    vcpus: raw.vcpus,
    memoryMib: raw.ram,
    diskGib: raw.disk,
    ephemeralGib: raw['OS-FLV-EXT-DATA:ephemeral'] ?? 0,
    swapMib: raw.swap ?? 0,
    public: raw['os-flavor-access:is_public'] !== false,
    description: raw.description ?? '',
    extraSpecs: raw.extra_specs ?? {},
  }))
export type Flavor = z.output<typeof flavorSchema>

const keyPair = z.object({ name: z.string(), fingerprint: z.string(), public_key: text, private_key: text, type: text, created_at: time }).transform((raw) => ({
  name: raw.name,
  fingerprint: raw.fingerprint,
  publicKey: raw.public_key ?? '',
  privateKey: raw.private_key ?? null,
  type: raw.type ?? 'ssh',
}))
export type KeyPair = z.output<typeof keyPair>

const serverGroup = z
  .object({ id: z.string(), name: z.string(), policy: text, policies: z.array(z.string()).nullish(), members: z.array(z.string()).nullish(), project_id: text })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name,
    policy: raw.policy ?? raw.policies?.[0] ?? '',
    memberIds: raw.members ?? [],
    projectId: raw.project_id ?? null,
  }))
export type ServerGroup = z.output<typeof serverGroup>

const interfaceAttachment = z
  .object({
    port_id: z.string(),
    net_id: z.string(),
    mac_addr: text,
    port_state: z.string(),
    fixed_ips: z.array(z.object({ ip_address: z.string(), subnet_id: z.string() })).nullish(),
  })
  .transform((raw) => ({
    portId: raw.port_id,
    networkId: raw.net_id,
    mac: raw.mac_addr ?? null,
    status: raw.port_state,
    addresses: (raw.fixed_ips ?? []).map((ip) => ({ address: ip.ip_address, subnetId: ip.subnet_id })),
  }))
export type InterfaceAttachment = z.output<typeof interfaceAttachment>

const volumeAttachment = z
  .object({ volumeId: z.string(), serverId: z.string(), device: text, delete_on_termination: z.boolean().nullish() })
  .transform((raw) => ({ volumeId: raw.volumeId, serverId: raw.serverId, device: raw.device ?? '', deleteWithServer: raw.delete_on_termination === true }))
export type VolumeAttachment = z.output<typeof volumeAttachment>

const action = z.object({ action: z.string(), request_id: z.string(), user_id: text, start_time: time, updated_at: time, message: text }).transform((raw) => ({
  action: raw.action,
  requestId: raw.request_id,
  userId: raw.user_id ?? null,
  startedAt: raw.start_time,
  /** When the last step of it ended. */
  updatedAt: raw.updated_at,
  message: raw.message ?? null,
}))
export type ServerAction = z.output<typeof action>

const quota = z
  .object({ limit: z.number(), in_use: z.number(), reserved: z.number().nullish() })
  .transform((raw) => ({ limit: raw.limit < 0 ? null : raw.limit, used: raw.in_use + (raw.reserved ?? 0) }))
/** `null`: as many as one likes. */
export type Quota = z.output<typeof quota>
/** What a project may have at most, where nobody tells what is used: `null` for as much as there is. */
export const limitSet = z.record(z.string(), z.unknown()).transform((raw) => {
  const limits: Record<string, number | null> = {}
  for (const [name, value] of Object.entries(raw)) if (typeof value === 'number') limits[name] = value < 0 ? null : value
  return limits
})

/** A quota set of Nova, Cinder: each kind with its limit and what is used, and the project's id among them. */
export const quotaSet = z.record(z.string(), z.unknown()).transform((raw) => {
  const kinds: Record<string, Quota> = {}
  for (const [name, value] of Object.entries(raw)) {
    const known = quota.safeParse(value)
    if (known.success) kinds[name] = known.data
  }
  return kinds
})

/** What a server is started from: an image, or disks of their own (Compute API, "Create Server", block_device_mapping_v2). */
export interface Disk {
  readonly from: 'image' | 'volume' | 'snapshot' | 'blank'
  /** Of what it is made from, or the volume itself. */
  readonly id?: string
  /** The new volume's size. Not where a volume is taken as it is. */
  readonly sizeGib?: number
  readonly volumeType?: string
  readonly deleteWithServer: boolean
}

export interface ServerWish {
  readonly name: string
  readonly flavorId: string
  /** Where no disk is the first one. */
  readonly imageId?: string
  /** The first one is started from, unless an image is. */
  readonly disks?: readonly Disk[]
  /** `auto`: the project's own, made where it has none; `none`: no network at all. */
  readonly networks: 'auto' | 'none' | readonly ({ readonly networkId: string; readonly address?: string } | { readonly portId: string })[]
  readonly securityGroups?: readonly string[]
  readonly keyName?: string
  /** As it is, not encoded; at most 65,535 bytes once it is. */
  readonly userData?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly tags?: readonly string[]
  readonly description?: string
  readonly zone?: string
  readonly serverGroupId?: string
  readonly configDrive?: boolean
  readonly adminPassword?: string
}

export type ConsoleType = 'novnc' | 'spice-html5' | 'serial'
const protocols: Readonly<Record<ConsoleType, string>> = { novnc: 'vnc', 'spice-html5': 'spice', serial: 'serial' }

/** Compute API, "Servers - run an action": those that need nothing more than their name. */
const simple = {
  start: 'os-start',
  stop: 'os-stop',
  pause: 'pause',
  unpause: 'unpause',
  suspend: 'suspend',
  resume: 'resume',
  shelve: 'shelve',
  shelveOffload: 'shelveOffload',
  unshelve: 'unshelve',
  confirmResize: 'confirmResize',
  revertResize: 'revertResize',
  unrescue: 'unrescue',
  lock: 'lock',
  unlock: 'unlock',
  restore: 'restore',
  forceDelete: 'forceDelete',
} as const
export type SimpleAction = keyof typeof simple

const path = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`

function diskOf(disk: Disk, at: number, behindImage: boolean) {
  return {
    boot_index: at === 0 && !behindImage ? 0 : -1,
    source_type: disk.from,
    destination_type: 'volume',
    delete_on_termination: disk.deleteWithServer,
    ...(disk.id !== undefined && { uuid: disk.id }),
    ...(disk.sizeGib !== undefined && { volume_size: disk.sizeGib }),
    ...(disk.volumeType !== undefined && { volume_type: disk.volumeType }),
  }
}

function bodyOf(wish: ServerWish) {
  const disks = (wish.disks ?? []).map((disk, at) => diskOf(disk, at, wish.imageId !== undefined))
  // Once disks are named, the image has to be one of them.
  const local =
    wish.imageId === undefined ? [] : [{ boot_index: 0, source_type: 'image', destination_type: 'local', uuid: wish.imageId, delete_on_termination: true }]
  return {
    server: {
      name: wish.name,
      flavorRef: wish.flavorId,
      networks:
        typeof wish.networks === 'string'
          ? wish.networks
          : wish.networks.map((one) =>
              'portId' in one ? { port: one.portId } : { uuid: one.networkId, ...(one.address !== undefined && { fixed_ip: one.address }) },
            ),
      ...(wish.imageId !== undefined && { imageRef: wish.imageId }),
      ...(disks.length > 0 && { block_device_mapping_v2: [...local, ...disks] }),
      ...(wish.securityGroups !== undefined && { security_groups: wish.securityGroups.map((name) => ({ name })) }),
      ...(wish.keyName !== undefined && { key_name: wish.keyName }),
      ...(wish.userData !== undefined && { user_data: Buffer.from(wish.userData).toString('base64') }),
      ...(wish.metadata !== undefined && { metadata: wish.metadata }),
      ...(wish.tags !== undefined && { tags: wish.tags }),
      ...(wish.description !== undefined && { description: wish.description }),
      ...(wish.zone !== undefined && { availability_zone: wish.zone }),
      ...(wish.configDrive !== undefined && { config_drive: wish.configDrive }),
      ...(wish.adminPassword !== undefined && { adminPass: wish.adminPassword }),
    },
    ...(wish.serverGroupId !== undefined && { 'os:scheduler_hints': { group: wish.serverGroupId } }),
  }
}

/** Nova (Compute API v2.1, https://docs.openstack.org/api-ref/compute/). What is begun is not done when a call returns: look at the server's state. */
export function createCompute(session: Session) {
  const act = (id: string, body: object, signal?: AbortSignal) => session.done('compute', { method: 'POST', path: path('servers', id, 'action'), body, signal })
  const remoteConsole = (id: string, type: ConsoleType, signal?: AbortSignal) =>
    session.told('compute', z.object({ remote_console: z.object({ url: z.string() }) }), {
      method: 'POST',
      path: path('servers', id, 'remote-consoles'),
      body: { remote_console: { protocol: protocols[type], type } },
      changes: false,
      signal,
    })
  const one = async (id: string, signal?: AbortSignal): Promise<Server> =>
    (await session.json('compute', z.object({ server: serverSchema }), { path: path('servers', id), signal })).server

  return {
    servers: {
      /** @param query filters of "List Servers Detailed": `name`, `status`, `changes-since`, `all_tenants` … */
      list: (query: Query = {}, signal?: AbortSignal) =>
        session.pages('compute', { path: '/servers/detail', key: 'servers', schema: serverSchema, query, signal }),
      /** Ids and names only. */
      names: (query: Query = {}, signal?: AbortSignal) =>
        session.pages('compute', {
          path: '/servers',
          key: 'servers',
          schema: z.object({ id: z.string(), name: text }).transform((raw) => ({ id: raw.id, name: raw.name ?? '' })),
          query,
          pageSize: 1000,
          signal,
        }),
      get: one,
      /** @throws OpenStackError `exhausted` where the project's quota is used up; what no host can take ends in `create_failed` */
      async create(wish: ServerWish, signal?: AbortSignal): Promise<{ id: string; adminPassword: string | null }> {
        const answer = await session.json('compute', z.object({ server: z.object({ id: z.string(), adminPass: text }) }), {
          method: 'POST',
          path: '/servers',
          body: bodyOf(wish),
          signal,
        })
        return { id: answer.server.id, adminPassword: answer.server.adminPass ?? null }
      },
      /**
       * Several of one wish, all or none: counted and placed together, and named `name-1`, `name-2`, …
       * @returns by what they are found in lists (`reservation_id`)
       */
      async createMany(wish: ServerWish, count: number, signal?: AbortSignal): Promise<string> {
        const { server, ...rest } = bodyOf(wish)
        return (
          await session.json('compute', z.object({ reservation_id: z.string() }), {
            method: 'POST',
            path: '/servers',
            body: { server: { ...server, min_count: count, max_count: count, return_reservation_id: true }, ...rest },
            signal,
          })
        ).reservation_id
      },
      async update(id: string, changes: { name?: string; description?: string }, signal?: AbortSignal): Promise<Server> {
        return (
          await session.json('compute', z.object({ server: serverSchema }), { method: 'PUT', path: path('servers', id), body: { server: changes }, signal })
        ).server
      },
      /** To where it can be restored from, where the cloud keeps what was deleted. */
      delete: (id: string, signal?: AbortSignal) => session.done('compute', { method: 'DELETE', path: path('servers', id), signal }),
      /** @throws OpenStackError `busy` in a state that does not allow it */
      act: (id: string, action: SimpleAction, signal?: AbortSignal) => act(id, { [simple[action]]: null }, signal),
      reboot: (id: string, type: 'soft' | 'hard', signal?: AbortSignal) => act(id, { reboot: { type: type === 'soft' ? 'SOFT' : 'HARD' } }, signal),
      /** Then it is `resized`, until it is confirmed or reverted. */
      resize: (id: string, flavorId: string, signal?: AbortSignal) => act(id, { resize: { flavorRef: flavorId } }, signal),
      rebuild: (id: string, imageId: string, options: { name?: string; adminPassword?: string; userData?: string } = {}, signal?: AbortSignal) =>
        act(
          id,
          {
            rebuild: {
              imageRef: imageId,
              ...(options.name !== undefined && { name: options.name }),
              ...(options.adminPassword !== undefined && { adminPass: options.adminPassword }),
              ...(options.userData !== undefined && { user_data: Buffer.from(options.userData).toString('base64') }),
            },
          },
          signal,
        ),
      /** @returns the password of the rescue system */
      async rescue(id: string, options: { imageId?: string; adminPassword?: string } = {}, signal?: AbortSignal): Promise<string | null> {
        const rescue = {
          ...(options.imageId !== undefined && { rescue_image_ref: options.imageId }),
          ...(options.adminPassword !== undefined && { adminPass: options.adminPassword }),
        }
        const answer = await session.json('compute', z.object({ adminPass: text }), {
          method: 'POST',
          path: path('servers', id, 'action'),
          body: { rescue },
          signal,
        })
        return answer.adminPass ?? null
      },
      /** For administrators. While it is off; then it is `resized`. */
      migrate: (id: string, host: string | null = null, signal?: AbortSignal) => act(id, { migrate: host === null ? null : { host } }, signal),
      /** For administrators. While it runs. */
      liveMigrate: (id: string, host: string | null = null, signal?: AbortSignal) => act(id, { 'os-migrateLive': { host, block_migration: 'auto' } }, signal),
      changePassword: (id: string, password: string, signal?: AbortSignal) => act(id, { changePassword: { adminPass: password } }, signal),
      /** For administrators: what Nova says of it, not what it is. */
      resetState: (id: string, state: 'active' | 'error', signal?: AbortSignal) => act(id, { 'os-resetState': { state } }, signal),
      /** @returns the id of the image, which is `queued` until the host has uploaded it */
      async createImage(id: string, name: string, metadata: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<string> {
        return (
          await session.json('compute', z.object({ image_id: z.string() }), {
            method: 'POST',
            path: path('servers', id, 'action'),
            body: { createImage: { name, metadata } },
            signal,
          })
        ).image_id
      },
      /** @returns an address that leads to the console for some minutes */
      async console(id: string, type: ConsoleType, signal?: AbortSignal): Promise<string> {
        return (await remoteConsole(id, type, signal)).answer.remote_console.url
      },
      /**
       * Its serial console, opened. The signal is for the opening; what is open is closed.
       * @throws OpenStackError; SerialConsoleError where the way there fails and not Nova
       */
      async serialConsole(id: string, signal?: AbortSignal): Promise<TerminalSession> {
        const { answer, place } = await remoteConsole(id, 'serial', signal)
        return openSerialConsole(session.socket(answer.remote_console.url, 'binary', place), place, signal)
      },
      /** The last lines of what the serial console said. */
      async consoleLog(id: string, lines: number, signal?: AbortSignal): Promise<string> {
        return (
          (
            await session.json('compute', z.object({ output: z.string().nullish() }), {
              method: 'POST',
              path: path('servers', id, 'action'),
              body: { 'os-getConsoleOutput': { length: lines } },
              changes: false,
              signal,
            })
          ).output ?? ''
        )
      },
      /** What was done to it, newest first; also of one that is deleted. */
      actions: (id: string, signal?: AbortSignal) =>
        session.pages('compute', { path: path('servers', id, 'os-instance-actions'), key: 'instanceActions', schema: action, signal }),
      /** All of its metadata; what is not named is removed. */
      async setMetadata(id: string, metadata: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Record<string, string>> {
        return (
          await session.json('compute', z.object({ metadata: strings }), { method: 'PUT', path: path('servers', id, 'metadata'), body: { metadata }, signal })
        ).metadata
      },
      setTags: (id: string, tags: readonly string[], signal?: AbortSignal) =>
        session.done('compute', { method: 'PUT', path: path('servers', id, 'tags'), body: { tags }, signal }),
      interfaces: {
        async list(id: string, signal?: AbortSignal): Promise<InterfaceAttachment[]> {
          return (
            await session.json('compute', z.object({ interfaceAttachments: z.array(interfaceAttachment) }), {
              path: path('servers', id, 'os-interface'),
              signal,
            })
          ).interfaceAttachments
        },
        async attach(id: string, to: { networkId: string; address?: string } | { portId: string }, signal?: AbortSignal): Promise<InterfaceAttachment> {
          const wish =
            'portId' in to ? { port_id: to.portId } : { net_id: to.networkId, ...(to.address !== undefined && { fixed_ips: [{ ip_address: to.address }] }) }
          return (
            await session.json('compute', z.object({ interfaceAttachment }), {
              method: 'POST',
              path: path('servers', id, 'os-interface'),
              body: { interfaceAttachment: wish },
              signal,
            })
          ).interfaceAttachment
        },
        detach: (id: string, portId: string, signal?: AbortSignal) =>
          session.done('compute', { method: 'DELETE', path: path('servers', id, 'os-interface', portId), signal }),
      },
      volumes: {
        async list(id: string, signal?: AbortSignal): Promise<VolumeAttachment[]> {
          return (
            await session.json('compute', z.object({ volumeAttachments: z.array(volumeAttachment) }), {
              path: path('servers', id, 'os-volume_attachments'),
              signal,
            })
          ).volumeAttachments
        },
        async attach(id: string, volumeId: string, signal?: AbortSignal): Promise<VolumeAttachment> {
          return (
            await session.json('compute', z.object({ volumeAttachment }), {
              method: 'POST',
              path: path('servers', id, 'os-volume_attachments'),
              body: { volumeAttachment: { volumeId } },
              signal,
            })
          ).volumeAttachment
        },
        detach: (id: string, volumeId: string, signal?: AbortSignal) =>
          session.done('compute', { method: 'DELETE', path: path('servers', id, 'os-volume_attachments', volumeId), signal }),
        /**
         * Whether it goes with the server; since microversion 2.85.
         * @throws OpenStackError `unsupported` or `invalid` where the cloud is older
         */
        deleteWithServer: (id: string, volumeId: string, goes: boolean, signal?: AbortSignal) =>
          session.done('compute', {
            method: 'PUT',
            path: path('servers', id, 'os-volume_attachments', volumeId),
            body: { volumeAttachment: { volumeId, delete_on_termination: goes } },
            signal,
          }),
      },
    },
    flavors: {
      /** @param access `all` for administrators: also those of single projects */
      list: (access: 'mine' | 'all' = 'mine', signal?: AbortSignal) =>
        session.pages('compute', {
          path: '/flavors/detail',
          key: 'flavors',
          schema: flavorSchema,
          query: access === 'all' ? { is_public: 'None' } : {},
          signal,
        }),
      async get(id: string, signal?: AbortSignal): Promise<Flavor> {
        return (await session.json('compute', z.object({ flavor: flavorSchema }), { path: path('flavors', id), signal })).flavor
      },
      async create(
        wish: { name: string; vcpus: number; memoryMib: number; diskGib: number; public?: boolean; description?: string },
        signal?: AbortSignal,
      ): Promise<Flavor> {
        const flavor = {
          name: wish.name,
          vcpus: wish.vcpus,
          ram: wish.memoryMib,
          disk: wish.diskGib,
          'os-flavor-access:is_public': wish.public !== false,
          ...(wish.description !== undefined && { description: wish.description }),
        }
        return (await session.json('compute', z.object({ flavor: flavorSchema }), { method: 'POST', path: '/flavors', body: { flavor }, signal })).flavor
      },
      delete: (id: string, signal?: AbortSignal) => session.done('compute', { method: 'DELETE', path: path('flavors', id), signal }),
      setExtraSpecs: (id: string, extraSpecs: Readonly<Record<string, string>>, signal?: AbortSignal) =>
        session.done('compute', { method: 'POST', path: path('flavors', id, 'os-extra_specs'), body: { extra_specs: extraSpecs }, signal }),
      /** Lets a project use one that is not everybody's, or no longer. */
      setAccess: (id: string, projectId: string, allowed: boolean, signal?: AbortSignal) =>
        session.done('compute', {
          method: 'POST',
          path: path('flavors', id, 'action'),
          body: { [allowed ? 'addTenantAccess' : 'removeTenantAccess']: { tenant: projectId } },
          signal,
        }),
    },
    /** They belong to a user, not to a project. */
    keyPairs: {
      list: (signal?: AbortSignal, pageSize?: number) =>
        session.pages('compute', {
          path: '/os-keypairs',
          key: 'keypairs',
          schema: z.object({ keypair: keyPair }).transform(({ keypair }) => keypair),
          signal,
          ...(pageSize !== undefined && { pageSize }),
        }),
      /** @returns with the private key where none was given: it is told this once */
      async create(wish: { name: string; publicKey?: string }, signal?: AbortSignal): Promise<KeyPair> {
        const keypair = { name: wish.name, ...(wish.publicKey !== undefined && { public_key: wish.publicKey }) }
        return (await session.json('compute', z.object({ keypair: keyPair }), { method: 'POST', path: '/os-keypairs', body: { keypair }, signal })).keypair
      },
      delete: (name: string, signal?: AbortSignal) => session.done('compute', { method: 'DELETE', path: path('os-keypairs', name), signal }),
    },
    serverGroups: {
      /** @param of `all` for administrators: those of all projects */
      async list(of: 'mine' | 'all' = 'mine', signal?: AbortSignal): Promise<ServerGroup[]> {
        return (
          await session.json('compute', z.object({ server_groups: z.array(serverGroup) }), {
            path: '/os-server-groups',
            query: { all_projects: of === 'all' || undefined },
            signal,
          })
        ).server_groups
      },
      async get(id: string, signal?: AbortSignal): Promise<ServerGroup> {
        return (await session.json('compute', z.object({ server_group: serverGroup }), { path: path('os-server-groups', id), signal })).server_group
      },
      async create(
        wish: { name: string; policy: 'affinity' | 'anti-affinity' | 'soft-affinity' | 'soft-anti-affinity' },
        signal?: AbortSignal,
      ): Promise<ServerGroup> {
        return (
          await session.json('compute', z.object({ server_group: serverGroup }), {
            method: 'POST',
            path: '/os-server-groups',
            body: { server_group: wish },
            signal,
          })
        ).server_group
      },
      delete: (id: string, signal?: AbortSignal) => session.done('compute', { method: 'DELETE', path: path('os-server-groups', id), signal }),
    },
    async zones(signal?: AbortSignal): Promise<{ name: string; available: boolean }[]> {
      const zone = z.object({ zoneName: z.string(), zoneState: z.object({ available: z.boolean() }) })
      const { availabilityZoneInfo } = await session.json('compute', z.object({ availabilityZoneInfo: z.array(zone) }), {
        path: '/os-availability-zone',
        signal,
      })
      return availabilityZoneInfo.map(({ zoneName, zoneState }) => ({ name: zoneName, available: zoneState.available }))
    },
    quotas: {
      /** `instances`, `cores`, `ram` (MiB) and others. */
      async get(projectId: string, signal?: AbortSignal): Promise<Record<string, Quota>> {
        return (await session.json('compute', z.object({ quota_set: quotaSet }), { path: path('os-quota-sets', projectId, 'detail'), signal })).quota_set
      },
      /** What those have at most that nothing was set for; any project's id asks for them. */
      async defaults(projectId: string, signal?: AbortSignal): Promise<Record<string, number | null>> {
        return (await session.json('compute', z.object({ quota_set: limitSet }), { path: path('os-quota-sets', projectId, 'defaults'), signal })).quota_set
      },
      set: (projectId: string, limits: Readonly<Record<string, number>>, signal?: AbortSignal) =>
        session.done('compute', { method: 'PUT', path: path('os-quota-sets', projectId), body: { quota_set: limits }, signal }),
    },
  }
}
export type Compute = ReturnType<typeof createCompute>
