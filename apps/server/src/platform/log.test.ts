import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { logOptions } from './log.ts'

/** What is written for one line of the log. */
function written(...line: [object, string?]): string {
  const chunks: string[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString())
      done()
    },
  })
  pino(logOptions({ LOG_LEVEL: 'debug' }), stream).info(...line)
  return chunks.join('')
}

const secret = 'Hunter2-Hunter2'

describe('the log', () => {
  it.each([
    'password',
    'old_password',
    'new_password',
    'code',
    'token',
    'refresh_token',
    'ticket',
    'authorization',
    'cookie',
    'set-cookie',
    'client_key',
    'private_key',
    'user_data',
    'script',
    'ssh_public_key',
    'licence',
    'secret',
    'credential_secret',
    'auth_key',
    'adminPass',
    'x-auth-token',
    'x-subject-token',
  ])('never holds a %s', (key) => {
    for (const line of [{ [key]: secret }, { body: { [key]: secret } }, { req: { headers: { [key]: secret } } }, { body: { connection: { [key]: secret } } }]) {
      const text = written(line)
      expect(text, JSON.stringify(line)).not.toContain(secret)
      expect(text).toContain('[redacted]')
    }
  })

  it('holds errors with their causes, not what hangs on them', () => {
    const cause = Object.assign(new Error('the cause'), { password: secret })
    const error = Object.assign(new Error('failed', { cause }), { password: secret, code: 'EX' })
    const text = written({ err: error }, 'something failed')
    expect(text).toContain('failed')
    expect(text).toContain('the cause')
    expect(text).not.toContain(secret)
  })

  it.each(['ECONNREFUSED', 'EX', '57P01', '22021', 'FST_ERR_CTP_BODY_TOO_LARGE', 'ERR_TLS_CERT_ALTNAME_INVALID'])('says which error it was: %s', (code) => {
    expect(JSON.parse(written({ err: Object.assign(new Error('failed'), { code }) }))).toMatchObject({ err: { code } })
  })

  it('holds no verification code, wherever it hangs', () => {
    for (const code of ['271828', 271828]) {
      expect(written({ code, body: { code }, err: Object.assign(new Error('failed'), { code, body: { code } }) })).not.toContain('271828')
    }
  })

  it('writes one line of JSON with an ISO time and no host', () => {
    const line = JSON.parse(written({ request_id: 'r' }, 'hello')) as Record<string, unknown>
    expect(line).toEqual({ level: 30, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), request_id: 'r', msg: 'hello' })
  })
})
