import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { licences } from '@zhisuan/contract/sys/sys'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Sql } from '../../../platform/db/database.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { issueLicence, makeKeyPair, readLicence, readPublicKey, type LicencePayload } from './licence.file.ts'
import { createLicence } from './licence.service.ts'

const dayMs = 24 * 60 * 60_000

let app: TestApp
let token: string
beforeAll(async () => {
  app = await testApp()
})
beforeEach(async () => {
  token = (await someone(app, { kind: 1 })).token
})
// As it was installed.
afterEach(async () => {
  await app.platform.db.deleteFrom('licences').execute()
  app.clock.advance(Date.now() - app.clock.now().getTime())
})
afterAll(() => app.close())

/** The private half of the pair that the first start made. */
const ownKey = () => readFileSync(join(app.config.DATA_DIR, 'licence/private.pem'), 'utf8')
const installationId = async () => (await call(app, licences.publicKey, { token })).installation_id
const grant = (changes: Partial<LicencePayload> = {}): LicencePayload => ({
  id: randomUUID(),
  customer: '某某大学',
  installation_id: null,
  start_timestamp: app.clock.now().getTime() - 1000,
  end_timestamp: app.clock.now().getTime() + 365 * dayMs,
  nodes: 50,
  cores: 4096,
  ...changes,
})
const get = async () => call(app, licences.get, { token: await fresh() })
const doImport = async (licence: string) => call(app, licences.import, { token: await fresh(), body: { licence } })
const refuseImport = async (licence: unknown) => refused(app, licences.import, { token: await fresh(), body: { licence } })
/** A token that a moved clock has not ended. */
const fresh = async () => (await someone(app, { kind: 1 })).token

describe('the licence in force', () => {
  it('is at first one to evaluate with, for ninety days from installation', async () => {
    const licence = await get()
    expect(licence).toEqual({
      kind: 'evaluation',
      id: 'evaluation',
      customer: '',
      start_timestamp: expect.any(Number),
      end_timestamp: licence.start_timestamp + 90 * dayMs,
      nodes: 10,
      cores: 1024,
      nodes_used: 0,
      cores_used: 0,
      installation_id: await installationId(),
    })
    expect(Math.abs(licence.start_timestamp - app.clock.now().getTime())).toBeLessThan(60_000)
    const later = await testApp({ DATABASE_URL: app.databaseUrl })
    app.clock.advance(20 * dayMs)
    expect((await get()).start_timestamp).toBe(licence.start_timestamp)
    await later.close()
  })

  it('runs out, and says so to who asks for more', async () => {
    const licence = createLicence(app.platform)
    app.clock.advance(90 * dayMs - 60_000)
    await licence.assertValid()
    app.clock.advance(61_000)
    await expect(licence.assertValid()).rejects.toMatchObject({ refusal: 'licenceExpired' })
    expect((await get()).kind).toBe('evaluation')
    await doImport(issueLicence(grant(), ownKey()))
    await licence.assertValid()
  })

  it('is the newest that was imported, once it has begun', async () => {
    const now = app.clock.now().getTime()
    expect(await doImport(issueLicence(grant({ id: 'first', nodes: null, cores: null }), ownKey()))).toMatchObject({
      kind: 'licensed',
      id: 'first',
      customer: '某某大学',
      nodes: null,
      cores: null,
    })
    expect(await doImport(issueLicence(grant({ id: 'second' }), ownKey()))).toMatchObject({ id: 'second', nodes: 50, cores: 4096 })
    expect(await doImport(issueLicence(grant({ id: 'renewal', start_timestamp: now + 10 * dayMs }), ownKey()))).toMatchObject({ id: 'second' })
    app.clock.advance(10 * dayMs + 1000)
    expect(await get()).toMatchObject({ id: 'renewal' })
  })

  it('is for administrators to see and to import', async () => {
    const tenant = await someone(app)
    for (const declared of [licences.get, licences.import, licences.publicKey]) {
      expect(await refused(app, declared, { token: tenant.token, body: { licence: 'x' } }), declared.id).toMatchObject({ status: 403, code: 3000 })
    }
  })
})

describe('importing', () => {
  it('takes a file for this installation, however its lines are broken', async () => {
    const file = issueLicence(grant({ installation_id: await installationId() }), ownKey())
    expect((await doImport(`\r\n${file.replaceAll('\n', '\r\n  ')}\r\n`)).kind).toBe('licensed')
  })

  it('refuses a signature of another key', async () => {
    expect(await refuseImport(issueLicence(grant(), makeKeyPair().privateKey))).toMatchObject({ status: 400, code: 92002, fields: [{ field: 'licence' }] })
  })

  it('refuses a file that was changed, in any one character', async () => {
    const file = issueLicence(grant(), ownKey())
    const inner = file.split('\n').slice(1, -2).join('')
    const key = readPublicKey(readFileSync(join(app.config.DATA_DIR, 'licence/public.pem'), 'utf8'))
    const wrap = (text: string) => `-----BEGIN ZHISUAN LICENCE-----\n${text}\n-----END ZHISUAN LICENCE-----`
    expect(readLicence(wrap(inner), key).ok).toBe(true)
    for (let at = 0; at < inner.length; at++) {
      const changed = inner.slice(0, at) + (inner[at] === 'A' ? 'B' : 'A') + inner.slice(at + 1)
      expect(readLicence(wrap(changed), key).ok, `character ${at}`).toBe(false)
    }
    expect((await refuseImport(file.replace('.', '.A'))).status).toBe(400)
    expect((await refuseImport(file.replace('==', '='))).status).toBe(400)
  })

  it('refuses what is no licence file', async () => {
    const signed = (body: unknown) => {
      // Signed by the right key, but not a licence.
      const good = issueLicence(grant(), ownKey())
      return good.replace(/\n[\s\S]*\n-----END/, `\n${Buffer.from(JSON.stringify(body)).toString('base64')}.AAAA\n-----END`)
    }
    for (const text of ['hello', '-----BEGIN ZHISUAN LICENCE-----\nabc\n-----END ZHISUAN LICENCE-----', '-----BEGIN ZHISUAN LICENCE-----', '{}']) {
      expect(await refuseImport(text), text).toMatchObject({ status: 400, code: 92003 })
    }
    expect((await refuseImport(signed({}))).code).toBe(92002)
    expect(await refuseImport('  ')).toMatchObject({ code: 90001, fields: [{ field: 'licence', message: '请粘贴完整的许可证内容' }] })
    expect((await refuseImport('x'.repeat(16_385))).code).toBe(90001)
    expect((await refuseImport(5)).code).toBe(90001)
  })

  it('refuses what is over, and what is another installation’s', async () => {
    const now = app.clock.now().getTime()
    expect(await refuseImport(issueLicence(grant({ start_timestamp: now - 2 * dayMs, end_timestamp: now - 1000 }), ownKey()))).toMatchObject({
      status: 400,
      code: 92004,
    })
    expect(await refuseImport(issueLicence(grant({ installation_id: randomUUID() }), ownKey()))).toMatchObject({ status: 400, code: 92005 })
    expect((await get()).kind).toBe('evaluation')
  })

  it('of a payload that cannot be one is not even signed', () => {
    const key = makeKeyPair().privateKey
    const now = Date.now()
    for (const changes of [
      { nodes: 0 },
      { cores: -1 },
      { nodes: 1.5 },
      { customer: '' },
      { start_timestamp: now, end_timestamp: now },
      { installation_id: 'x' },
    ]) {
      expect(() => issueLicence(grant(changes), key), JSON.stringify(changes)).toThrow()
    }
  })
})

describe('what the licence limits', () => {
  /** Nodes and cores in use, as a table that two transactions can fill at once. */
  async function limited() {
    await sql`drop table if exists used`.execute(app.platform.db)
    await sql`create table used (nodes integer not null, cores integer not null)`.execute(app.platform.db)
    const usageOfLicence = async (on: Sql) => {
      const { rows } = await sql<{ nodes: number; cores: number }>`select coalesce(sum(nodes), 0) as nodes, coalesce(sum(cores), 0) as cores from used`.execute(
        on,
      )
      return rows[0] ?? { nodes: 0, cores: 0 }
    }
    const licence = createLicence({ ...app.platform, modules: () => [{ handlers: [], usageOfLicence }] })
    const add = (nodes: number, cores: number) =>
      app.platform.db.transaction().execute(async (tx) => {
        await licence.assertFits(tx, { nodes, cores })
        await sql`insert into used values (${nodes}, ${cores})`.execute(tx)
      })
    return { licence, add }
  }

  it('is nodes and cores, up to and including what it says', async () => {
    const { licence, add } = await limited()
    await add(9, 1000)
    await expect(add(2, 1)).rejects.toMatchObject({ refusal: 'licenceNodesExceeded' })
    await expect(add(1, 25)).rejects.toMatchObject({ refusal: 'licenceCoresExceeded' })
    await add(1, 24)
    await expect(add(0, 1)).rejects.toMatchObject({ refusal: 'licenceCoresExceeded' })
    await add(0, 0)
    expect(await licence.get()).toMatchObject({ nodes_used: 10, cores_used: 1024 })
    await doImport(issueLicence(grant({ nodes: null, cores: 2048 }), ownKey()))
    await add(500, 1024)
    await expect(add(500, 1)).rejects.toMatchObject({ refusal: 'licenceCoresExceeded' })
  })

  it('is never passed by two at once', async () => {
    const { licence, add } = await limited()
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => add(3, 1)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await licence.get()).toMatchObject({ nodes_used: 9 })
  })
})

describe('the key', () => {
  it('is made at the first start, its private half for the owner alone, and stays', async () => {
    const folder = join(app.config.DATA_DIR, 'licence')
    expect(statSync(join(folder, 'private.pem')).mode & 0o777).toBe(0o600)
    const { pubkey } = await call(app, licences.publicKey, { token })
    expect(pubkey).toBe(readFileSync(join(folder, 'public.pem'), 'utf8'))
    expect(pubkey).toMatch(/^-----BEGIN PUBLIC KEY-----\n/)
    createLicence(app.platform)
    expect(readFileSync(join(folder, 'public.pem'), 'utf8')).toBe(pubkey)
  })

  it('can be configured; licences of the one that was made are then worth nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'licence-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const pair = makeKeyPair()
    const path = join(folder, 'vendor.pem')
    writeFileSync(path, pair.publicKey)
    await doImport(issueLicence(grant({ id: 'self-issued' }), ownKey()))
    const configured = await testApp({ DATABASE_URL: app.databaseUrl, LICENCE_PUBLIC_KEY_FILE: path })
    onTestFinished(() => configured.close())
    expect(existsSync(join(configured.config.DATA_DIR, 'licence'))).toBe(false)
    expect((await call(configured, licences.get, { token })).kind).toBe('evaluation')
    expect((await call(configured, licences.import, { token, body: { licence: issueLicence(grant({ id: 'vendor' }), pair.privateKey) } })).id).toBe('vendor')
  })

  it('that is none stops the start, with the file’s name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'licence-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'vendor.pem')
    await expect(testApp({ LICENCE_PUBLIC_KEY_FILE: path })).rejects.toThrow(path)
    writeFileSync(path, 'not a key')
    await expect(testApp({ LICENCE_PUBLIC_KEY_FILE: path })).rejects.toThrow(path)
  })
})
