import { pino, type Logger, type LoggerOptions } from 'pino'
import type { Config } from './config.ts'

/** Keys whose values never reach a log, at any depth that a request or an error can put them. */
const secretKeys = [
  'password',
  'old_password',
  'new_password',
  'password_again',
  'code',
  'token',
  'refresh_token',
  'ticket',
  'authorization',
  'cookie',
  'client_key',
  'private_key',
  'user_data',
  'script',
  'ssh_public_key',
  'licence',
  'set-cookie',
  'secret',
  'credential_secret',
  'auth_key',
  'adminPass',
  'x-auth-token',
  'x-subject-token',
]

/** The structured log, one JSON line an event. */
export const createLog = (config: Pick<Config, 'LOG_LEVEL'>): Logger => pino(logOptions(config))

export const logOptions = (config: Pick<Config, 'LOG_LEVEL'>): LoggerOptions => ({
  level: config.LOG_LEVEL,
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  redact: {
    paths: secretKeys.flatMap((key) => {
      const quoted = key.includes('-') ? `["${key}"]` : `.${key}`
      return [quoted.replace(/^\./, ''), `*${quoted}`, `*.*${quoted}`]
    }),
    censor: (value, path) => (path.at(-1) === 'code' && isErrorCode(value) ? value : '[redacted]'),
  },
})

/** Of the system (`ECONNREFUSED`), of a library (`FST_ERR_…`) or of the database (SQLSTATE, five characters). Codes that people are sent have six digits. */
const isErrorCode = (value: unknown): boolean => typeof value === 'string' && /^(E[A-Z0-9]+|[A-Z0-9]+(_[A-Z0-9]+)+|[0-9A-Z]{5})$/.test(value)
