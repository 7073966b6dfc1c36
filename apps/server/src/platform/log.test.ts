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
  it.each(['password', 'old_password', 'new_password', 'code', 'token', 'refresh_token', 'ticket', 'authorization', 'cookie', 'set-cookie', 'client_key', 'user_data', 'ssh_public_key', 'licence'])('never holds a %s', (key) => {
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

  it('writes one line of JSON with an ISO time and no host', () => {
    const line = JSON.parse(written({ request_id: 'r' }, 'hello')) as Record<string, unknown>
    expect(line).toEqual({ level: 30, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), request_id: 'r', msg: 'hello' })
  })
})
