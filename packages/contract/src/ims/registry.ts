import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { reference } from '../resource.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, passwordNew, plainLine } from '../validation.ts'
import { projectName, repositoryName, tagName } from './names.ts'

export const registriesPath = '/api/ims/v1/docker/registries'

/** `distribution`: the CNCF's, and whatever speaks its API (OCI distribution-spec) and no more. `harbor`: Harbor, by its API 2.0. */
export const registryEngines = ['distribution', 'harbor'] as const
export type RegistryEngine = (typeof registryEngines)[number]

/** `kept`: runs on a node, by the platform. `registered`: was there, at its address. */
export const registryOrigins = ['kept', 'registered'] as const

/** `deactive`: nobody pushes or pulls by us, and its index is not kept up; what it holds stays. */
export const registryStatuses = ['installing', 'active', 'deactive', 'changing', 'removing', 'error'] as const
export type RegistryStatus = (typeof registryStatuses)[number]

/** What may be done to a registry in which status. */
export const registryCan = can<RegistryStatus>()({
  activate: ['deactive'],
  deactivate: ['active'],
  update: ['active', 'deactive'],
  reconcile: ['active'],
  collect: ['active', 'deactive'],
  delete: ['active', 'deactive', 'error'],
})

export const registryHealths = ['unknown', 'reachable', 'degraded', 'unreachable', 'unauthorised'] as const

/** What everybody who may use it knows of a registry. */
export const registryBasic = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  engine: z.enum(registryEngines),
  status: z.enum(registryStatuses),
  health: z.enum(registryHealths),
  /** What stands before the first slash of its images: `registry.example.com:5000`. */
  address: z.string(),
  /** Without TLS: Docker takes it only where its nodes are told so, or at their own loopback address. */
  insecure: z.boolean(),
  /** To be trusted by who reaches it, PEM; null where it is known anyway. */
  certificate_authority: z.string().nullable(),
  region: reference.nullable(),
})
export type RegistryBasic = z.output<typeof registryBasic>

export const registry = registryBasic.extend({
  origin: z.enum(registryOrigins),
  /** Where the platform reaches it. */
  url: z.string(),
  /** On which it runs; of one that is registered none. */
  node: reference.nullable(),
  /** By which the platform gets in; of one that it runs none. */
  username: z.string().nullable(),
  version: z.string().nullable(),
  health_message: z.string().nullable(),
  checked_at: moment.nullable(),
  /** When the index was last compared with what is there, and how that went wrong. */
  reconciled_at: moment.nullable(),
  reconcile_error: z.string().nullable(),
  project_count: z.int(),
  repository_count: z.int(),
  tag_count: z.int(),
  used_bytes: z.number(),
  /** Of what was deleted for good and is not freed yet. */
  collectable_bytes: z.number(),
  collected_at: moment.nullable(),
  /** Space is being freed: nobody pushes to it until then. */
  collecting_until: moment.nullable(),
  /** Of one that the platform runs: whose certificate it has, and until when that is good. */
  tls: z.object({ kind: z.enum(['ours', 'given']), ends_at: moment }).nullable(),
  /** How one that is registered is to be told to take our tokens (`auth.token` of its configuration); null of one that is reached by an account. */
  token_service: z.object({ realm: z.string(), service: z.string(), issuer: z.string(), certificate: z.string() }).nullable(),
  /** Where it is to tell of pushes and pulls (`notifications` of its configuration), and by which secret: that only in the answer that makes it. */
  notifications: z.object({ url: z.string(), secret: z.string().nullable() }).nullable(),
  error: z.string().nullable(),
  operation_id: z.uuid().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Registry = z.output<typeof registry>

const pem = z
  .string(fieldTexts.pem)
  .trim()
  .max(65_536)
  .regex(/^-----BEGIN [A-Z ]+-----[\t\n\r -~]+-----END [A-Z ]+-----$/, fieldTexts.pem)
const address = z
  .url({ protocol: /^https?$/, error: fieldTexts.registryUrl })
  .max(1024)
  .regex(/^[^?#\s@]+$/, fieldTexts.registryUrl)
const accountName = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(255).regex(plainLine, fieldTexts.controlCharacters)
const secret = z.string(fieldTexts.contentRequired).min(1, fieldTexts.contentRequired).max(4096).regex(plainLine, fieldTexts.controlCharacters)
const about = { name, description: description.default('') } as const

/** By which a registry that exists is reached. Without a name nobody signs in. */
export const registryAccount = z.object({ username: accountName, password: secret })
export const registryConnection = z.object({
  engine: z.enum(registryEngines),
  url: address,
  certificate_authority: pem.optional(),
  account: registryAccount.optional(),
})
export type RegistryConnection = z.output<typeof registryConnection>

/** By what programs know one that the platform runs: a certificate by an authority of ours, which is made anew in time, or one that is given. */
export const registryTls = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ours') }),
  z.object({
    kind: z.literal('given'),
    /** With those between it and its authority. */
    certificate: pem,
    key: pem,
    /** Of that authority, where it is no public one. */
    certificate_authority: pem.optional(),
  }),
])
export type RegistryTls = z.output<typeof registryTls>

/** Where one is to be made that the platform runs. */
export const registryPlace = z.object({
  node_id: z.uuid(),
  /** By which programs and the platform reach that node: stands in front of all images, and is never another. */
  host: z
    .string(fieldTexts.registryHost)
    .trim()
    .max(253, fieldTexts.registryHost)
    .regex(/^(?=.*[a-z0-9])[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, fieldTexts.registryHost),
  port: z.int(fieldTexts.registryPort).min(1024, fieldTexts.registryPort).max(65_535, fieldTexts.registryPort).default(5000),
  tls: registryTls.default({ kind: 'ours' }),
})
export type RegistryPlace = z.output<typeof registryPlace>

const create = z
  .object({
    ...about,
    region_id: z.uuid().nullable().default(null),
    /** Of one that exists; else `place`. */
    connection: registryConnection.optional(),
    place: registryPlace.optional(),
  })
  .refine(({ connection, place }) => (connection === undefined) !== (place === undefined), { path: ['connection'], error: fieldTexts.registryWay })

/** A person's own password for the registries of the platform. */
export const registryUser = z.object({
  id: z.uuid(),
  user: reference,
  /** What stands behind `docker login -u`. */
  username: z.string(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  /** When it was last set, and last used. */
  set_at: moment,
  used_at: moment.nullable(),
})
export type RegistryUser = z.output<typeof registryUser>

/** Programs that people use a registry by. */
export const registryTools = ['docker', 'podman', 'containerd', 'skopeo', 'helm'] as const
export type RegistryTool = (typeof registryTools)[number]

const one = { params: byId } as const

export const registries = {
  list: defineCall({
    id: 'ims.registry.list',
    method: 'GET',
    path: registriesPath,
    summary: 'Registries',
    access: admins,
    query: listQuery(['name', 'created_at', 'used_bytes'], {
      keyword,
      region_id: z.uuid().optional(),
      engine: z.enum(registryEngines).optional(),
      status: z.enum(registryStatuses).optional(),
    }),
    response: listOf(registry),
  }),
  regions: defineCall({
    id: 'ims.registry.regions',
    method: 'GET',
    path: `${registriesPath}/regions`,
    summary: 'Registries that can be used, by the regions that they are for; first those without one',
    access: tenants,
    response: z.object({ items: z.array(z.object({ region: reference.nullable(), registries: z.array(registryBasic) })) }),
  }),
  get: defineCall({
    ...one,
    id: 'ims.registry.get',
    method: 'GET',
    path: `${registriesPath}/{id}`,
    summary: 'One registry; tenants see what they need to use it',
    access: tenants,
    response: z.union([registry, registryBasic]),
  }),
  create: defineCall({
    id: 'ims.registry.create',
    method: 'POST',
    path: registriesPath,
    summary: 'Register one that exists, which has to answer first, or make one on a node of the platform. Without an account it is asked by our tokens',
    access: admins,
    status: 201,
    body: create,
    response: registry,
  }),
  update: defineCall({
    ...one,
    id: 'ims.registry.update',
    also: ({ params, body }) =>
      body?.connection?.account?.password === undefined ? [] : [{ action: 'ims.registry.password', on: { kind: 'ims.registry', id: params.id } }],
    method: 'PUT',
    path: `${registriesPath}/{id}`,
    summary:
      'Change name, description, region, how one is reached that is registered (its password stays where none is given), or the certificate of one that the platform runs',
    access: admins,
    body: z.object({
      ...about,
      region_id: z.uuid().nullable().default(null),
      connection: registryConnection.extend({ account: registryAccount.partial({ password: true }).optional() }).optional(),
      tls: registryTls.optional(),
    }),
    response: registry,
  }),
  delete: defineCall({
    ...one,
    id: 'ims.registry.delete',
    also: () => [{ action: 'ims.project.delete' }],
    method: 'DELETE',
    path: `${registriesPath}/{id}`,
    summary:
      'Take one away. With projects in it only by force: our index goes; images of one that is registered stay where they are, of one that the platform runs they go too',
    access: admins,
    query: z.object({ force: flag.default(false) }),
    response: empty,
  }),
  action: defineCall({
    ...one,
    id: 'ims.registry.action',
    method: 'POST',
    path: `${registriesPath}/{id}`,
    summary: 'Activate or deactivate it, or compare its index with what is there',
    access: admins,
    query: z.object({ action: z.enum(['active', 'deactive', 'reconcile']) }),
    response: registry,
  }),
  collect: defineCall({
    ...one,
    id: 'ims.registry.collect',
    method: 'POST',
    path: `${registriesPath}/{id}/collect`,
    summary: 'Free the space of what was deleted for good, now: for a minute at most nobody pushes',
    access: admins,
    status: 202,
    response: registry,
  }),
  log: defineCall({
    ...one,
    id: 'ims.registry.log',
    method: 'GET',
    path: `${registriesPath}/{id}/log`,
    summary: 'The last lines that one which the platform runs has written',
    access: admins,
    query: z.object({ lines: z.coerce.number().int().min(1).max(2_000).default(200) }),
    response: z.object({ text: z.string() }),
  }),
  password: defineCall({
    ...one,
    id: 'ims.registry.password',
    method: 'PUT',
    path: `${registriesPath}/{id}/password`,
    summary: 'Another password of the account by which a registered one is reached; it is tried first',
    access: admins,
    body: registryAccount.partial({ username: true }),
    response: registry,
  }),
} as const

export const registryUsers = {
  list: defineCall({
    id: 'ims.registryUser.list',
    method: 'GET',
    path: `${registriesPath}/users`,
    summary: 'People who have a password for the registries',
    access: admins,
    query: listQuery(['username', 'set_at', 'used_at'], { keyword, bp_id: z.uuid().optional() }),
    response: listOf(registryUser),
  }),
  create: defineCall({
    id: 'ims.registryUser.create',
    method: 'POST',
    path: `${registriesPath}/users`,
    summary: 'Set one’s own password for the registries, or another one',
    access: tenants,
    personal: true,
    perMinute: 10,
    body: z.object({ password: passwordNew }),
    response: z.object({ username: z.string(), set_at: moment }),
  }),
  exist: defineCall({
    id: 'ims.registryUser.exist',
    method: 'GET',
    path: `${registriesPath}/users/exist`,
    summary: 'Whether one has a password for the registries',
    access: tenants,
    response: z.object({ exist: z.boolean(), username: z.string() }),
  }),
  delete: defineCall({
    ...one,
    id: 'ims.registryUser.delete',
    method: 'DELETE',
    path: `${registriesPath}/users/{id}`,
    summary: 'Take somebody’s password for the registries away: programs that are signed in by it are refused from then on',
    access: admins,
    response: empty,
  }),
} as const

export const registryCommands = {
  /** What people type, line by line, with nothing left to fill in but the password. */
  create: defineCall({
    id: 'ims.command.create',
    method: 'POST',
    path: `${registriesPath}/command`,
    summary: 'The very lines by which docker, podman, containerd, skopeo and helm sign in, push and pull. 2293 where one has no password for the registries',
    access: tenants,
    audit: false,
    body: z.object({ registry_id: z.uuid(), project: projectName, repository: repositoryName.optional(), tag: tagName.optional() }),
    response: z.object({
      username: z.string(),
      items: z.array(
        z.object({
          tool: z.enum(registryTools),
          /** To be done once on the machine, so that it believes the certificate; none where it does anyway. */
          trust: z.array(z.string()),
          login: z.array(z.string()),
          push: z.array(z.string()),
          pull: z.array(z.string()),
        }),
      ),
    }),
  }),
} as const
