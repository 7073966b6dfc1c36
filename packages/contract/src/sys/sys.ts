import { z } from 'zod'
import { defineCall, empty, moment } from '../define.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { plainText } from '../validation.ts'

/** `open`: whoever registers may sign in. `approval`: an administrator lets him in. `closed`: 1184. */
export const registerModes = ['open', 'approval', 'closed'] as const

export const system = {
  info: defineCall({
    id: 'sys.system.info',
    method: 'GET',
    path: '/api/sys/v1/anonymous/system-info',
    summary: 'What a visitor has to know before signing in',
    access: 'public',
    always: true,
    response: z.object({
      title: z.string(),
      version: z.string(),
      register_mode: z.enum(registerModes),
      /** Whether codes are sent at all; without, code logins are not offered. */
      sms_available: z.boolean(),
      email_available: z.boolean(),
      /** Only a development server has the inbox page of undelivered codes. */
      development: z.boolean(),
    }),
  }),
} as const

export const configEntry = z.object({
  key: z.string(),
  value: z.string(),
  /** Where the platform defines the key; free keys are the console's own. */
  known: z.boolean(),
  default_value: z.string().nullable(),
  updated_at: moment.nullable(),
})
const configKey = z.string().regex(/^[a-z][a-z0-9_.]{0,63}$/, fieldTexts.configKey)

export const configs = {
  list: defineCall({
    id: 'sys.config.list',
    method: 'GET',
    path: '/api/sys/v1/configs',
    summary: 'Platform settings, with the defaults of those never set',
    access: admins,
    query: z.object({ key: configKey.optional() }),
    response: z.object({ total: z.int(), items: z.array(configEntry) }),
  }),
  set: defineCall({
    id: 'sys.config.set',
    method: 'POST',
    path: '/api/sys/v1/configs',
    summary: 'Set a platform setting',
    access: admins,
    body: z.object({ key: configKey, value: z.string().max(8192).regex(plainText, fieldTexts.controlCharacters) }),
    response: configEntry,
  }),
  /** The specification's path ends in a slash; the key comes in the query. */
  reset: defineCall({
    id: 'sys.config.reset',
    method: 'DELETE',
    path: '/api/sys/v1/configs/',
    summary: 'Forget a platform setting, so that its default counts again',
    access: admins,
    query: z.object({ key: configKey }),
    response: empty,
  }),
} as const

export const licence = z.object({
  /** `evaluation`: the one that every installation begins with. */
  kind: z.enum(['evaluation', 'licensed']),
  id: z.string(),
  customer: z.string(),
  /** Unix milliseconds. */
  start_timestamp: z.int(),
  end_timestamp: z.int(),
  /** Greatest numbers allowed, over all clouds; null is without limit. */
  nodes: z.int().nullable(),
  cores: z.int().nullable(),
  nodes_used: z.int(),
  cores_used: z.int(),
  /** What a licence has to be issued for. */
  installation_id: z.string(),
})
export type Licence = z.output<typeof licence>

export const licences = {
  publicKey: defineCall({
    id: 'sys.licence.publicKey',
    method: 'GET',
    path: '/api/sys/v1/licenses/pubkey',
    summary: 'The Ed25519 public key (SPKI, PEM) that licences are checked with, and this installation’s id',
    access: admins,
    always: true,
    response: z.object({ pubkey: z.string(), installation_id: z.string() }),
  }),
  get: defineCall({
    id: 'sys.licence.get',
    method: 'GET',
    path: '/api/sys/v1/licenses',
    summary: 'The licence in force and what is used of it',
    access: admins,
    always: true,
    response: licence,
  }),
  import: defineCall({
    id: 'sys.licence.import',
    method: 'POST',
    path: '/api/sys/v1/licenses',
    summary: 'Put a signed licence file in force',
    access: admins,
    always: true,
    body: z.object({ licence: z.string(fieldTexts.licenceFile).trim().min(1, fieldTexts.licenceFile).max(16_384).regex(plainText, fieldTexts.controlCharacters) }),
    response: licence,
  }),
} as const
