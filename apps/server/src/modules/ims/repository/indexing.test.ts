import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { consumes } from '@zhisuan/contract/bill/consume'
import { registryProjects, repositories, tagBin, type RegistryProject } from '@zhisuan/contract/ims/project'
import { registries, type Registry } from '@zhisuan/contract/ims/registry'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { rateUsage } from '../../bill/testing.ts'

const digestOf = (bytes: string | Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const types = { index: 'application/vnd.oci.image.index.v1+json', manifest: 'application/vnd.oci.image.manifest.v1+json' }
const hour = 3_600_000

const config = JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: [] } })
/** An image whose one layer takes so many bytes, as far as its manifest says. */
const image = (size: number): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: types.manifest,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digestOf(config), size: config.length },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: digestOf(`layer of ${size}`), size }],
  })
const indexOf = (digest: string): string =>
  JSON.stringify({ schemaVersion: 2, mediaType: types.index, manifests: [{ mediaType: types.index, digest, size: 10, platform: { os: 'linux' } }] })

/** A registry that has what a real one would not take, as one that was taken over may. */
async function hostileRegistry() {
  const tags = new Map<string, string>()
  /** Under digests that are not theirs, too. */
  const byDigest = new Map<string, string>()
  /** What is asked about a tag is answered once this lets it: as it was when it was asked. */
  const holds = new Map<string, Promise<void>>()
  /** `silent`: takes what would change it, and answers nothing. `takes`: pushes and deletions are taken. */
  const state = { broken: false, silent: false, takes: false }
  const take = async (request: IncomingMessage, path: string, end: (status: number, headers?: Record<string, string>) => void): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const reference = /^\/v2\/team\/app\/manifests\/(.+)$/.exec(path)?.[1]
    if (request.method === 'POST') return end(202, { location: path })
    if (reference === undefined) return end(201)
    if (request.method === 'PUT') {
      ;(reference.startsWith('sha256:') ? byDigest : tags).set(reference, Buffer.concat(chunks).toString())
      return end(201)
    }
    byDigest.delete(reference)
    for (const [tag, manifest] of tags) if (digestOf(manifest) === reference) tags.delete(tag)
    end(202)
  }
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://registry').pathname
    const end = (status: number, body: string, type = 'application/json') =>
      response
        .writeHead(status, { 'content-type': type, 'docker-distribution-api-version': 'registry/2.0', 'docker-content-digest': digestOf(body) })
        .end(request.method === 'HEAD' ? undefined : body)
    if (state.broken) return end(503, '{"errors":[{"code":"UNAVAILABLE","message":"backend is down"}]}')
    const changes = request.method !== 'GET' && request.method !== 'HEAD'
    if (changes && state.silent) return void request.destroy()
    if (changes && state.takes) return void take(request, path, (status, headers = {}) => void response.writeHead(status, headers).end())
    if (path === '/v2/_catalog') return end(200, JSON.stringify({ repositories: ['team/app', '../../etc', 'UPPER/x', '_catalog', `team/${'x'.repeat(300)}`] }))
    if (path === '/v2/team/app/tags/list') return end(200, JSON.stringify({ name: 'team/app', tags: [...tags.keys()] }))
    const reference = /^\/v2\/team\/app\/manifests\/(.+)$/.exec(path)?.[1]
    const found = reference === undefined ? undefined : (tags.get(reference) ?? byDigest.get(reference))
    const answer = () =>
      found === undefined ? end(404, '{"errors":[{"code":"NOT_FOUND"}]}') : end(200, found, found.includes('"manifests"') ? types.index : types.manifest)
    const hold = reference === undefined || request.method !== 'GET' ? undefined : holds.get(reference)
    if (hold !== undefined && reference !== undefined) {
      holds.delete(reference)
      return void hold.then(answer)
    }
    if (found !== undefined) return answer()
    if (path === `/v2/team/app/blobs/${digestOf(config)}`) return end(200, config)
    if (path === '/v2/') return end(200, '{}')
    return end(404, '{"errors":[{"code":"NOT_FOUND"}]}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { tags, byDigest, holds, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() }
}

describe('the index of a registry', () => {
  let app: TestApp
  let admin: Person & SignedIn
  let owner: Person & SignedIn
  let there: Awaited<ReturnType<typeof hostileRegistry>>
  let registry: Registry
  let project: RegistryProject

  const shown = async () =>
    (await call(app, repositories.tags, { token: owner.token, params: { id: registry.id, pid: project.id, name: 'app' }, query: {} })).items
  const reconcile = () => call(app, registries.action, { token: admin.token, params: { id: registry.id }, query: { action: 'reconcile' } })

  beforeAll(async () => {
    app = await testApp()
    there = await hostileRegistry()
    admin = await someone(app, { kind: 1 })
    owner = await someone(app)
    registry = await call(app, registries.create, { token: admin.token, body: { name: 'hostile', connection: { engine: 'distribution', url: there.url } } })
    project = await call(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name: 'team' } })
  })
  afterAll(async () => {
    await app.close()
    there.stop()
  })

  const tellOf = (...told: [name: string, digest: string][]) =>
    app.http.inject({
      method: 'POST',
      url: new URL(registry.notifications?.url ?? '').pathname,
      headers: { authorization: `Bearer ${registry.notifications?.secret}`, 'content-type': 'application/vnd.docker.distribution.events.v2+json' },
      payload: JSON.stringify({
        events: told.map(([tag, digest]) => ({
          action: 'push',
          actor: { name: 'somebody' },
          target: { mediaType: types.manifest, digest, repository: 'team/app', tag },
        })),
      }),
    })
  const tell = async (name: string): Promise<void> => void expect((await tellOf([name, digestOf(name)])).statusCode).toBe(200)

  const bad: [tag: string, manifest: string][] = [
    ['with-nul', image(10).replace('{"schemaVersion":2,', '{"schemaVersion":2,"artifactType":"a\\u0000b",')],
    ['too-large', image(9e18)],
    ['no-json', '{"schemaVersion":2,'],
    ['a-list', '[]'],
    ['of-5-MiB', JSON.stringify({ schemaVersion: 2, layers: [], more: 'x'.repeat(5 * 2 ** 20) })],
    ['of-its-own', indexOf(digestOf('of its own'))],
    [
      'of-a-thousand',
      JSON.stringify({ ...JSON.parse(indexOf(digestOf('x'))), manifests: Array.from({ length: 1_000 }, () => ({ digest: digestOf('x'), size: 1 })) }),
    ],
  ]

  it('has what is understood, and stops at nothing that is not', async () => {
    for (const [tag, manifest] of bad) there.tags.set(tag, manifest)
    // What it names as its part is itself, by a digest that it does not have.
    there.byDigest.set(digestOf('of its own'), indexOf(digestOf('of its own')))
    there.tags.set('good', image(1_000))
    await reconcile()
    expect(await shown()).toMatchObject([{ name: 'good', digest: digestOf(image(1_000)) }])
    expect(await call(app, registries.get, { token: admin.token, params: { id: registry.id } })).toMatchObject({ reconcile_error: null })
    // Names that no project can have are nobody's.
    const { items } = await call(app, registryProjects.list, { token: admin.token, params: { id: registry.id }, query: {} })
    expect(items.map(({ name }) => name)).toEqual(['team'])
  })

  it.each(bad)('takes it that it was told of %s, and hears what comes after', async (tag) => {
    there.tags.set('later', image(2_000 + tag.length))
    const event = (name: string) => ({ action: 'push', target: { mediaType: types.manifest, digest: digestOf(name), repository: 'team/app', tag: name } })
    const answer = await app.http.inject({
      method: 'POST',
      url: new URL(registry.notifications?.url ?? '').pathname,
      headers: { authorization: `Bearer ${registry.notifications?.secret}`, 'content-type': 'application/vnd.docker.distribution.events.v2+json' },
      payload: JSON.stringify({ events: [event(tag), event('later')] }),
    })
    // Else the registry would tell of it again for ever, and of nothing after it.
    expect(answer.statusCode).toBe(200)
    // It is answered before it is looked at.
    const later = expect.objectContaining({ name: 'later', digest: digestOf(image(2_000 + tag.length)) }) as unknown
    await vi.waitFor(async () => expect(await shown()).toContainEqual(later))
  })

  it.each([
    ['is new', undefined, image(3_100)],
    ['moves a tag', image(3_000), image(3_100)],
    ['brings a tag back', image(3_000), undefined],
  ] as const)('loses no push that %s while it is being compared', async (name, known, seen) => {
    const tag = name.replaceAll(' ', '-')
    if (known !== undefined) {
      there.tags.set(tag, known)
      await tell(tag)
    }
    if (seen === undefined) there.tags.delete(tag)
    else there.tags.set(tag, seen)
    let release = () => {}
    there.holds.set(tag, new Promise((resolve) => (release = resolve)))
    const comparing = reconcile()
    await vi.waitFor(() => expect(there.holds.has(tag)).toBe(false))
    there.tags.set(tag, image(4_000))
    await tell(tag)
    release()
    await comparing
    expect(await shown()).toContainEqual(expect.objectContaining({ name: tag, digest: digestOf(image(4_000)), pushed_by: 'somebody' }))
    there.tags.delete(tag)
    await reconcile()
    expect((await shown()).map((one) => one.name)).not.toContain(tag)
  })

  it.each([
    ['that it was told of', true],
    ['that nobody told of', false],
  ] as const)('never takes away a push %s under a name whose deletion was not finished', async (_, isTold) => {
    const bin = { id: registry.id, pid: project.id }
    there.tags.set('again', image(5_000))
    await tell('again')
    there.state.silent = true
    const params = { ...bin, name: 'app', tag: 'again' }
    expect(await refused(app, repositories.deleteTag, { token: owner.token, params })).toMatchObject({ code: 97012 })
    there.state.silent = false
    there.state.takes = true
    there.tags.set('again', image(5_100))
    if (isTold) await tell('again')
    const { items } = await call(app, tagBin.list, { token: owner.token, params: bin, query: {} })
    const left = items.find(({ name, digest }) => name === 'again' && digest === digestOf(image(5_000)))
    await call(app, tagBin.delete, { token: owner.token, params: { ...bin, bin_id: left?.id ?? '' } })
    expect(there.tags.get('again')).toBe(image(5_100))
    await reconcile()
    expect(await shown()).toContainEqual(expect.objectContaining({ name: 'again', digest: digestOf(image(5_100)) }))
    await call(app, repositories.deleteTag, { token: owner.token, params })
    expect(there.tags.has('again')).toBe(false)
    there.state.takes = false
  })

  it('counts what was overtaken under its name before it was looked at, and puts nothing over a push that it has not heard of', async () => {
    const bin = { id: registry.id, pid: project.id }
    const [first, second, third] = [image(6_000), image(6_100), image(6_200)]
    there.byDigest.set(digestOf(first), first).set(digestOf(second), second)
    there.tags.set('race', second)
    await tellOf(['race', digestOf(first)], ['race', digestOf(second)])
    expect(await shown()).toContainEqual(expect.objectContaining({ name: 'race', digest: digestOf(second) }))
    const rests = async () => (await call(app, tagBin.list, { token: owner.token, params: bin, query: { keyword: 'race' } })).items
    const [overtaken] = await rests()
    expect(overtaken).toMatchObject({ digest: digestOf(first) })
    const { used_bytes } = await call(app, repositories.get, { token: owner.token, params: { ...bin, name: 'app' } })
    expect(used_bytes).toBeGreaterThan(6_000 + 6_100)

    there.state.takes = true
    await call(app, repositories.deleteTag, { token: owner.token, params: { ...bin, name: 'app', tag: 'race' } })
    there.tags.set('race', third)
    const params = { ...bin, bin_id: overtaken?.id ?? '' }
    expect(await refused(app, tagBin.restore, { token: owner.token, params })).toMatchObject({ code: 97014 })
    expect(there.tags.get('race')).toBe(third)
    there.state.takes = false
  })

  it('is told of more while it looks at what takes long', async () => {
    let release = () => {}
    there.tags.set('slow', image(6_000))
    there.holds.set('slow', new Promise((resolve) => (release = resolve)))
    await tell('slow')
    expect((await shown()).map(({ name }) => name)).not.toContain('slow')
    release()
    await vi.waitFor(async () => expect((await shown()).map(({ name }) => name)).toContain('slow'))
  })

  it('does not delete what somebody has pushed under the name since, and nobody has told of yet', async () => {
    const bin = { id: registry.id, pid: project.id }
    const params = { ...bin, name: 'app', tag: 'unheard' }
    there.tags.set('unheard', image(8_000))
    await tell('unheard')
    there.tags.set('unheard', image(8_100))
    expect(await refused(app, repositories.deleteTag, { token: owner.token, params })).toMatchObject({ code: 90012 })
    expect(there.tags.get('unheard')).toBe(image(8_100))
  })

  it('says in Chinese why a registry could not be compared with it, until it could', async () => {
    const error = async () => {
      const shown = await call(app, registries.get, { token: admin.token, params: { id: registry.id } })
      return 'reconcile_error' in shown ? shown.reconcile_error : undefined
    }
    there.state.broken = true
    await refused(app, registries.action, { token: admin.token, params: { id: registry.id }, query: { action: 'reconcile' } })
    expect(await error()).toBe('无法连接镜像仓库：对方返回HTTP 503')
    there.state.broken = false
    await reconcile()
    expect(await error()).toBeNull()
  })

  it('tells billing what a project takes up, by the hour', async () => {
    const category = await call(app, categories.create, { token: admin.token, body: { name: 'images' } })
    const product = await call(app, products.create, { token: admin.token, body: { name: 'registries', category_id: category.id } })
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: 'room', meter: 'registry.size' } })
    await call(app, skus.setPrice, { token: admin.token, params: { id: sku.id }, body: { period: 'hour', tiers: [{ above: 0, price: '0.5' }] } })
    there.tags.clear()
    there.tags.set('large', image(4 * 2 ** 30 - image(0).length - config.length))
    await reconcile()
    await vi.waitFor(async () => expect(await shown()).toMatchObject([{ name: 'large' }]))
    const { used_bytes } = await call(app, repositories.get, { token: owner.token, params: { id: registry.id, pid: project.id, name: 'app' } })
    const { db, now } = app.platform
    // Two whole hours lie between, whatever minute of an hour it is: the last few wait for what is late.
    const later = new Date(now().getTime() + 4 * hour)
    await rateUsage(db, later)
    const lines = await db
      .selectFrom('usage_lines')
      .select(['amount', 'seconds'])
      .where('resource_id', '=', project.id)
      .where('voided_at', 'is', null)
      .execute()
    const whole = lines.filter(({ seconds }) => seconds === 3_600)
    expect(whole.length).toBeGreaterThanOrEqual(2)
    // Yuan of a whole hour, in the ledger's unit of 10⁻⁸.
    for (const { amount } of whole) expect(Number(amount) / 1e8).toBeCloseTo((used_bytes / 2 ** 30) * 0.5, 6)
    expect(used_bytes / 2 ** 30).toBeCloseTo(4, 3)
    const month = new Date(now().getTime() + 8 * hour).toISOString().slice(0, 7)
    expect((await call(app, consumes.resources, { token: owner.token, query: { month, keyword: 'team' } })).items).toMatchObject([
      { id: project.id, name: 'team' },
    ])
  })
})
