import { z } from 'zod'
import { defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { plainLine, plainText } from '../validation.ts'

/** `open`: whoever registers may sign in. `approval`: an administrator lets them in. `closed`: 1184. */
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
      /** Whom people call where a page fails; empty where nobody is named. */
      support_phone: z.string(),
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

/** One line that may be left open. */
const line = z.string().trim().max(128).regex(plainLine, fieldTexts.controlCharacters)

const payoutAmount = z
  .string()
  .trim()
  .regex(/^\d{1,9}(\.\d{1,2})?$/)

/** The settings that the platform itself reads, and what each takes. Keys beside them are free, and take any text. */
export const settings = {
  register_mode: z.enum(registerModes),
  title: z.string(fieldTexts.contentRequired).trim().min(1).max(64).regex(plainLine, fieldTexts.controlCharacters),
  /** Whom people call where a page fails. */
  support_phone: line,
  /** Where people send money to, and who invoices are from. Without account nobody can remit. */
  remittance_receiver: line,
  remittance_bank: line,
  remittance_account: line,
  invoice_tax_number: line,
  /** In percent, contained in the amounts. */
  invoice_tax_rate: z
    .string()
    .trim()
    .regex(/^\d{1,2}$/),
  /** Addresses of hubs that models may be imported from, by commas. */
  model_hubs: z.string().trim().max(1_000).regex(plainLine, fieldTexts.controlCharacters),
  /** Least price of a card for an hour, in yuan, at which it may be offered in the market; 0: none. */
  market_floor_price: z
    .string()
    .trim()
    .regex(/^\d{1,6}(\.\d{1,4})?$/),
  /** 1: cards may be offered by the day, week and month in advance. What is paid in advance is in no split yet: its providers are settled with by hand. */
  market_prepaid: z
    .string()
    .trim()
    .regex(/^[01]$/),
  /** Who rents in the market has enough for so many hours of all that they rent; 0: nobody asks. */
  market_hours_ahead: z
    .string()
    .trim()
    .regex(/^\d{1,3}$/),
  /** Hours until a provider's new bank details count, where nobody else approves them. */
  split_bank_hours: z
    .string()
    .trim()
    .regex(/^[1-9]\d{0,2}$/),
  /** The least and the most of one payout, in yuan, and above what somebody else has to approve it. */
  split_payout_least: payoutAmount,
  split_payout_most: payoutAmount,
  split_payout_approved_above: payoutAmount,
  /** For so many days messages are kept. */
  message_days: z
    .string()
    .trim()
    .regex(/^[1-9]\d{0,3}$/),
  /** And for so many the log of calls. */
  api_log_days: z
    .string()
    .trim()
    .regex(/^[1-9]\d{0,2}$/),
  /** And for so many what alarms told, once it is over. */
  alert_log_days: z
    .string()
    .trim()
    .regex(/^[1-9]\d{0,3}$/),
} as const
export type SettingKey = keyof typeof settings

export const configEntry = z.object({
  key: z.string(),
  value: z.string(),
  /** Whether it is one of {@link settings}. */
  known: z.boolean(),
  default_value: z.string().nullable(),
  /** Null while the default counts. */
  updated_at: moment.nullable(),
  updated_by: z.string().nullable(),
})
export type ConfigEntry = z.output<typeof configEntry>

const configChange = z.object({
  id: z.uuid(),
  key: z.string(),
  /** What it was set to; null where it was set back to its default. */
  value: z.string().nullable(),
  actor_name: z.string(),
  created_at: moment,
})
export type ConfigChange = z.output<typeof configChange>

/** What the server is started with, as README tells it; changed only by starting it anew. */
export const environmentKeys = [
  'HOST',
  'PORT',
  'SSH_PORT',
  'APPS_PORT',
  'APPS_URL',
  'PUBLIC_URL',
  'TRUST_PROXY',
  'DATA_DIR',
  'WEB_DIR',
  'DATABASE_URL',
  'DATABASE_POOL_SIZE',
  'SECRET_KEY',
  'ZHISUAN_ENV',
  'LOG_LEVEL',
  'SMTP_URL',
  'SMTP_FROM',
  'SMS_GATEWAY_URL',
  'SMS_GATEWAY_TOKEN',
  'LICENCE_PUBLIC_KEY_FILE',
  'LOCAL_CLOUD',
  'LOCAL_AGENT',
  'SSO_ALLOW',
  'WEBHOOK_ALLOW',
  'IMAGE_FETCH_ALLOW',
  'IMAGE_MAX_GB',
  'S3_BUCKET',
  'S3_ENDPOINT',
  'S3_REGION',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
] as const

const environmentEntry = z.object({
  key: z.enum(environmentKeys),
  /** Null where it is not set, and always where it is secret. */
  value: z.string().nullable(),
  /** Its value is or may hold a password: only told whether there is one. */
  secret: z.boolean(),
  given: z.boolean(),
})
export type EnvironmentEntry = z.output<typeof environmentEntry>

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
  changes: defineCall({
    id: 'sys.config.changes',
    method: 'GET',
    path: '/api/sys/v1/configs/changes',
    summary: 'Who set which platform setting to what, newest first',
    access: admins,
    query: listQuery(['created_at'], { key: configKey.optional() }),
    response: listOf(configChange),
  }),
  environment: defineCall({
    id: 'sys.config.environment',
    method: 'GET',
    path: '/api/sys/v1/configs/environment',
    summary: 'What this server was started with; of secrets only whether they are set',
    access: admins,
    response: listOf(environmentEntry),
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
    perMinute: 30,
    always: true,
    body: z.object({
      licence: z.string(fieldTexts.licenceFile).trim().min(1, fieldTexts.licenceFile).max(16_384).regex(plainText, fieldTexts.controlCharacters),
    }),
    response: licence,
  }),
} as const
