import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeKey, fingerprintsOf, generateKey, generatedAlgorithms, parsePublicKey, publicLine } from './key-pair.ssh.ts'

/** What `ssh-keygen` of OpenSSH 9.2 wrote, and says of it. Nobody's keys. */
const known = [
  [
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6l0uNYBUsRUAfb7E1sd/iVJ32O7azxPPPtbBDAU7aA vector@ed25519',
    'SHA256:2BEvnkE2LVfQvrGv2qm+vROUt6QugCzar9JPBzHVk2U',
    '1e:f3:1b:10:20:50:fa:f0:16:53:5d:98:68:60:a3:c1',
  ],
  [
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCydB5w967XiMfSOGq2BpAUWoaFKnRGbLlVQlFwEZtYufF0M9AsK0OwGnLmUMH0tE/55JjWAkeTLWakMH/DLR5JPPtzcSZRxYa6sQWFvWd9qP+adk13ZMTEjQB0WZLn7Z/BvT+TJkOlEI/gAp8Jycor2iL6Ly33X8dW2uevaEjhJek4LzQAHThxNSqzERsA9w/jKMp2XgPGkFoCdruFFW4JUpgrSuryM6KXoYRRXsPhAWHAqQVlI0BiYLc9dSjYtSGlNLx+pXoXoLMZjNuYEZ2aJ0C+hbiNOSCCtCi7JukqdNHCzuvNREstyyf2gInnXrmwOvhnjrnRSS1q7PgDloqx two',
    'SHA256:/ueaCJJ34n1gkpTBdCM5mbVUpeZk1865DPAZrLtRQZo',
    'd6:4f:24:80:b0:66:af:80:dd:ce:93:18:60:3c:e9:80',
  ],
  [
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGIVyyVcxqWf26onFT6oMGgdNJjBQfi3QGH+ILvV8mQE68oAIbq34HQ07YXsTXScOCMY24upAUScwPm3wL9sbXk= p256',
    'SHA256:IGLLA0ewVp1jliyn43cWhORbgHX2/+pIuEsEr9qkm8Y',
    'e3:d2:87:89:19:cf:67:a9:4a:bc:72:0c:3e:6c:e7:c3',
  ],
  [
    'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBCTIVjXaE/q9pU9k/LQ25jF9sav6juyrBlwm4MR8Emu/7mFlXEs97IvDFNuydl8RNAco7I9eGBe8pBKkVZjvAiaqWuIVSB/v4b0OK5gadP+e+oEDuUd4uvUuddqUTOjVow== p384',
    'SHA256:UwLt1IdRrZmPGZ1jCVx2rfHCuWPIF+I43+lM4vkkSbU',
    '38:db:e3:09:42:06:53:21:7b:e2:40:78:66:eb:f0:7a',
  ],
  [
    'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAFTLjdn2bMqlZ4kAzWAV1G//mF/c+JuHaeakKmZ4KKEkBtAnYVxuP/Yp/spF50QVBBIvd3iOIcoPnBoyQn/e8wg6AFm39U/2GqEBXWJoDnyvHxpBvTgdmnk4YiQLOM8sa8SkxmC5JMZYz7gAHBriC6631sfCsA3xKAxWo4146L6iALSPQ== p521',
    'SHA256:O3blymPOfOq4ETskDeHMfDGNsJ+wsyyLBfvWHGsFI4Q',
    'b5:1b:79:46:87:64:56:28:24:c7:01:b1:ab:d0:52:35',
  ],
] as const
const privateKeys = {
  'ssh-ed25519': `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACBupdLjWAVLEVAH2+xNbHf4lSd9ju2s8Tzz7WwQwFO2gAAAAJgY8H7FGPB+
xQAAAAtzc2gtZWQyNTUxOQAAACBupdLjWAVLEVAH2+xNbHf4lSd9ju2s8Tzz7WwQwFO2gA
AAAED5eRXOCEODMZAaI/kTKJkUqXWW8QaC1QsPxmPJdks3626l0uNYBUsRUAfb7E1sd/iV
J32O7azxPPPtbBDAU7aAAAAADnZlY3RvckBlZDI1NTE5AQIDBAUGBw==
-----END OPENSSH PRIVATE KEY-----
`,
  'ssh-rsa': `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAlwAAAAdzc2gtcn
NhAAAAAwEAAQAAAIEArogcMd1q+GxBmekjMbfWy2aI2gpQD/xYnaQ8JnF23jSHZumGhcJj
kPdyyzKJDEzYXLqEcnjlDkzq/jF0MZPUOqQ8d2tH8VYnSXL4zGHLQ9gzaKCTZwCqLwkah0
lSXKuQLDAHwztdNCpzDZvyTgsM1qZVQeVHuUvxPHpiKmU/zDMAAAIIdEB3RXRAd0UAAAAH
c3NoLXJzYQAAAIEArogcMd1q+GxBmekjMbfWy2aI2gpQD/xYnaQ8JnF23jSHZumGhcJjkP
dyyzKJDEzYXLqEcnjlDkzq/jF0MZPUOqQ8d2tH8VYnSXL4zGHLQ9gzaKCTZwCqLwkah0lS
XKuQLDAHwztdNCpzDZvyTgsM1qZVQeVHuUvxPHpiKmU/zDMAAAADAQABAAAAgQCTYPJWFU
AYKOo4eosyl6f0uE/Ft0GmThPSgnYcjGGw/7B68aWb2+tR5fJ0rebWkSl/HC1tsLLToZYq
Mj6JAukJejRb/wXbHxgb4ZAMrM+gemPYCsXAxUWvjNxshfUHTJulI2hfJAGDSP+Q2nOzWX
ScVyVPgwb6rpxcZNEWDRKreQAAAEEAhTbS6g9I1BQz1GkjFMiKzOvI/F+YNstupoDTwIs2
tvwc9Dgt7G3kvkyXD6/0HeNiejxbS1lO8kvHIInYN9Q3VgAAAEEA4IwtT/CciqIRxbAyJA
Wdhv2Mc5ZwMCrjTXFe4z0pojnXwUifFw7GD7pw+u/bMjhDZ2idMYWc9K4kijngAkD9VwAA
AEEAxvp23DssRJ1+gBpkxYV0iJlYtw17BrN2aKP3P0dL2e5+g4v7L/JXdok3RYMTi1Cfkf
qRnUKpA+wb1Q+8shqChQAAAAp2ZWN0b3JAcnNhAQIDBAUGBw==
-----END OPENSSH PRIVATE KEY-----
`,
} as const
const line = (text: string): string => text.split(' ').slice(0, 2).join(' ')

const string = (value: Buffer | string): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(value))
  return Buffer.concat([length, Buffer.from(value)])
}
/** A line whose algorithm outside is not always the one inside. */
const made = (algorithm: string, ...parts: (Buffer | string)[]): string => `${algorithm} ${Buffer.concat(parts.map(string)).toString('base64')}`
/** A modulus of so many bits, odd. */
const modulus = (bits: number): Buffer => {
  const bytes = Buffer.alloc(bits / 8, 0xa5)
  return Buffer.concat([Buffer.alloc(1), bytes])
}
const exponent = Buffer.from([1, 0, 1])
const point = Buffer.from(known[2][0].split(' ')[1] ?? '', 'base64').subarray(-65)

describe('a public key', () => {
  it.each(known)('%s is read, with the fingerprints that ssh-keygen shows', (text, sha256, md5) => {
    const key = parsePublicKey(` ${text} \n`)
    expect(key).toMatchObject({ algorithm: text.split(' ')[0], comment: text.split(' ')[2] })
    expect(fingerprintsOf(key?.blob ?? Buffer.alloc(0))).toEqual({ sha256, md5 })
    expect(key === null ? null : publicLine(key)).toBe(text)
    expect(parsePublicKey(line(text))?.comment).toBe('')
  })

  it('of a hardware token is read', () => {
    expect(parsePublicKey(made('sk-ssh-ed25519@openssh.com', 'sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 3), 'ssh:'))).not.toBeNull()
    expect(parsePublicKey(made('sk-ecdsa-sha2-nistp256@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point, 'ssh:'))).not.toBeNull()
  })

  it('of RSA is at least 2048 bits long', () => {
    const rsa = (bits: number) => parsePublicKey(made('ssh-rsa', 'ssh-rsa', exponent, modulus(bits)))
    expect(rsa(2048)).not.toBeNull()
    expect(rsa(2040)).toBeNull()
    expect(rsa(1024)).toBeNull()
    expect(rsa(16_392)).toBeNull()
  })

  const ed = Buffer.alloc(32, 7)
  it.each([
    ['nothing', ''],
    ['no base64', 'ssh-ed25519 ???'],
    ['another algorithm inside', made('ssh-ed25519', 'ssh-rsa', exponent, modulus(2048))],
    ['an algorithm that we do not know', made('ssh-dss', 'ssh-dss', ed)],
    ['a key with options', `no-pty ${known[0][0]}`],
    ['two lines', `${known[0][0]}\n${known[1][0]}`],
    ['a short Ed25519 key', made('ssh-ed25519', 'ssh-ed25519', ed.subarray(1))],
    ['something behind the key', made('ssh-ed25519', 'ssh-ed25519', ed, 'x')],
    ['a key that is cut off', `ssh-ed25519 ${(known[0][0].split(' ')[1] ?? '').slice(0, 40)}`],
    ['a length that is cut off', `ssh-ed25519 ${Buffer.concat([string('ssh-ed25519'), Buffer.from([0, 0])]).toString('base64')}`],
    ['a negative modulus', made('ssh-rsa', 'ssh-rsa', exponent, modulus(2048).subarray(1))],
    ['a modulus with needless zeros', made('ssh-rsa', 'ssh-rsa', exponent, Buffer.concat([Buffer.alloc(1), modulus(2048)]))],
    ['an even modulus', made('ssh-rsa', 'ssh-rsa', exponent, Buffer.concat([modulus(2048).subarray(0, -1), Buffer.from([2])]))],
    ['the exponent one', made('ssh-rsa', 'ssh-rsa', Buffer.from([1]), modulus(2048))],
    ['an even exponent', made('ssh-rsa', 'ssh-rsa', Buffer.from([2]), modulus(2048))],
    ['another curve inside', made('ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp256', 'nistp384', point)],
    ['a point beside its curve', made('ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]))],
    ['a compressed point', made('ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([2]), point.subarray(1, 33)]))],
    ['a token’s key without application', made('sk-ssh-ed25519@openssh.com', 'sk-ssh-ed25519@openssh.com', ed)],
    ['a certificate', made('ssh-ed25519-cert-v01@openssh.com', 'ssh-ed25519-cert-v01@openssh.com', ed)],
  ])('is not %s', (_, text) => {
    expect(parsePublicKey(text)).toBeNull()
  })
})

const bytesOf = (pem: string): Buffer => Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64')
/** The texts of openssh-key-v1 behind its magic, the last of them the private section. */
function sections(bytes: Buffer): Buffer[] {
  const found: Buffer[] = []
  let at = 'openssh-key-v1\0'.length
  const next = (): Buffer => {
    const length = bytes.readUInt32BE(at)
    at += 4 + length
    return bytes.subarray(at - length, at)
  }
  found.push(next(), next(), next())
  at += 4
  found.push(next(), next())
  expect(at).toBe(bytes.length)
  return found
}
function texts(section: Buffer, count: number): Buffer[] {
  let rest = section.subarray(8)
  return Array.from({ length: count }, () => {
    const length = rest.readUInt32BE(0)
    const text = rest.subarray(4, 4 + length)
    rest = rest.subarray(4 + length)
    return text
  })
}
/** The key of a file that ssh-keygen wrote, as Node knows it. */
function keyIn(algorithm: (typeof generatedAlgorithms)[number], pem: string): KeyObject {
  const section = sections(bytesOf(pem))[4] ?? Buffer.alloc(0)
  const url = (bytes: Buffer | undefined): string => Buffer.from(bytes?.[0] === 0 ? bytes.subarray(1) : (bytes ?? '')).toString('base64url')
  const jwk = (): JsonWebKey => {
    if (algorithm === 'ssh-ed25519') {
      const [, open, secret] = texts(section, 3)
      return { kty: 'OKP', crv: 'Ed25519', x: open?.toString('base64url') ?? '', d: secret?.subarray(0, 32).toString('base64url') ?? '' }
    }
    const [, n, e, d, qi, p, q] = texts(section, 7)
    const number = (bytes: Buffer | undefined): bigint => BigInt(`0x${bytes?.toString('hex') ?? '0'}`)
    const rest = (prime: Buffer | undefined): string => {
      const hex = (number(d) % (number(prime) - 1n)).toString(16)
      return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
    }
    return { kty: 'RSA', n: url(n), e: url(e), d: url(d), p: url(p), q: url(q), dp: rest(p), dq: rest(q), qi: url(qi) }
  }
  return createPrivateKey({ key: jwk(), format: 'jwk' })
}
/** Drawn by lot, so never the same. */
const withoutCheck = (pem: string): string => {
  const bytes = bytesOf(pem)
  const section = sections(bytes)[4] ?? Buffer.alloc(0)
  expect(section.subarray(0, 4)).toEqual(section.subarray(4, 8))
  return Buffer.concat([bytes.subarray(0, bytes.length - section.length), Buffer.alloc(8), section.subarray(8)]).toString('hex')
}

describe('a private key in OpenSSH’s format', () => {
  it.each(generatedAlgorithms)('%s is byte for byte what ssh-keygen writes', (algorithm) => {
    const pem = privateKeys[algorithm]
    const { secret } = encodeKey(algorithm, keyIn(algorithm, pem), algorithm === 'ssh-rsa' ? 'vector@rsa' : 'vector@ed25519')
    expect(withoutCheck(secret)).toBe(withoutCheck(pem))
    expect(secret.split('\n').map(({ length }) => length)).toEqual(pem.split('\n').map(({ length }) => length))
  })

  it('is another each time, and its public half fits it', async () => {
    const keys = await Promise.all([0, 1].map(() => generateKey('ssh-ed25519', '开发机')))
    expect(new Set(keys.map(({ secret }) => secret)).size).toBe(2)
    for (const { open, secret } of keys) {
      const section = sections(bytesOf(secret))
      expect(section[3]).toEqual(open.blob)
      expect(texts(section[4] ?? Buffer.alloc(0), 4)[3]?.toString()).toBe('开发机')
      expect(parsePublicKey(publicLine(open))).toEqual(open)
    }
  })

  it('of RSA is as long as it has to be in the years to come', async () => {
    const { open } = await generateKey('ssh-rsa', 'rsa')
    expect(open.blob.length).toBeGreaterThan(3072 / 8)
    expect(parsePublicKey(publicLine(open))).toEqual(open)
  })
})

const keygen = spawnSync('ssh-keygen', ['-?']).error === undefined

describe.skipIf(!keygen && process.env['CI'] === undefined)('the ssh-keygen of this machine', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zhisuan-keys-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const run = (...args: string[]): string => execFileSync('ssh-keygen', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

  it.each(generatedAlgorithms)('reads our %s keys and derives the public half from them', async (algorithm) => {
    const { open, secret } = await generateKey(algorithm, `key-${algorithm}`)
    const file = join(folder, algorithm)
    writeFileSync(file, secret, { mode: 0o600 })
    expect(run('-y', '-f', file)).toBe(publicLine(open))
    const { sha256, md5 } = fingerprintsOf(open.blob)
    expect(run('-l', '-f', file)).toContain(` ${sha256} `)
    expect(run('-l', '-E', 'md5', '-f', file)).toContain(` MD5:${md5} `)
    // Signs with it, and takes the signature.
    const text = join(folder, `${algorithm}.txt`)
    writeFileSync(text, 'signed')
    run('-Y', 'sign', '-f', file, '-n', 'test', text)
    writeFileSync(join(folder, 'signers'), `me ${publicLine(open)}\n`)
    const checked = execFileSync('ssh-keygen', ['-Y', 'verify', '-f', join(folder, 'signers'), '-I', 'me', '-n', 'test', '-s', `${text}.sig`], {
      input: 'signed',
      encoding: 'utf8',
    })
    expect(checked).toContain('Good "test" signature')
  })

  it.each([
    ['ed25519', '256'],
    ['rsa', '2048'],
    ['rsa', '4096'],
    ['ecdsa', '256'],
    ['ecdsa', '384'],
    ['ecdsa', '521'],
  ])('makes keys that we read: %s %s', (type, bits) => {
    const file = join(folder, `${type}-${bits}`)
    run('-q', '-t', type, '-b', bits, '-C', 'a comment of words', '-N', '', '-f', file)
    const key = parsePublicKey(readFileSync(`${file}.pub`, 'utf8'))
    expect(key?.comment).toBe('a comment of words')
    expect(run('-l', '-f', `${file}.pub`)).toContain(fingerprintsOf(key?.blob ?? Buffer.alloc(0)).sha256)
  })

  it('reads many keys: numbers of every shape', () => {
    for (let round = 0; round < 12; round++) {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
      const { open, secret } = encodeKey('ssh-rsa', privateKey, `${round}`)
      const file = join(folder, `many-${round}`)
      writeFileSync(file, secret, { mode: 0o600 })
      expect(run('-y', '-f', file)).toBe(publicLine(open))
    }
  })
})
