import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { keepers, roles as builtInRoles } from '../roles.ts'
import { description, keyword, name, named } from '../validation.ts'

const base = '/api/iam/v1/roles'

/** Of somebody new: roles of the system and of their organisation. */
export const roleIds = z.array(z.uuid()).max(10).default([])

export const role = z.object({
  id: z.uuid(),
  /** Of a built-in one its key. */
  name: z.string(),
  description: z.string(),
  /** The eight of the specification; they allow what the calls say, and cannot be changed. */
  built_in: z.boolean(),
  /** Ready for everybody, with the policy of the same name, see readyMade.ts: given, and changed by nobody. */
  system: z.boolean(),
  /**
   * What its members may be allowed at most: the calls of this built-in role, of which its
   * policies allow some. It also says which pages the console has for them.
   */
  base: z.enum(builtInRoles),
  /** Null belongs to the platform. */
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  member_count: z.int(),
  policy_count: z.int(),
  created_at: moment.nullable(),
  updated_at: moment.nullable(),
})
export type RoleRow = z.output<typeof role>

export const roleMember = z.object({
  id: z.uuid(),
  name: z.string(),
  nickname: z.string(),
  kind: z.int(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
})

export const customRoles = {
  list: defineCall({
    id: 'iam.role.list',
    method: 'GET',
    path: base,
    summary: 'Roles: those that somebody made first, then those of the system, then the built-in ones',
    access: keepers,
    query: listQuery(['name', 'created_at'], {
      keyword,
      built_in: z.enum(['true', 'false']).optional(),
      kind: z.enum(['builtIn', 'system', 'custom']).optional(),
      bp_id: z.uuid().optional(),
    }),
    response: listOf(role),
  }),
  /** Refused with 3041, 91107. */
  create: defineCall({
    id: 'iam.role.create',
    method: 'POST',
    path: base,
    summary: 'Make a role',
    access: keepers,
    status: 201,
    body: z.object({ name, description: description.default(''), base: z.enum(builtInRoles), bp_id: z.uuid().nullable().default(null) }),
    response: role,
  }),
  get: defineCall({ id: 'iam.role.get', method: 'GET', path: `${base}/{id}`, summary: 'One role', access: keepers, params: byId, response: role }),
  /** Refused with 3041, 91108, 91118. */
  update: defineCall({
    id: 'iam.role.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Rename or describe a role',
    access: keepers,
    params: byId,
    body: named,
    response: role,
  }),
  /** Refused with 91108, 91109, 91118. */
  delete: defineCall({
    id: 'iam.role.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a role that nobody has',
    access: keepers,
    params: byId,
    response: empty,
  }),
  members: defineCall({
    id: 'iam.role.members',
    method: 'GET',
    path: `${base}/{id}/members`,
    summary: 'Who has a role',
    access: keepers,
    params: byId,
    query: listQuery(['name'], { keyword }),
    response: listOf(roleMember),
  }),
  /** Refused with 91106, 91107, 91110. */
  addMember: defineCall({
    id: 'iam.role.addMember',
    method: 'POST',
    path: `${base}/{id}/members`,
    summary: 'Give somebody a role',
    access: keepers,
    params: byId,
    status: 204,
    body: z.object({ user_id: z.uuid() }),
    response: empty,
  }),
  /** Refused with 91110, 91111. */
  removeMember: defineCall({
    id: 'iam.role.removeMember',
    method: 'DELETE',
    path: `${base}/{id}/members/{user_id}`,
    summary: 'Take a role from somebody',
    access: keepers,
    params: z.object({ id: z.uuid(), user_id: z.uuid() }),
    response: empty,
  }),
} as const
