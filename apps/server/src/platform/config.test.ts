import { resolve } from 'node:path'
import '@zhisuan/contract/validation'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

/** The text that a start with this environment ends with. */
function complaint(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return expect.fail('the configuration was taken')
}
/** The keys that it names, in order. */
const named = (text: string): string[] => [...text.matchAll(/^ {2}([A-Z0-9_]+): .+$/gm)].map(([, key = '']) => key)

describe('the configuration', () => {
  it('needs nothing', () => {
    const config = readConfig({})
    expect(config).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      DATA_DIR: resolve('data'),
      DATABASE_POOL_SIZE: 12,
      ZHISUAN_ENV: 'production',
      LOG_LEVEL: 'info',
      TRUST_PROXY: 0,
      LOCAL_CLOUD: 'auto',
    })
    expect(config.DATABASE_URL).toBeUndefined()
    expect(config.version).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('takes what is set, trimmed; empty counts as not set', () => {
    expect(
      readConfig({ PORT: ' 9000 ', HOST: '', DATABASE_URL: ' ', SMTP_URL: '', PUBLIC_URL: ' https://cloud.example.com ', LOG_LEVEL: 'debug ', PATH: '/bin' }),
    ).toMatchObject({
      PORT: 9000,
      HOST: '127.0.0.1',
      DATABASE_URL: undefined,
      SMTP_URL: undefined,
      PUBLIC_URL: 'https://cloud.example.com',
      LOG_LEVEL: 'debug',
    })
  })

  it('takes an S3 whole or not at all', () => {
    expect(named(complaint({ S3_BUCKET: 'b' }))).toEqual(['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'])
    expect(readConfig({ S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'k', S3_SECRET_ACCESS_KEY: 's' })).toMatchObject({ S3_BUCKET: 'b', S3_REGION: 'us-east-1' })
  })

  it('names every wrong key at once, in one readable text', () => {
    const text = complaint({
      PORT: 'eighty',
      PUBLIC_URL: 'cloud.example.com',
      DATABASE_URL: 'mysql://host/db',
      DATABASE_POOL_SIZE: '1',
      SECRET_KEY: 'short',
      ZHISUAN_ENV: 'staging',
      LOG_LEVEL: 'loud',
      TRUST_PROXY: '-1',
      SMTP_URL: 'smtp://mail.example.com',
      SMS_GATEWAY_URL: 'ftp://x',
      LOCAL_CLOUD: 'maybe',
      FAULT_FILE: 'x:y',
    })
    expect(named(text).sort()).toEqual([
      'DATABASE_POOL_SIZE',
      'DATABASE_URL',
      'FAULT_FILE',
      'LOCAL_CLOUD',
      'LOG_LEVEL',
      'PORT',
      'PUBLIC_URL',
      'SECRET_KEY',
      'SMS_GATEWAY_URL',
      'SMTP_FROM',
      'TRUST_PROXY',
      'ZHISUAN_ENV',
    ])
    expect(text).toContain('openssl rand -base64 32')
    expect(text).toContain('README')
    // One language, whatever the forms speak.
    expect(text).not.toMatch(/\p{Script=Han}/u)
    expect(text).not.toContain('\n    at ')
  })

  it.each([
    ['PORT', { PORT: '65536' }],
    ['PORT', { PORT: '80.5' }],
    ['SMTP_FROM', { SMTP_URL: 'smtp://mail.example.com' }],
    ['SMTP_FROM', { SMTP_URL: 'smtp://mail.example.com', SMTP_FROM: 'nobody' }],
    ['FAULT_FILE', { FAULT_FILE: 'x:y' }],
    ['SECRET_KEY', { SECRET_KEY: Buffer.alloc(31).toString('base64') }],
  ])('names %s alone where that alone is wrong', (key, env) => {
    expect(named(complaint(env))).toEqual([key])
  })

  it('does not print what was set: it may be a secret', () => {
    const text = complaint({ SECRET_KEY: 'hunter2hunter2', SMTP_URL: 'http://user:hunter2@mail', DATABASE_URL: 'mysql://root:hunter2@host' })
    expect(text).not.toContain('hunter2')
  })

  it('allows fault points in tests only', () => {
    expect(readConfig({ ZHISUAN_ENV: 'test', FAULT_FILE: 'a:b' }).FAULT_FILE).toBe('a:b')
    expect(named(complaint({ ZHISUAN_ENV: 'development', FAULT_FILE: 'a:b' }))).toEqual(['FAULT_FILE'])
  })
})
