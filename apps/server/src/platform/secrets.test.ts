import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSecrets, readSecretKey } from './secrets.ts'

const secrets = createSecrets(Buffer.alloc(32, 1))

describe('a sealed text', () => {
  it('opens to what it was, and never looks the same twice', () => {
    for (const plain of ['', 'x', '密码 🔑', 'long'.repeat(10_000)]) {
      const [one, other] = [secrets.seal(plain, 'a:1'), secrets.seal(plain, 'a:1')]
      expect(secrets.open(one, 'a:1')).toBe(plain)
      expect(one).not.toBe(other)
      if (plain.length > 3) expect(one).not.toContain(plain)
    }
  })

  it('does not open elsewhere, with another key, or changed', () => {
    const sealed = secrets.seal('secret', 'clouds.connection:1')
    expect(() => secrets.open(sealed, 'clouds.connection:2')).toThrow()
    expect(() => createSecrets(Buffer.alloc(32, 2)).open(sealed, 'clouds.connection:1')).toThrow()
    const parts = sealed.split('.').map((part) => Buffer.from(part, 'base64'))
    for (const [n, part] of parts.entries()) {
      if (n === 0) continue
      for (let at = 0; at < part.length; at++) {
        const changed = Buffer.from(part)
        changed.writeUInt8((part[at] ?? 0) ^ 1, at)
        const text = sealed.split('.').with(n, changed.toString('base64')).join('.')
        expect(() => secrets.open(text, 'clouds.connection:1'), `byte ${at} of part ${n}`).toThrow()
      }
    }
    for (const text of ['', 'v1', 'v1...', 'v2.a.b.c', 'plain']) expect(() => secrets.open(text, 'a'), text).toThrow()
  })

  it('does not open with a shortened tag', () => {
    const [kind, nonce, tag = '', text] = secrets.seal('secret', 'a').split('.')
    const short = Buffer.from(tag, 'base64').subarray(0, 4).toString('base64')
    expect(() => secrets.open([kind, nonce, short, text].join('.'), 'a')).toThrow()
  })
})

describe('the key', () => {
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'secrets-'))
    onTestFinished(() => rmSync(path, { recursive: true }))
    return path
  }

  it('is the configured one', () => {
    const key = Buffer.alloc(32, 3)
    expect(readSecretKey({ SECRET_KEY: key.toString('base64'), DATA_DIR: '/nowhere' })).toEqual(key)
  })

  it('is else made once, for the owner alone', () => {
    const DATA_DIR = join(folder(), 'new')
    const key = readSecretKey({ SECRET_KEY: undefined, DATA_DIR })
    expect(key).toHaveLength(32)
    expect(readSecretKey({ SECRET_KEY: undefined, DATA_DIR })).toEqual(key)
    expect(statSync(join(DATA_DIR, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(Buffer.from(readFileSync(join(DATA_DIR, 'secret.key'), 'utf8'), 'base64')).toEqual(key)
  })

  it('that is none stops the start with the file’s name', () => {
    const DATA_DIR = folder()
    writeFileSync(join(DATA_DIR, 'secret.key'), 'short')
    expect(() => readSecretKey({ SECRET_KEY: undefined, DATA_DIR })).toThrow(join(DATA_DIR, 'secret.key'))
  })
})
