import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { policyDocument, policyLimits } from '../policy/document.ts'
import { keepers } from '../roles.ts'
import { description, keyword, name, named } from '../validation.ts'

const base = '/api/iam/v1/policies'
const byVersion = z.object({ id: z.uuid(), version: z.coerce.number().int().min(1).max(1_000_000) })

/** A policy without its document. */
export const policy = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  /** Null belongs to the platform: tenant administrators see and grant it, and change none. */
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  /** Ready for everybody, see readyMade.ts: given and copied, and changed by nobody. */
  system: z.boolean(),
  /** The version that counts. */
  default_version: z.int(),
  version_count: z.int(),
  /** Users, roles and projects that have it, and people and organisations that it is the boundary of; those that one sees. */
  contact_count: z.int(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Policy = z.output<typeof policy>

export const policyVersion = z.object({
  version: z.int(),
  is_default: z.boolean(),
  document: policyDocument,
  created_by: z.string(),
  created_at: moment,
})
export type PolicyVersion = z.output<typeof policyVersion>

/** Whom a policy is attached to; of a `boundary` it is the most that they may be allowed. */
export const contactKinds = ['user', 'role', 'project', 'user_boundary', 'organisation_boundary'] as const
export const contact = z.object({
  /** Of the grant; null for boundaries. */
  grant_id: z.uuid().nullable(),
  kind: z.enum(contactKinds),
  /** Of the user, role, project or organisation. */
  id: z.uuid(),
  name: z.string(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  since: moment.nullable(),
})
export type Contact = z.output<typeof contact>

/** As it came: what is wrong with it is told by place, see policy/problems.ts. */
const document = z.unknown().refine((value) => value !== undefined && JSON.stringify(value).length <= policyLimits.documentLength * 4)

export const policies = {
  list: defineCall({
    id: 'iam.policy.list',
    method: 'GET',
    path: base,
    summary: 'Policies of the platform, and of the organisations that one sees',
    access: keepers,
    query: listQuery(['name', 'created_at', 'updated_at'], {
      keyword,
      bp_id: z.uuid().optional(),
      owner: z.enum(['system', 'platform', 'organisation']).optional(),
    }),
    response: listOf(policy),
  }),
  /** Refused with 91101, 91102. A tenant administrator's belongs to their organisation. */
  create: defineCall({
    id: 'iam.policy.create',
    method: 'POST',
    path: base,
    summary: 'Make a policy',
    access: keepers,
    perMinute: 60,
    status: 201,
    body: z.object({ name, description: description.default(''), bp_id: z.uuid().nullable().default(null), document }),
    response: policy,
  }),
  get: defineCall({
    id: 'iam.policy.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'A policy with the document that counts',
    access: keepers,
    params: byId,
    response: policy.extend({ document: policyDocument }),
  }),
  /** Refused with 91102, 91118. */
  update: defineCall({
    id: 'iam.policy.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Rename or describe a policy',
    access: keepers,
    params: byId,
    body: named,
    response: policy,
  }),
  /** Refused with 91103 while anybody has it, 91118. */
  delete: defineCall({
    id: 'iam.policy.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a policy that nobody has',
    access: keepers,
    params: byId,
    response: empty,
  }),
  versions: defineCall({
    id: 'iam.policy.versions',
    method: 'GET',
    path: `${base}/{id}/versions`,
    summary: 'Versions of a policy, newest first',
    access: keepers,
    params: byId,
    response: z.object({ total: z.int(), items: z.array(policyVersion) }),
  }),
  version: defineCall({
    id: 'iam.policy.version',
    method: 'GET',
    path: `${base}/{id}/versions/{version}`,
    summary: 'One version of a policy',
    access: keepers,
    params: byVersion,
    response: policyVersion,
  }),
  /** Refused with 91101, 91104, 91106, 91118. */
  addVersion: defineCall({
    id: 'iam.policy.addVersion',
    method: 'POST',
    path: `${base}/{id}/versions`,
    summary: 'Add a version, at most five; it counts from now on where it is made the default',
    also: ({ params, body }) => (body?.default === true ? [{ action: 'iam.policy.setDefault', on: { kind: 'iam.policy', id: params.id } }] : []),
    access: keepers,
    perMinute: 60,
    params: byId,
    status: 201,
    body: z.object({ document, default: z.boolean().default(false) }),
    response: policyVersion,
  }),
  /** Refused with 91106, 91118. */
  setDefault: defineCall({
    id: 'iam.policy.setDefault',
    method: 'PUT',
    path: `${base}/{id}/versions/{version}`,
    summary: 'Make a version the one that counts',
    access: keepers,
    params: byVersion,
    response: policy,
  }),
  /** Refused with 91105, 91118. */
  deleteVersion: defineCall({
    id: 'iam.policy.deleteVersion',
    method: 'DELETE',
    path: `${base}/{id}/versions/{version}`,
    summary: 'Delete a version that does not count',
    access: keepers,
    params: byVersion,
    response: empty,
  }),
  contacts: defineCall({
    id: 'iam.policy.contacts',
    method: 'GET',
    path: `${base}/{id}/contacts`,
    summary: 'Whom a policy is attached to',
    access: keepers,
    params: byId,
    query: listQuery(['name'], { kind: z.enum(contactKinds).optional(), keyword }),
    response: listOf(contact),
  }),
  check: defineCall({
    id: 'iam.policy.check',
    method: 'POST',
    path: '/api/iam/v1/policy-checks',
    summary: 'What is wrong with a document, by place',
    access: keepers,
    perMinute: 120,
    audit: false,
    body: z.object({ document }),
    response: z.object({ problems: z.array(z.object({ path: z.array(z.union([z.string(), z.int()])), message: z.string() })) }),
  }),
} as const
