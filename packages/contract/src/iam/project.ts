import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery } from '../define.ts'
import { project } from '../issue/project.ts'
import { keepers } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named } from '../validation.ts'
import { roleMember } from './role.ts'

const base = '/api/iam/v1/projects'

/** A project as it is kept; what one may work in is `issue.project.list`. */
export const keptProject = project.extend({ description: z.string(), member_count: z.int() })
export type KeptProject = z.output<typeof keptProject>

/** What belongs to a project, counted by kind: the resource of a quota, such as `vms`. */
export const projectContents = z.object({ items: z.array(z.object({ resource: z.string(), count: z.number() })) })

const key = z
  .string()
  .trim()
  .regex(/^[a-z][a-z0-9-]{1,31}$/, fieldTexts.projectKey)

export const keptProjects = {
  list: defineCall({
    id: 'iam.project.list',
    method: 'GET',
    path: base,
    summary: 'Projects, as they are kept',
    access: keepers,
    query: listQuery(['name', 'key', 'created_at'], { keyword, bp_id: z.uuid().optional() }),
    response: listOf(keptProject),
  }),
  /** Refused with 3001, 91115. */
  create: defineCall({
    id: 'iam.project.create',
    method: 'POST',
    path: base,
    summary: 'Make a project; a tenant administrator’s belongs to their organisation',
    access: keepers,
    status: 201,
    body: z.object({ name, key, description: description.default(''), bp_id: z.uuid().nullable().default(null) }),
    response: keptProject,
  }),
  get: defineCall({ id: 'iam.project.get', method: 'GET', path: `${base}/{id}`, summary: 'One project', access: keepers, params: byId, response: keptProject }),
  /** Refused with 3001. */
  update: defineCall({
    id: 'iam.project.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Rename or describe a project',
    access: keepers,
    params: byId,
    body: named,
    response: keptProject,
  }),
  /** Refused with 3006 while it has members, 91116 while something belongs to it. */
  delete: defineCall({
    id: 'iam.project.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a project that is empty',
    access: keepers,
    params: byId,
    response: empty,
  }),
  contents: defineCall({
    id: 'iam.project.contents',
    method: 'GET',
    path: `${base}/{id}/contents`,
    summary: 'What belongs to a project',
    access: keepers,
    params: byId,
    response: projectContents,
  }),
  members: defineCall({
    id: 'iam.project.members',
    method: 'GET',
    path: `${base}/{id}/members`,
    summary: 'Who works in a project',
    access: keepers,
    params: byId,
    query: listQuery(['name'], { keyword }),
    response: listOf(roleMember),
  }),
  /** Refused with 91106, 91110, 91113. */
  addMember: defineCall({
    id: 'iam.project.addMember',
    method: 'POST',
    path: `${base}/{id}/members`,
    summary: 'Let somebody work in a project',
    access: keepers,
    params: byId,
    status: 204,
    body: z.object({ user_id: z.uuid() }),
    response: empty,
  }),
  removeMember: defineCall({
    id: 'iam.project.removeMember',
    method: 'DELETE',
    path: `${base}/{id}/members/{user_id}`,
    summary: 'Take somebody out of a project',
    access: keepers,
    params: z.object({ id: z.uuid(), user_id: z.uuid() }),
    response: empty,
  }),
} as const
