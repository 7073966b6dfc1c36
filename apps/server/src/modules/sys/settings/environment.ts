import type { EnvironmentEntry } from '@zhisuan/contract/sys/sys'
import type { Config } from '../../../platform/config.ts'

/** All keys but those that nobody who runs the product sets: a new one does not compile before it is told here. */
type Told = Exclude<keyof Config, 'version' | 'FAULT_FILE'>

/** Addresses of services count as secret where a user and a password, or a token, may stand in them. */
const secret: Readonly<Record<Told, boolean>> = {
  HOST: false,
  PORT: false,
  SSH_PORT: false,
  APPS_PORT: false,
  APPS_URL: false,
  PUBLIC_URL: false,
  TRUST_PROXY: false,
  DATA_DIR: false,
  WEB_DIR: false,
  DATABASE_URL: true,
  DATABASE_POOL_SIZE: false,
  SECRET_KEY: true,
  ZHISUAN_ENV: false,
  LOG_LEVEL: false,
  SMTP_URL: true,
  SMTP_FROM: false,
  SMS_GATEWAY_URL: true,
  SMS_GATEWAY_TOKEN: true,
  LICENCE_PUBLIC_KEY_FILE: false,
  LOCAL_CLOUD: false,
  LOCAL_AGENT: false,
  SSO_ALLOW: false,
  WEBHOOK_ALLOW: false,
  IMAGE_FETCH_ALLOW: false,
  IMAGE_MAX_GB: false,
  S3_BUCKET: false,
  S3_ENDPOINT: false,
  S3_REGION: false,
  S3_ACCESS_KEY_ID: false,
  S3_SECRET_ACCESS_KEY: true,
}

const textOf = (value: Config[Told]): string => (Array.isArray(value) ? value.join(', ') : String(value ?? ''))

/** What this server was started with, for administrators to read. */
export function environmentOf(config: Config): { total: number; items: EnvironmentEntry[] } {
  // Object.keys forgets what the record's keys are.
  const items = (Object.keys(secret) as Told[]).map((key) => {
    const text = textOf(config[key])
    return { key, secret: secret[key], given: text !== '', value: secret[key] || text === '' ? null : text }
  })
  return { total: items.length, items }
}
