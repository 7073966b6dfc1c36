import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { licences } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeKeyPair, readLicence, readPublicKey } from '../modules/sys/licence/licence.file.ts'
import { testApp } from '../testing/app.ts'
import { call } from '../testing/call.ts'
import { someone } from '../testing/people.ts'
import { runScript } from './testing.ts'

let folder: string
const at = (name: string) => join(folder, name)
const licence = (...args: string[]) => runScript('licence', args)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-licence-'))
  expect(await licence('keys', '--out', at('keys'))).toMatchObject({ status: 0, stderr: '' })
})
afterAll(() => rmSync(folder, { recursive: true }))

const publicKey = () => readPublicKey(readFileSync(at('keys/public.pem'), 'utf8'))
const issue = (...args: string[]) =>
  licence('issue', '--key', at('keys/private.pem'), '--customer', '某某大学', '--from', '2026-01-01', '--to', '2026-12-31', ...args)

describe('keys', () => {
  it('keeps the private one from others', () => {
    expect(statSync(at('keys/private.pem')).mode & 0o777).toBe(0o600)
    expect(statSync(at('keys')).mode & 0o777).toBe(0o700)
  })

  it('never overwrites one', async () => {
    const before = readFileSync(at('keys/private.pem'), 'utf8')
    expect(await licence('keys', '--out', at('keys'))).toMatchObject({ status: 1, stderr: expect.stringContaining('private.pem exists') })
    expect(readFileSync(at('keys/private.pem'), 'utf8')).toBe(before)
  })

  it('leaves no private key where the public one cannot be', async () => {
    const other = mkdtempSync(at('other-'))
    writeFileSync(join(other, 'public.pem'), 'somebody else')
    expect(await licence('keys', '--out', other)).toMatchObject({ status: 1, stderr: expect.stringContaining('public.pem exists') })
    expect(readdirSync(other)).toEqual(['public.pem'])
  })
})

describe('issue', () => {
  it('signs what the server reads', async () => {
    const installation = randomUUID()
    const { status, stdout } = await issue('--installation', installation, '--nodes', '5', '--cores', '640')
    expect(status).toBe(0)
    expect(readLicence(stdout, publicKey())).toEqual({
      ok: true,
      payload: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        customer: '某某大学',
        installation_id: installation,
        // Days of China, the last one to its end.
        start_timestamp: Date.parse('2025-12-31T16:00:00Z'),
        end_timestamp: Date.parse('2026-12-31T15:59:59.999Z'),
        nodes: 5,
        cores: 640,
      },
    })
  })

  it('fits every installation, without limit, unless it is told otherwise', async () => {
    const read = readLicence((await issue()).stdout, publicKey())
    expect(read).toMatchObject({ ok: true, payload: { installation_id: null, nodes: null, cores: null } })
  })

  it('writes a file that a running server takes', async () => {
    const app = await testApp({ LICENCE_PUBLIC_KEY_FILE: at('keys/public.pem') })
    try {
      const { token } = await someone(app, { kind: 1 })
      const { installation_id } = await call(app, licences.publicKey, { token })
      const file = at('accepted.licence')
      const year = new Date().getUTCFullYear()
      const issued = await licence(
        'issue',
        '--key',
        at('keys/private.pem'),
        '--customer',
        '某某大学',
        '--installation',
        installation_id,
        '--from',
        `${year}-01-01`,
        '--to',
        `${year + 1}-12-31`,
        '--nodes',
        '7',
        '--out',
        file,
      )
      expect(issued).toMatchObject({ status: 0, stdout: `${file}\n` })
      expect(await call(app, licences.import, { token, body: { licence: readFileSync(file, 'utf8') } })).toMatchObject({
        kind: 'licensed',
        customer: '某某大学',
        nodes: 7,
        cores: null,
      })
    } finally {
      await app.close()
    }
  })

  it.each([
    [['--from', '2026-02-30'], '--from has to be a day'],
    [['--to', 'tomorrow'], '--to has to be a day'],
    [['--to', '2026-01-31T12:00:00'], '--to has to be a day'],
    [['--to', '2025-12-31'], '--to has to be after --from'],
    [['--installation', 'here'], '--installation'],
    [['--customer', ' '], '--customer is missing'],
    [['--customer', 'x'.repeat(129)], '--customer'],
    [['--nodes', '0'], '--nodes has to be a whole number above 0'],
    [['--cores', '1.5'], '--cores has to be a whole number above 0'],
    [['--cores', '-1'], '--cores'],
    [['--days', '3'], '--days'],
    [['surplus'], 'surplus'],
  ])('says what is wrong with %s', async (args, message) => {
    expect(await issue(...args)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(message) })
  })

  it('names the option that is missing', async () => {
    expect(await licence('issue', '--customer', 'x')).toMatchObject({ status: 2, stderr: expect.stringContaining('--key is missing') })
    expect(await licence('grant')).toMatchObject({ status: 2, stderr: expect.stringContaining('grant is not known') })
    expect(await licence()).toMatchObject({ status: 2 })
    expect(await licence('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('usage') })
  })

  it('takes no key of another kind', async () => {
    writeFileSync(at('rsa.pem'), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }))
    for (const key of ['rsa.pem', 'keys/public.pem']) {
      expect(await issue('--key', at(key)), key).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('no Ed25519 private key') })
    }
    expect(await issue('--key', at('none.pem'))).toMatchObject({ status: 1, stderr: expect.stringContaining('none.pem') })
  })

  it('does not overwrite a file', async () => {
    writeFileSync(at('taken'), 'mine')
    expect(await issue('--out', at('taken'))).toMatchObject({ status: 1, stderr: expect.stringContaining('exists') })
    expect(readFileSync(at('taken'), 'utf8')).toBe('mine')
  })
})

describe('inspect', () => {
  it('tells what is granted and whether it is genuine', async () => {
    writeFileSync(at('a.licence'), (await issue('--nodes', '5')).stdout)
    writeFileSync(at('stranger.pem'), makeKeyPair().publicKey)
    expect(await licence('inspect', at('a.licence'))).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/某某大学[^]*2026-12-31T23:59:59\+08:00[^]*not checked/),
    })
    expect(await licence('inspect', at('a.licence'), '--pubkey', at('keys/public.pem'))).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('genuine'),
    })
    expect(await licence('inspect', at('a.licence'), '--pubkey', at('stranger.pem'))).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('NOT of this key'),
    })
  })

  it('says when there is none', async () => {
    writeFileSync(at('not'), 'a licence')
    expect(await licence('inspect', at('not'))).toMatchObject({ status: 1, stderr: expect.stringContaining('holds no licence') })
    expect(await licence('inspect')).toMatchObject({ status: 2, stderr: expect.stringContaining('FILE is missing') })
  })
})
