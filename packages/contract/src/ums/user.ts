import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { admins, roles } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, email, keyword, passwordNew, passwordTyped, phone, plainLine, verificationCode } from '../validation.ts'

export const userStatuses = ['active', 'pending', 'disabled'] as const

export const user = z.object({
  id: z.uuid(),
  /** What the user signs in with. */
  name: z.string(),
  /** How the user wants to be called; falls back to the name. */
  nickname: z.string(),
  /** 0 system, 1 admin, 2 bp_Admin, 3 personal, 4 bp_user. */
  kind: z.int().min(0).max(4),
  status: z.enum(userStatuses),
  phone: z.string().nullable(),
  email: z.string().nullable(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  permissions: z.array(z.object({ role: z.enum(roles) })),
  description: z.string(),
  created_at: moment,
  last_login_at: moment.nullable(),
})
export type User = z.output<typeof user>

export const organisation = z.object({
  id: z.uuid(),
  name: z.string(),
  /** `personal`: made for one person who registered alone. */
  kind: z.enum(['company', 'personal']),
  status: z.enum(['active', 'frozen']),
  user_count: z.int(),
  created_at: moment,
})
export type Organisation = z.output<typeof organisation>

export const users = {
  list: defineCall({
    id: 'ums.user.list',
    method: 'GET',
    path: '/api/ums/v1/users',
    summary: 'Users; administrators see all, tenant administrators their organisation',
    access: ['ADMIN', 'TENANT_ADMIN'],
    query: listQuery(['name', 'created_at', 'last_login_at'], {
      keyword,
      kind: z.coerce.number().int().min(0).max(4).optional(),
      status: z.enum(userStatuses).optional(),
      bp_id: z.uuid().optional(),
    }),
    response: listOf(user),
  }),
  delete: defineCall({
    id: 'ums.user.delete',
    method: 'DELETE',
    path: '/api/ums/v1/users/{id}',
    summary: 'Delete a user and end all his sessions; what he made stays with his organisation',
    access: admins,
    params: byId,
    response: empty,
  }),
  current: defineCall({
    id: 'ums.user.current',
    method: 'GET',
    path: '/api/ums/v1/users/current',
    summary: 'Who the token belongs to',
    access: 'all',
    response: user.extend({ must_change_password: z.boolean() }),
    always: true,
  }),
  updateCurrent: defineCall({
    id: 'ums.user.updateCurrent',
    method: 'PUT',
    path: '/api/ums/v1/users/current',
    summary: 'Change one’s own nickname and description',
    access: 'all',
    body: z.object({ nickname: z.string().trim().max(64).regex(plainLine, fieldTexts.controlCharacters), description }),
    response: user,
    always: true,
  }),
  changePassword: defineCall({
    id: 'ums.user.changePassword',
    method: 'PATCH',
    path: '/api/ums/v1/users/password',
    summary: 'Change one’s own password; ends all other sessions. Wrong old password: 1120',
    access: 'all',
    perMinute: 20,
    body: z.object({ old_password: passwordTyped, password: passwordNew }),
    response: empty,
    always: true,
  }),
  changePhone: defineCall({
    id: 'ums.user.changePhone',
    method: 'PATCH',
    path: '/api/ums/v1/users/phone',
    summary: 'Change one’s own phone with a code sent to the new one',
    access: 'all',
    perMinute: 20,
    body: z.object({ phone, code: verificationCode, password: passwordTyped }),
    response: empty,
    always: true,
  }),
  changeEmail: defineCall({
    id: 'ums.user.changeEmail',
    method: 'PATCH',
    path: '/api/ums/v1/users/email',
    summary: 'Change one’s own mailbox with a code sent to the new one',
    access: 'all',
    perMinute: 20,
    body: z.object({ email, code: verificationCode, password: passwordTyped }),
    response: empty,
    always: true,
  }),
} as const

export const organisations = {
  list: defineCall({
    id: 'ums.organisation.list',
    method: 'GET',
    path: '/api/ums/v1/bps',
    summary: 'Organisations; a tenant sees his own',
    access: 'all',
    query: listQuery(['name', 'created_at'], { keyword, status: z.enum(['active', 'frozen']).optional() }),
    response: listOf(organisation),
  }),
} as const
