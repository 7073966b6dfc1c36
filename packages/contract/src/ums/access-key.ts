import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { readRange } from '../policy/condition.ts'
import { policyDocument, policyLimits } from '../policy/document.ts'
import { keepers } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, name, passwordTyped } from '../validation.ts'

/**
 * Access keys: what programs come with instead of a session. A key may do what its person may,
 * within its own policy document, from its own addresses, until its own end; never what only a
 * person does (`Call.personal`).
 */

export const accessKeyLimits = {
  /** Keys of one person, of whatever status. */
  perPerson: 10,
  /** Address ranges of a key. */
  networks: 20,
  /** How long a secret that was replaced may be good still. */
  overlapSeconds: 7 * 24 * 60 * 60,
  /** A signed request is taken this long after it was signed… */
  signatureAgeSeconds: 300,
  /** …and this long before, as clocks differ. */
  signatureSkewSeconds: 30,
  /** Characters of a nonce. */
  nonce: 128,
} as const

/**
 * - `bearer`: the secret is a token that goes with each request (RFC 6750); the server keeps only its hash
 * - `hmac`: requests are signed with it (RFC 9421, `hmac-sha256`), it never goes over the wire; the server keeps it encrypted
 */
export const accessKeySchemes = ['bearer', 'hmac'] as const
export type AccessKeyScheme = (typeof accessKeySchemes)[number]

/** `blocked`: by an administrator, who alone can end that; it is disabled then. */
export const accessKeyStatuses = ['active', 'disabled', 'blocked'] as const
export type AccessKeyStatus = (typeof accessKeyStatuses)[number]

export const accessKeyCan = can<AccessKeyStatus>()({
  enable: ['disabled'],
  disable: ['active'],
  rotate: ['active', 'disabled'],
  block: ['active', 'disabled'],
  unblock: ['blocked'],
})

/** Six base62 characters of CRC-32 (as GitHub's tokens have them) over what stands before tell a secret from what only looks like one. */
export const accessKeySecret = { prefixes: { bearer: 'zsk_', hmac: 'zss_' }, randomLength: 43, checksumLength: 6, pattern: /^zs[ks]_[0-9A-Za-z]{49}$/ } as const

export const accessKey = z.object({
  /** Also the `keyid` of signatures. */
  id: z.uuid(),
  name: z.string(),
  scheme: z.enum(accessKeySchemes),
  status: z.enum(accessKeyStatuses),
  /** The last characters of the secret in force, to tell it by. */
  hint: z.string(),
  /** When the secret in force was made. */
  rotated_at: moment,
  /** Until when the secret before it is good; null where there is none. */
  previous_until: moment.nullable(),
  /** Null: for ever. */
  expires_at: moment.nullable(),
  /** From where it may be used: addresses and ranges (CIDR); from anywhere where there are none. */
  networks: z.array(z.string()),
  /** The most that it may be allowed of what its person is; null: all of that. */
  document: policyDocument.nullable(),
  created_at: moment,
  /** To the minute. */
  last_used_at: moment.nullable(),
  last_used_ip: z.string().nullable(),
})
export type AccessKey = z.output<typeof accessKey>

const list = z.object({ total: z.int(), items: z.array(accessKey) })
/** A key with whose it is. */
export const keptAccessKey = accessKey.extend({ user: z.object({ id: z.uuid(), name: z.string(), nickname: z.string() }) })
export type KeptAccessKey = z.output<typeof keptAccessKey>
/** The secret is told this once. */
const withSecret = z.object({ key: accessKey, secret: z.string() })

/** One line of the ranges, for forms. */
export const network = z
  .string(fieldTexts.networkRange)
  .trim()
  .min(1, fieldTexts.networkRange)
  .max(64, fieldTexts.networkRange)
  .refine((text) => readRange(text) !== null, fieldTexts.networkRange)

const settings = {
  name,
  expires_at: moment.nullable().default(null),
  networks: z.array(network).max(accessKeyLimits.networks).default([]),
  /** As it came: what is wrong with it is told by place, see policy/problems.ts. */
  document: z
    .unknown()
    .refine((value) => value === undefined || JSON.stringify(value).length <= policyLimits.documentLength * 4)
    .default(null),
}

const base = '/api/ums/v1/users/current/access-keys'
const ofPerson = '/api/ums/v1/users'
/** Of somebody's key; policies and the audit log are told of the key. */
const byPerson = byId.extend({ user_id: z.uuid() })

export const accessKeys = {
  list: defineCall({ id: 'ums.accessKey.list', method: 'GET', path: base, summary: 'One’s own access keys', access: 'all', response: list }),
  /** The password may be left out by who has just signed in. Refused with 1120, 1136, 91101, 91125, 91206. */
  create: defineCall({
    id: 'ums.accessKey.create',
    method: 'POST',
    path: base,
    summary: 'Make an access key; its secret is told once',
    access: 'all',
    status: 201,
    perMinute: 10,
    body: z.object({ ...settings, scheme: z.enum(accessKeySchemes), password: passwordTyped.optional() }),
    response: withSecret,
  }),
  /** From the next request on. Refused with 91101. */
  update: defineCall({
    id: 'ums.accessKey.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name, end, address ranges and policy document',
    access: 'all',
    params: byId,
    body: z.object(settings),
    response: accessKey,
  }),
  action: defineCall({
    id: 'ums.accessKey.action',
    method: 'POST',
    path: `${base}/{id}/action`,
    summary: 'Enable or disable',
    access: 'all',
    params: byId,
    body: z.object({ action: z.enum(['enable', 'disable']) }),
    response: accessKey,
  }),
  /** The one before is good for the overlap, those before it no more. The password as for making one. Refused with 1120, 1136, 91125. */
  rotate: defineCall({
    id: 'ums.accessKey.rotate',
    method: 'POST',
    path: `${base}/{id}/rotation`,
    summary: 'A new secret, told once',
    also: () => [{ action: 'ums.accessKey.create' }],
    access: 'all',
    params: byId,
    perMinute: 10,
    body: z.object({ overlap_seconds: z.int().min(0).max(accessKeyLimits.overlapSeconds).default(0), password: passwordTyped.optional() }),
    response: withSecret,
  }),
  delete: defineCall({
    id: 'ums.accessKey.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete an access key',
    access: 'all',
    params: byId,
    response: empty,
  }),

  of: defineCall({
    id: 'ums.user.accessKeys',
    method: 'GET',
    path: `${ofPerson}/{id}/access-keys`,
    summary: 'Somebody’s access keys',
    access: keepers,
    params: byId,
    response: list,
  }),
  /** `keyword`: in the names of keys and of people. */
  all: defineCall({
    id: 'ums.accessKey.listAll',
    method: 'GET',
    path: '/api/ums/v1/access-keys',
    summary: 'Access keys of the people whom one keeps',
    access: keepers,
    query: listQuery(['name', 'created_at', 'expires_at', 'last_used_at'], {
      keyword,
      user_id: z.uuid().optional(),
      status: z.enum(accessKeyStatuses).optional(),
    }),
    response: listOf(keptAccessKey),
  }),
  block: defineCall({
    id: 'ums.accessKey.block',
    method: 'POST',
    path: `${ofPerson}/{user_id}/access-keys/{id}/block`,
    summary: 'Block somebody’s access key, so that they cannot enable it',
    access: keepers,
    params: byPerson,
    response: accessKey,
  }),
  unblock: defineCall({
    id: 'ums.accessKey.unblock',
    method: 'POST',
    path: `${ofPerson}/{user_id}/access-keys/{id}/unblock`,
    summary: 'End that; the key is disabled then',
    access: keepers,
    params: byPerson,
    response: accessKey,
  }),
  deleteOf: defineCall({
    id: 'ums.accessKey.deleteOf',
    method: 'DELETE',
    path: `${ofPerson}/{user_id}/access-keys/{id}`,
    summary: 'Delete somebody’s access key',
    access: keepers,
    params: byPerson,
    response: empty,
  }),
} as const
