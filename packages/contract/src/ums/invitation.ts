import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { roleIds } from '../iam/role.ts'
import { keepers, roles } from '../roles.ts'
import { passwordNew, phone, plainLine, username, verificationCode } from '../validation.ts'

const base = '/api/ums/v1/invitations'
const byToken = z.object({ token: z.string().max(128).regex(plainLine) })

/** A link that lets one person register in an organisation, whatever `register_mode` says. */
export const invitation = z.object({
  id: z.uuid(),
  bp_id: z.uuid(),
  bp_name: z.string(),
  /** What they become; where there are `roles`, those instead. */
  role: z.enum(roles),
  roles: z.array(z.object({ id: z.uuid(), name: z.string() })),
  note: z.string(),
  status: z.enum(['open', 'used', 'revoked', 'expired']),
  created_by: z.string(),
  used_by: z.string().nullable(),
  created_at: moment,
  expires_at: moment,
})
export type Invitation = z.output<typeof invitation>

export const invitations = {
  list: defineCall({
    id: 'ums.invitation.list',
    method: 'GET',
    path: base,
    summary: 'Invitations',
    access: keepers,
    query: listQuery(['created_at', 'expires_at'], { bp_id: z.uuid().optional() }),
    response: listOf(invitation),
  }),
  /** The token is told once. Refused with 91014, 91106, 91107, 91113. */
  create: defineCall({
    id: 'ums.invitation.create',
    method: 'POST',
    path: base,
    summary: 'Invite somebody by a link',
    also: () => [{ action: 'ums.user.create' }],
    access: keepers,
    status: 201,
    body: z.object({
      bp_id: z.uuid().nullable().default(null),
      role: z.enum(['TENANT', 'TENANT_ADMIN']).default('TENANT'),
      /** Roles of the system and of the organisation, instead of `role`. */
      role_ids: roleIds,
      note: z.string().trim().max(64).regex(plainLine).default(''),
      days: z.int().min(1).max(30).default(7),
    }),
    response: invitation.extend({ token: z.string() }),
  }),
  revoke: defineCall({
    id: 'ums.invitation.revoke',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Revoke an invitation',
    access: keepers,
    params: byId,
    response: empty,
  }),
  /** Refused with 1183. */
  look: defineCall({
    id: 'ums.invitation.look',
    method: 'GET',
    path: '/api/ums/v1/anonymous/invitations/{token}',
    summary: 'What an invitation is to',
    access: 'public',
    perMinute: 30,
    params: byToken,
    response: z.object({ bp_name: z.string(), role: z.enum(roles), roles: z.array(z.string()), invited_by: z.string(), expires_at: moment }),
  }),
  /** Refused with 1111, 1121, 1183, 91002, 91003. */
  accept: defineCall({
    id: 'ums.invitation.accept',
    method: 'POST',
    path: '/api/ums/v1/anonymous/invitations/{token}',
    summary: 'Register by an invitation, which is spent by that',
    access: 'public',
    status: 201,
    perMinute: 10,
    params: byToken,
    body: z.object({ username, phone, code: verificationCode, password: passwordNew }),
    response: z.object({ id: z.uuid() }),
  }),
  /** Refused with 1183, 91003: like a registration’s code, but where registering is closed too. */
  code: defineCall({
    id: 'ums.invitation.code',
    method: 'GET',
    path: '/api/ums/v1/anonymous/invitations/{token}/sms/{phone}',
    summary: 'Send a code to the phone of whoever accepts an invitation',
    access: 'public',
    perMinute: 10,
    params: byToken.extend({ phone }),
    response: z.object({ expires_in_seconds: z.int(), retry_after_seconds: z.int() }),
  }),
} as const
