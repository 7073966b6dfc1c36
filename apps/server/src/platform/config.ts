import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'

/** Texts of the environment are trimmed, and an empty one counts as not set. */
const trimmed = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined)
const optional = <T extends z.ZodType>(schema: T) => z.preprocess(trimmed, schema.optional())
const withDefault = <T extends z.ZodType>(schema: T, fallback: string) => z.preprocess((value) => trimmed(value) ?? fallback, schema)

/** IP addresses and networks, separated by commas. */
const addresses = withDefault(
  z.string().transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
  '',
).pipe(z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])))

const environment = z.object({
  /** Address to listen on. The default is reachable from this machine only. */
  HOST: withDefault(z.string(), '127.0.0.1'),
  PORT: withDefault(z.coerce.number().int().min(0).max(65_535), '8080'),
  /** Where people's SSH clients reach what they rent, on HOST; left out: nowhere. */
  SSH_PORT: optional(z.coerce.number().int().min(0).max(65_535)),
  /** Where browsers are led into what people rent, on HOST; with APPS_URL, under which they reach it: each machine at a name of its own below it. */
  APPS_PORT: optional(z.coerce.number().int().min(0).max(65_535)),
  APPS_URL: optional(z.url({ protocol: /^https?$/ })),
  /** Address under which people reach the console; decides whether cookies are marked Secure. */
  PUBLIC_URL: optional(z.url({ protocol: /^https?$/ })),
  /** Database, keys, images, sandbox state. */
  DATA_DIR: withDefault(
    z.string().transform((path) => resolve(path)),
    'data',
  ),
  /** PostgreSQL to use instead of the embedded one. */
  DATABASE_URL: optional(z.url({ protocol: /^postgres(ql)?$/ })),
  DATABASE_POOL_SIZE: withDefault(z.coerce.number().int().min(2).max(200), '12'),
  /** 32 bytes, base64. Encrypts secrets at rest; by default made at the first start and kept in DATA_DIR/secret.key. */
  SECRET_KEY: optional(z.string().refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64 (openssl rand -base64 32)')),
  /** Development shows undelivered codes on a page: never on a server that others reach. */
  ZHISUAN_ENV: withDefault(z.enum(['production', 'development', 'test']), 'production'),
  LOG_LEVEL: withDefault(z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  /** Reverse proxies in front whose X-Forwarded-For counts. */
  TRUST_PROXY: withDefault(z.coerce.number().int().min(0).max(10), '0'),
  /** smtp:// or smtps:// with user and password in it. */
  SMTP_URL: optional(z.url({ protocol: /^smtps?$/ })),
  SMTP_FROM: optional(z.email()),
  /** Gets POST {phone, text, purpose} as JSON with the token as bearer. */
  SMS_GATEWAY_URL: optional(z.url({ protocol: /^https?$/ })),
  SMS_GATEWAY_TOKEN: optional(z.string()),
  /** PEM file of the Ed25519 key that licences are checked with. */
  LICENCE_PUBLIC_KEY_FILE: optional(z.string().transform((path) => resolve(path))),
  /** Where the built console lies. */
  WEB_DIR: withDefault(
    z.string().transform((path) => resolve(path)),
    new URL('../../../web/dist', import.meta.url).pathname,
  ),
  /** `auto` registers this host's LXD or Incus, or the sandbox, as the first cloud. */
  LOCAL_CLOUD: withDefault(z.enum(['auto', 'sandbox', 'none']), 'auto'),
  /** `auto` runs an agent beside the server: this host is the first node. */
  LOCAL_AGENT: withDefault(z.enum(['auto', 'none']), 'auto'),
  /** Addresses and networks, separated by commas, that images and bundles may be fetched from although they are not public. */
  IMAGE_FETCH_ALLOW: addresses,
  /** The same, that identity providers of organisations may be at. */
  SSO_ALLOW: addresses,
  /** The same, that alarms may be told to. */
  WEBHOOK_ALLOW: addresses,
  /** Larger images are not fetched. */
  IMAGE_MAX_GB: withDefault(
    z.coerce
      .number()
      .int()
      .min(1)
      .max(2 ** 20),
    '1024',
  ),
  /** Where what people upload is kept, instead of in DATA_DIR: a bucket of Amazon's, or with an endpoint of whoever else speaks S3. */
  S3_BUCKET: optional(z.string()),
  S3_ENDPOINT: optional(z.url({ protocol: /^https?$/ })),
  S3_REGION: withDefault(z.string(), 'us-east-1'),
  S3_ACCESS_KEY_ID: optional(z.string()),
  S3_SECRET_ACCESS_KEY: optional(z.string()),
  /** Tests only: a file that names the point at which the server kills itself, see platform/operations.ts. */
  FAULT_FILE: optional(z.string()),
})

export type Config = z.output<typeof environment> & { version: string }

/** All that is wrong with the environment, as one readable text. */
export class ConfigError extends Error {}

const version = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).version

const english = z.locales.en().localeError

/** @throws ConfigError that lists every wrong key at once */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // Operators read English; zod elsewhere speaks to people in Chinese.
  const parsed = environment.safeParse(env, { error: english })
  const wrong = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  const set = (key: keyof z.output<typeof environment>): boolean => trimmed(env[key]) !== undefined
  if (set('SMTP_URL') && !set('SMTP_FROM')) wrong.push('SMTP_FROM: required with SMTP_URL')
  if (set('APPS_PORT') !== set('APPS_URL')) wrong.push('APPS_URL, APPS_PORT: one needs the other')
  const bucket = ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const
  if (set('S3_ENDPOINT') || bucket.some(set)) wrong.push(...bucket.filter((key) => !set(key)).map((key) => `${key}: required with the other keys of S3`))
  if (set('FAULT_FILE') && trimmed(env['ZHISUAN_ENV']) !== 'test') wrong.push('FAULT_FILE: only with ZHISUAN_ENV=test')
  if (!parsed.success || wrong.length > 0) {
    throw new ConfigError(`The configuration is wrong:\n${wrong.map((line) => `  ${line}`).join('\n')}\nSee README, "Configuration".`)
  }
  return { ...parsed.data, version }
}
