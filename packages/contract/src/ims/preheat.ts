import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, byId, defineCall, empty, flag, listOf, listQuery, moment, type Also } from '../define.ts'
import { reference } from '../resource.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine } from '../validation.ts'
import { repositoryName, tagName } from './names.ts'
import { registriesPath, registryAccount } from './registry.ts'
import { pullsFrom } from './rights.ts'

/** `waiting`: for its time, or its turn. `partial`: it has ended, and some nodes do not have all images. */
export const preheatStatuses = ['waiting', 'running', 'succeeded', 'partial', 'failed', 'cancelled'] as const
export type PreheatStatus = (typeof preheatStatuses)[number]
export const preheatCan = can<PreheatStatus>()({
  cancel: ['waiting', 'running'],
  retry: ['partial', 'failed', 'cancelled'],
  delete: ['succeeded', 'partial', 'failed', 'cancelled'],
})

/** Of one image on one node. `away`: its node is not there, and gets it when it is. `there`: it was there already. */
export const preheatStates = ['waiting', 'pulling', 'away', 'done', 'there', 'failed', 'cancelled'] as const

const target = z.object({
  id: z.uuid(),
  node: reference,
  image: z.string(),
  state: z.enum(preheatStates),
  /** Of the layers that are not there yet. */
  done_bytes: z.number(),
  total_bytes: z.number().nullable(),
  layers: z.array(z.object({ id: z.string(), status: z.string(), done_bytes: z.number(), total_bytes: z.number().nullable() })),
  /** Why it failed, in Chinese. */
  error: z.string().nullable(),
  attempts: z.int(),
  ended_at: moment.nullable(),
})

export const preheat = z.object({
  id: z.uuid(),
  /** Which of both is null. */
  registry: reference.nullable(),
  third_registry: reference.nullable(),
  images: z.array(z.string()),
  status: z.enum(preheatStatuses),
  node_count: z.int(),
  done_count: z.int(),
  failed_count: z.int(),
  away_count: z.int(),
  /** So many nodes pull at a time. */
  at_once: z.int(),
  starts_at: moment,
  started_at: moment.nullable(),
  ended_at: moment.nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type Preheat = z.output<typeof preheat>

/** To which nodes: those that are named, and those that all of the rest fits. */
const nodes = z
  .object({
    node_ids: z.array(z.uuid()).max(500).default([]),
    region_id: z.uuid().optional(),
    /** `key=value` each; a node has to have all of them. */
    labels: z.array(z.string().max(128).regex(plainLine)).max(20).default([]),
  })
  .refine(({ node_ids, region_id, labels }) => node_ids.length > 0 || region_id !== undefined || labels.length > 0, fieldTexts.preheatNodes)

/** At a third party a repository may have no project. */
const thirdRepository = z
  .string(fieldTexts.registryName)
  .max(255, fieldTexts.registryName)
  .regex(/^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*$/, fieldTexts.registryName)

const wish = z.object({
  images: z
    .array(z.object({ repository: thirdRepository, tag: tagName }))
    .min(1)
    .max(20),
  nodes,
  at_once: z.int().min(1).max(50).default(3),
  /** Now where none is given. */
  starts_at: moment.optional(),
})
export type PreheatWish = z.output<typeof wish>

/** Each node pulls: which those of a region or with labels are is not known yet. */
const pullsOn = (wanted: PreheatWish['nodes'] | undefined): readonly Also[] => [
  { action: 'ecrm.edge.pullImage' },
  ...(wanted?.node_ids ?? []).flatMap((id) => actsOn('ecrm.edge.pullImage', { kind: 'ecrm.edge', id })),
]

/** Ids with commas between them. */
const idList = z
  .string()
  .max(3_700)
  .regex(/^[0-9a-f-]+(,[0-9a-f-]+)*$/i)
  .transform((text) => text.split(','))
  .pipe(z.array(z.uuid()).min(1).max(100))

const one = { params: byId } as const

export const preheats = {
  nodes: defineCall({
    ...one,
    id: 'ims.preheat.nodes',
    method: 'GET',
    path: `${registriesPath}/{id}/nodes`,
    summary: 'Nodes that images of it can be brought to',
    access: admins,
    query: listQuery(['name'], { keyword, region_id: z.uuid().optional() }),
    response: listOf(
      z.object({ id: z.uuid(), name: z.string(), online: z.boolean(), docker: z.boolean(), region: reference.nullable(), labels: z.array(z.string()) }),
    ),
  }),
  list: defineCall({
    id: 'ims.preheat.list',
    method: 'GET',
    path: `${registriesPath}/pre-downloads`,
    summary: 'Orders to bring images to nodes, newest first',
    access: tenants,
    query: listQuery(['created_at', 'starts_at'], { keyword, status: z.enum(preheatStatuses).optional(), registry_id: z.uuid().optional() }),
    response: listOf(preheat),
  }),
  get: defineCall({
    ...one,
    id: 'ims.preheat.get',
    method: 'GET',
    path: `${registriesPath}/pre-downloads/{id}`,
    summary: 'One of them, with how each node is at it',
    access: tenants,
    response: preheat.extend({ targets: z.array(target) }),
  }),
  create: defineCall({
    ...one,
    id: 'ims.preheat.create',
    also: ({ params, body }) => [
      ...pullsOn(body?.nodes),
      ...pullsFrom(
        params.id,
        (body?.images ?? []).map(({ repository }) => repository),
      ),
    ],
    method: 'POST',
    path: `${registriesPath}/{id}/pre-download`,
    summary: 'Bring images of a registry to nodes',
    access: admins,
    status: 202,
    body: wish.extend({
      images: z
        .array(z.object({ repository: repositoryName, tag: tagName }))
        .min(1)
        .max(20),
    }),
    response: preheat,
  }),
  createThird: defineCall({
    ...one,
    id: 'ims.preheat.createThird',
    also: ({ params, body }) => [{ action: 'ims.thirdRegistry.get', on: { kind: 'ims.thirdRegistry', id: params.id } }, ...pullsOn(body?.nodes)],
    method: 'POST',
    path: '/api/ims/v1/docker/3rd-registries/{id}/pre-download',
    summary: 'Bring images of a third party’s registry to nodes that one has',
    access: tenants,
    status: 202,
    body: wish,
    response: preheat,
  }),
  retry: defineCall({
    ...one,
    id: 'ims.preheat.retry',
    also: () => pullsOn(undefined),
    method: 'POST',
    path: `${registriesPath}/pre-downloads/{id}/retry`,
    summary: 'Try again where it failed or was cancelled',
    access: tenants,
    status: 202,
    response: preheat,
  }),
  delete: defineCall({
    id: 'ims.preheat.delete',
    method: 'DELETE',
    path: `${registriesPath}/pre-downloads/jobs`,
    summary: 'Cancel those that are under way, and delete them from the list unless they are to be kept',
    access: tenants,
    query: z.object({ ids: idList, keep: flag.default(false) }),
    response: empty,
  }),
} as const

const thirdPath = '/api/ims/v1/docker/3rd-registries'

/** Somebody else’s registry, such as a public one: credentials of ours for pulling from it. */
export const thirdRegistry = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  /** What stands before the first slash of its images. */
  address: z.string(),
  url: z.string(),
  username: z.string().nullable(),
  health: z.enum(['unknown', 'reachable', 'unreachable', 'unauthorised', 'slow']),
  health_message: z.string().nullable(),
  /** It asked us to come later (429). */
  slowed_until: moment.nullable(),
  /** Whether it tells what repositories it has. */
  browsable: z.boolean(),
  checked_at: moment.nullable(),
  /** Null: the platform's, for all its organisations. */
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type ThirdRegistry = z.output<typeof thirdRegistry>

const url = z
  .url({ protocol: /^https?$/, error: fieldTexts.registryUrl })
  .max(1024)
  .regex(/^[^?#\s@]+$/, fieldTexts.registryUrl)
const about = { name, description: description.default('') } as const

export const thirdRegistries = {
  list: defineCall({
    id: 'ims.thirdRegistry.list',
    method: 'GET',
    path: thirdPath,
    summary: 'Registries of third parties: one’s own, and those that the platform has for all',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword }),
    response: listOf(thirdRegistry),
  }),
  nodes: defineCall({
    id: 'ims.thirdRegistry.nodes',
    method: 'GET',
    path: `${thirdPath}/nodes`,
    summary: 'Nodes of one’s own that images can be brought to',
    access: tenants,
    query: listQuery(['name'], { keyword }),
    response: listOf(z.object({ id: z.uuid(), name: z.string(), online: z.boolean(), docker: z.boolean() })),
  }),
  get: defineCall({
    ...one,
    id: 'ims.thirdRegistry.get',
    method: 'GET',
    path: `${thirdPath}/{id}`,
    summary: 'One of them',
    access: tenants,
    response: thirdRegistry,
  }),
  create: defineCall({
    id: 'ims.thirdRegistry.create',
    method: 'POST',
    path: thirdPath,
    summary: 'Register one; it is tried first. An administrator’s is for all',
    access: tenants,
    status: 201,
    body: z.object({ ...about, url, account: registryAccount.optional() }),
    response: thirdRegistry,
  }),
  update: defineCall({
    ...one,
    id: 'ims.thirdRegistry.update',
    method: 'PUT',
    path: `${thirdPath}/{id}`,
    summary: 'Change it; its password stays where none is given and address and name are the same',
    access: tenants,
    body: z.object({ ...about, url, account: registryAccount.partial({ password: true }).optional() }),
    response: thirdRegistry,
  }),
  delete: defineCall({
    ...one,
    id: 'ims.thirdRegistry.delete',
    method: 'DELETE',
    path: `${thirdPath}/{id}`,
    summary: 'Forget it, with its password',
    access: tenants,
    response: empty,
  }),
  repositories: defineCall({
    ...one,
    id: 'ims.thirdRegistry.repositories',
    method: 'GET',
    path: `${thirdPath}/{id}/repositories`,
    summary: 'Repositories that it tells of, the first thousand',
    access: tenants,
    query: z.object({ keyword }),
    response: z.object({ items: z.array(z.string()), more: z.boolean() }),
  }),
  tags: defineCall({
    ...one,
    id: 'ims.thirdRegistry.tags',
    method: 'GET',
    path: `${thirdPath}/{id}/tags`,
    summary: 'Tags of a repository there',
    access: tenants,
    query: z.object({ repository: thirdRepository, keyword }),
    response: z.object({ items: z.array(z.string()), more: z.boolean() }),
  }),
} as const
