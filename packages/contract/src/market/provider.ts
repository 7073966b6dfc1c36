import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, name, plainLine, plainText } from '../validation.ts'

export const marketPath = '/api/market/v1'

/** `pending` waits for an administrator; only what is of a `verified` one is rented out; a `disabled` one takes no new rents, what runs goes on. */
export const providerStatuses = ['pending', 'verified', 'disabled'] as const
export type ProviderStatus = (typeof providerStatuses)[number]
export const providerCan = can<ProviderStatus>()({
  verify: ['pending', 'disabled'],
  disable: ['pending', 'verified'],
})

const about = {
  name,
  contact: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(128).regex(plainLine, fieldTexts.controlCharacters),
  description: z.string().trim().max(500).regex(plainText, fieldTexts.controlCharacters).default(''),
} as const

/** Whose cards are rented out: an organisation, or the platform itself (`bp_id` null). Each is bound to one at most. */
export const provider = z.object({
  id: z.uuid(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  name: z.string(),
  contact: z.string(),
  description: z.string(),
  status: z.enum(providerStatuses),
  /** Why it was disabled. */
  reason: z.string().nullable(),
  node_count: z.int(),
  card_count: z.int(),
  offer_count: z.int(),
  verified_at: moment.nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type Provider = z.output<typeof provider>

export const providers = {
  list: defineCall({
    id: 'market.provider.list',
    method: 'GET',
    path: `${marketPath}/providers`,
    summary: 'Providers of cards; of an organisation its own',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at'], { keyword, status: z.enum(providerStatuses).optional() }),
    response: listOf(provider),
  }),
  get: defineCall({
    id: 'market.provider.get',
    method: 'GET',
    path: `${marketPath}/providers/{id}`,
    summary: 'One provider',
    access: tenants,
    params: byId,
    response: provider,
  }),
  /** Refused with 26004. An administrator's is the platform itself. */
  create: defineCall({
    id: 'market.provider.create',
    method: 'POST',
    path: `${marketPath}/providers`,
    summary: 'Ask to become a provider with one’s organisation; an administrator verifies it',
    access: tenants,
    status: 201,
    body: z.object(about),
    response: provider,
  }),
  update: defineCall({
    id: 'market.provider.update',
    method: 'PUT',
    path: `${marketPath}/providers/{id}`,
    summary: 'Change name, contact and description',
    access: tenants,
    params: byId,
    body: z.object(about),
    response: provider,
  }),
  review: defineCall({
    id: 'market.provider.review',
    method: 'POST',
    path: `${marketPath}/providers/{id}/review`,
    summary: 'Verify a provider, or disable one: then nothing of it is rented out anew',
    access: admins,
    params: byId,
    body: z.discriminatedUnion('action', [
      z.object({ action: z.literal('verify') }),
      z.object({
        action: z.literal('disable'),
        reason: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(500).regex(plainText, fieldTexts.controlCharacters),
      }),
    ]),
    response: provider,
  }),
} as const
