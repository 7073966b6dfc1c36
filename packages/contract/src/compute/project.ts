import { z } from 'zod'
import { defineCall, empty, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { problem } from '../problem.ts'
import { lineOf } from '../line.ts'
import { sizeBetween } from '../resource.ts'
import { cloudId, inCloud } from './ids.ts'

/**
 * `owned`: of an organisation, or of a project of one. `orphaned`: made by us, and its owner is gone (or whoever made
 * it was stopped before they could say whose it is). `missing`: of an owner of ours, and Keystone does not have it any
 * more: its owner gets another when they next make something. `foreign`: somebody else's.
 */
export const keystoneProjectStates = ['owned', 'orphaned', 'missing', 'foreign'] as const
export type KeystoneProjectState = (typeof keystoneProjectStates)[number]

/**
 * What is wrong with an owner's project on its cloud. `disabled`: Keystone lets nobody into it. `deleted`: Keystone has
 * it no more, and what lay in it is lost to its owner. `roleless`: the account that the cloud is registered with has no
 * role in it any more.
 */
export const keystoneProjectProblems = ['disabled', 'deleted', 'roleless'] as const
export type KeystoneProjectProblem = (typeof keystoneProjectProblems)[number]

const named = z.object({ id: z.uuid(), name: z.string() })
/** An owner's project that is not as it should be. */
export const projectTrouble = z.object({
  cloud: named,
  keystone_project_id: z.string(),
  /** Null where the owner is gone too. */
  organisation: named.nullable(),
  project: named.nullable(),
  problem: z.enum(keystoneProjectProblems),
  /** When it was first seen to be so. */
  since: moment,
  /** What lay in one that was deleted, as it was seen last: nothing of it is metered any more. The first by their kinds and names. */
  lost: z.array(z.object({ id: z.string(), type: z.string(), name: z.string() })),
  lost_count: z.int(),
})
export type ProjectTrouble = z.output<typeof projectTrouble>

/** A project of a cloud's Keystone: what it holds is its owner's. */
export const keystoneProject = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  enabled: z.boolean(),
  state: z.enum(keystoneProjectStates),
  /** The one that the cloud is registered with. */
  registration: z.boolean(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  project_id: z.uuid().nullable(),
  project_name: z.string().nullable(),
  /** Its owner took it over; all others were made for them. */
  adopted: z.boolean(),
  /** When it became its owner's; null of what has none. */
  since: moment.nullable(),
})
export type KeystoneProject = z.output<typeof keystoneProject>

/** What a project may have at most, in the unit of each; null: as much as there is. */
export const quotaKinds = {
  compute: ['instances', 'cores', 'memory_bytes', 'server_groups'],
  volume: ['volumes', 'volume_bytes', 'snapshots', 'backups', 'backup_bytes'],
  network: ['networks', 'subnets', 'ports', 'routers', 'floating_ips', 'security_groups', 'security_group_rules'],
} as const
export type QuotaService = keyof typeof quotaKinds
export const quotaServices = ['compute', 'volume', 'network'] as const satisfies readonly QuotaService[]
export const allQuotaKinds = [...quotaKinds.compute, ...quotaKinds.volume, ...quotaKinds.network] as const
export type QuotaKind = (typeof allQuotaKinds)[number]

const quotaOf = z.object({ limit: z.int().nullable(), used: z.int() })
/** What the cloud does not keep a quota of is left out. */
const kinds = z.partialRecord(z.enum(allQuotaKinds), quotaOf)
/** Services that failed: their kinds are missing. */
const failed = z.array(problem)
export const projectQuota = z.object({
  keystone_project_id: z.string(),
  /** Whose it is; empty of the registration's own. */
  name: z.string(),
  /** Of ours, where it is one's; null: an organisation's own, or nobody's. */
  project_id: z.uuid().nullable(),
  kinds,
  failed,
})
export type ProjectQuota = z.output<typeof projectQuota>

export const isBytesKind = (kind: QuotaKind): boolean => kind.endsWith('_bytes')
/** As many as the services of a cloud can count, or as much as anybody may ask for. */
const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
/** What a project is to have at most of one kind; null: as much as there is. */
export const limitOf = (kind: QuotaKind) => (isBytesKind(kind) ? sizeBetween(0) : count).nullable()
const limits = z.partialRecord(z.enum(allQuotaKinds), z.int().min(0).nullable()).check((context) => {
  for (const kind of allQuotaKinds) {
    for (const issue of limitOf(kind).optional().safeParse(context.value[kind]).error?.issues ?? [])
      context.issues.push({ code: 'custom', input: context.value[kind], path: [kind], message: issue.message })
  }
})

const base = '/api/compute/v1/clouds/{cloud_id}'
const one = `${base}/projects/{id}`

export const keystoneProjects = {
  list: defineCall({
    id: 'compute.project.list',
    method: 'GET',
    path: `${base}/projects`,
    summary: 'Projects of a cloud’s Keystone and whose they are, in lines',
    access: admins,
    params: cloudId,
    lines: true,
    response: lineOf(keystoneProject),
  }),
  problems: defineCall({
    id: 'compute.project.problems',
    method: 'GET',
    path: '/api/compute/v1/project-problems',
    summary: 'Projects of organisations that were disabled, deleted or closed to the platform on their cloud, the longest first',
    access: admins,
    query: z.object({ cloud_id: z.uuid().optional(), bp_id: z.uuid().optional() }),
    response: z.object({ items: z.array(projectTrouble) }),
  }),
  adopt: defineCall({
    id: 'compute.project.adopt',
    method: 'POST',
    path: `${one}/adopt`,
    summary: 'Make a project that has no owner an organisation’s, or one of its projects’, with all that it holds',
    access: admins,
    params: inCloud,
    body: z.object({ bp_id: z.uuid(), project_id: z.uuid().nullable().default(null) }),
    response: keystoneProject,
  }),
  delete: defineCall({
    id: 'compute.project.delete',
    method: 'DELETE',
    path: one,
    summary: 'Delete an orphaned project that holds nothing (93166 says what it holds), or forget one that Keystone does not have any more',
    access: admins,
    params: inCloud,
    response: empty,
  }),
  quota: defineCall({
    id: 'compute.project.quota',
    method: 'GET',
    path: `${one}/quota`,
    summary: 'What a project uses and may have at most',
    access: admins,
    params: inCloud,
    response: projectQuota,
  }),
  setQuota: defineCall({
    id: 'compute.project.setQuota',
    method: 'PUT',
    path: `${one}/quota`,
    summary: 'What a project may have at most; null: as much as there is. What is left out stays; less than is used is refused (93168)',
    access: admins,
    params: inCloud,
    body: z.object({ limits }),
    response: projectQuota,
  }),
  mine: defineCall({
    id: 'compute.project.mine',
    method: 'GET',
    path: `${base}/quota`,
    summary: 'What the projects of the asker’s organisation use and may have at most; of administrators without one, the project of the registration',
    access: tenants,
    params: cloudId,
    response: z.object({
      items: z.array(projectQuota),
      /** What those begin with that have no project on the cloud yet. */
      fresh: z.object({ kinds, failed }),
    }),
  }),
} as const
