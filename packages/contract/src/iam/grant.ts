import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { admins, keepers } from '../roles.ts'
import { fieldTexts } from '../texts.ts'

/** A policy given to a user, to a role, or to the members of a project. */
export const grant = z.object({
  id: z.uuid(),
  policy: z.object({ id: z.uuid(), name: z.string() }),
  holder: z.object({ kind: z.enum(['user', 'role', 'project']), id: z.uuid(), name: z.string(), bp_id: z.uuid().nullable() }),
  created_by: z.string(),
  created_at: moment,
})
export type Grant = z.output<typeof grant>

const holder = { user_id: z.uuid().optional(), role_id: z.uuid().optional(), project_id: z.uuid().optional() } as const
const boundary = z.object({ policy_id: z.uuid().nullable() })

export const grants = {
  list: defineCall({
    id: 'iam.grant.list',
    method: 'GET',
    path: '/api/iam/v1/grants',
    summary: 'Policies and whom they are given to',
    access: keepers,
    query: listQuery(['created_at'], { policy_id: z.uuid().optional(), ...holder }),
    response: listOf(grant),
  }),
  /** Refused with 91106, 91110, 91112; 91118 to a role of the system’s. */
  create: defineCall({
    id: 'iam.grant.create',
    method: 'POST',
    path: '/api/iam/v1/grants',
    summary: 'Give a policy to one user, role or project',
    access: keepers,
    status: 201,
    body: z
      .object({ policy_id: z.uuid(), ...holder })
      .refine((body) => [body.user_id, body.role_id, body.project_id].filter((id) => id !== undefined).length === 1, {
        path: ['user_id'],
        message: fieldTexts.grantHolder,
      }),
    response: grant,
  }),
  /** Refused with 91106 where it denies something to oneself, 91110; 91118 from a role of the system’s. */
  delete: defineCall({
    id: 'iam.grant.delete',
    method: 'DELETE',
    path: '/api/iam/v1/grants/{id}',
    summary: 'Take a policy back',
    access: keepers,
    params: byId,
    response: empty,
  }),
} as const

/** Only the platform's administrators set boundaries, so that nobody within one widens it. */
export const boundaries = {
  setOfUser: defineCall({
    id: 'iam.boundary.setOfUser',
    method: 'PUT',
    path: '/api/iam/v1/boundaries/users/{id}',
    summary: 'Say by a policy what a user may be allowed at most; null ends that',
    access: admins,
    params: byId,
    body: boundary,
    response: boundary,
  }),
  setOfOrganisation: defineCall({
    id: 'iam.boundary.setOfOrganisation',
    method: 'PUT',
    path: '/api/iam/v1/boundaries/organisations/{id}',
    summary: 'Say by a policy what the people of an organisation may be allowed at most',
    access: admins,
    params: byId,
    body: boundary,
    response: boundary,
  }),
} as const
