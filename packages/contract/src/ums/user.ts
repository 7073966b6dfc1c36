import { z } from 'zod'
import { constants } from '../constants.ts'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { roleIds } from '../iam/role.ts'
import { offers } from '../offer.ts'
import { admins, keepers, roles } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import {
  description,
  email,
  keyword,
  named,
  passwordAnew,
  passwordOld,
  passwordTyped,
  phone,
  plainLine,
  subAccountName,
  verificationCode,
} from '../validation.ts'

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

/** Where somebody is signed in. */
export const session = z.object({
  id: z.uuid(),
  ip: z.string(),
  user_agent: z.string(),
  created_at: moment,
  /** When it was last renewed. */
  renewed_at: moment,
  expires_at: moment,
  /** The one that asks. */
  current: z.boolean(),
})
export type Session = z.output<typeof session>
const sessionList = z.object({ total: z.int(), items: z.array(session) })

/**
 * - `enable`: from disabled, and from pending, which is to approve a registration
 * - `disable`: ends all sessions; of a pending one, it refuses the registration
 * - `unfreeze`: before the five minutes are over
 * - `signOut`: ends all sessions
 * - `resetSecondFactor`: for one who lost their phone and their recovery codes; ends all sessions
 * - `resetPassword`: answers a one-time password and ends all sessions
 */
export const userActions = ['enable', 'disable', 'unfreeze', 'signOut', 'resetPassword', 'resetSecondFactor'] as const
const nickname = z.string().trim().max(constants.nameMaxLength, fieldTexts.contentTooLong).regex(plainLine, fieldTexts.controlCharacters)

export const users = {
  list: defineCall({
    id: 'ums.user.list',
    method: 'GET',
    path: '/api/ums/v1/users',
    summary: 'Users; administrators see all, tenant administrators their organisation',
    access: keepers,
    query: listQuery(['name', 'created_at', 'last_login_at'], {
      keyword,
      kind: z.coerce.number().int().min(0).max(4).optional(),
      status: z.enum(userStatuses).optional(),
      bp_id: z.uuid().optional(),
      /** As `permissions` names it: a custom role counts as its base. */
      role: z.enum(roles).optional(),
    }),
    response: listOf(user),
  }),
  /** Refused with 1111, 91002 to 91004, 91014, 91106, 91107, 91113. The one-time password has to be changed at the first sign-in. */
  create: defineCall({
    id: 'ums.user.create',
    method: 'POST',
    path: '/api/ums/v1/users',
    summary: 'Make a user; a tenant administrator makes those of their organisation',
    access: keepers,
    status: 201,
    body: z.object({
      username: subAccountName,
      nickname: nickname.default(''),
      description: description.default(''),
      /** 1 runs the platform, 2 an organisation, 4 works in one. */
      kind: z.union([z.literal(1), z.literal(2), z.literal(4)]).default(4),
      /** Of kinds 2 and 4; from a tenant administrator none but their own. */
      bp_id: z.uuid().nullable().default(null),
      /** Left out: what goes with the kind; of kind 4 with `role_ids` none. */
      roles: z.array(z.enum(roles)).min(1).max(roles.length).optional(),
      /** Roles of the system and of the organisation. */
      role_ids: roleIds,
      phone: phone.nullable().default(null),
      email: email.nullable().default(null),
    }),
    response: z.object({ user, one_time_password: z.string() }),
  }),
  get: defineCall({
    id: 'ums.user.get',
    method: 'GET',
    path: '/api/ums/v1/users/{id}',
    summary: 'One user',
    access: keepers,
    params: byId,
    response: user.extend({
      /** The last of the sources from which wrong passwords came is kept out until then. */
      frozen_until: moment.nullable(),
      /** When many sources began to guess, within the last day. */
      attacked_at: moment.nullable(),
      must_change_password: z.boolean(),
      second_factor: z.boolean(),
      built_in_roles: z.array(z.enum(roles)),
      custom_roles: z.array(z.object({ id: z.uuid(), name: z.string() })),
      projects: z.array(z.object({ id: z.uuid(), name: z.string() })),
      boundary: z.object({ id: z.uuid(), name: z.string() }).nullable(),
    }),
  }),
  /** Refused with 91003, 91004, 91106. */
  update: defineCall({
    id: 'ums.user.update',
    method: 'PUT',
    path: '/api/ums/v1/users/{id}',
    summary: 'Change somebody’s names, phone and mailbox',
    access: keepers,
    params: byId,
    body: z.object({ nickname, description, phone: phone.nullable(), email: email.nullable() }),
    response: user,
  }),
  /** Refused with 91008, 91106, 91110. */
  action: defineCall({
    id: 'ums.user.action',
    method: 'POST',
    path: '/api/ums/v1/users/{id}/action',
    summary: 'Enable, disable, unfreeze, sign out, or reset the password',
    access: keepers,
    params: byId,
    body: z.object({ action: z.enum(userActions) }),
    response: z.object({ user, one_time_password: z.string().nullable() }),
  }),
  sessions: defineCall({
    id: 'ums.user.sessions',
    method: 'GET',
    path: '/api/ums/v1/users/{id}/sessions',
    summary: 'Where somebody is signed in',
    access: keepers,
    params: byId,
    response: sessionList,
  }),
  endSession: defineCall({
    id: 'ums.user.endSession',
    method: 'DELETE',
    path: '/api/ums/v1/users/{id}/sessions/{session_id}',
    summary: 'End one of somebody’s sessions',
    access: keepers,
    params: byId.extend({ session_id: z.uuid() }),
    response: empty,
  }),
  ownSessions: defineCall({
    id: 'ums.user.ownSessions',
    method: 'GET',
    path: '/api/ums/v1/users/current/sessions',
    summary: 'Where one is signed in',
    access: 'all',
    response: sessionList,
    always: true,
  }),
  endOwnSession: defineCall({
    id: 'ums.user.endOwnSession',
    method: 'DELETE',
    path: '/api/ums/v1/users/current/sessions/{session_id}',
    summary: 'End another of one’s own sessions',
    access: 'all',
    params: z.object({ session_id: z.uuid() }),
    response: empty,
    always: true,
  }),
  delete: defineCall({
    id: 'ums.user.delete',
    method: 'DELETE',
    path: '/api/ums/v1/users/{id}',
    summary: 'Delete a user and end all their sessions; what they made stays with their organisation',
    access: keepers,
    params: byId,
    response: empty,
  }),
  current: defineCall({
    id: 'ums.user.current',
    method: 'GET',
    path: '/api/ums/v1/users/current',
    summary: 'Who the token belongs to',
    access: 'all',
    personal: false,
    response: user.extend({
      must_change_password: z.boolean(),
      /** What there is for them, for menus: told here, so that no page waits for it and no menu changes while it is read. */
      offers: z.array(z.enum(offers)),
      /** Calls that their roles let them make and policies refuse whatever they are about: see policy/refused.ts. */
      refused: z.array(z.string()),
    }),
    always: true,
  }),
  updateCurrent: defineCall({
    id: 'ums.user.updateCurrent',
    method: 'PUT',
    path: '/api/ums/v1/users/current',
    summary: 'Change one’s own nickname and description',
    access: 'all',
    body: z.object({ nickname, description }),
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
    body: z.object({ old_password: passwordOld, password: passwordAnew }),
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

/** An organisation, with who keeps it. */
export const organisationDetail = organisation.extend({
  description: z.string(),
  project_count: z.int(),
  administrators: z.array(z.object({ id: z.uuid(), name: z.string(), nickname: z.string() })),
  boundary: z.object({ id: z.uuid(), name: z.string() }).nullable(),
})

export const organisations = {
  list: defineCall({
    id: 'ums.organisation.list',
    method: 'GET',
    path: '/api/ums/v1/bps',
    summary: 'Organisations; a tenant sees their own',
    access: 'all',
    personal: false,
    query: listQuery(['name', 'created_at'], { keyword, status: z.enum(['active', 'frozen']).optional() }),
    response: listOf(organisation),
  }),
  get: defineCall({
    id: 'ums.organisation.get',
    method: 'GET',
    path: '/api/ums/v1/bps/{id}',
    summary: 'One organisation',
    access: keepers,
    params: byId,
    response: organisationDetail,
  }),
  /** Refused with 91013. It begins with a project and an account, and nobody in it. */
  create: defineCall({
    id: 'ums.organisation.create',
    method: 'POST',
    path: '/api/ums/v1/bps',
    summary: 'Make an organisation',
    access: admins,
    status: 201,
    body: named,
    response: organisationDetail,
  }),
  /** Refused with 91013. */
  update: defineCall({
    id: 'ums.organisation.update',
    method: 'PUT',
    path: '/api/ums/v1/bps/{id}',
    summary: 'Rename or describe an organisation',
    access: admins,
    params: byId,
    body: named,
    response: organisationDetail,
  }),
  /** Frozen, its people are signed out and cannot sign in; what runs goes on. */
  action: defineCall({
    id: 'ums.organisation.action',
    method: 'POST',
    path: '/api/ums/v1/bps/{id}/action',
    summary: 'Freeze an organisation, or end that',
    access: admins,
    params: byId,
    body: z.object({ action: z.enum(['freeze', 'unfreeze']) }),
    response: organisationDetail,
  }),
} as const
