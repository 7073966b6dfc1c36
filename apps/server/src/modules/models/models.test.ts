import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  commit as commitTo,
  createRepo,
  deleteFiles,
  downloadFile,
  fileDownloadInfo,
  listFiles,
  modelInfo,
  snapshotDownload,
  uploadFiles,
} from '@huggingface/hub'
import { fileTransfers } from '@zhisuan/contract/files/file'
import { modelFiles, modelRevisions, models, type Model } from '@zhisuan/contract/models/model'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { auth } from '@zhisuan/contract/ums/auth'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { accessKeys } from '@zhisuan/contract/ums/access-key'
import { anyPort } from '@zhisuan/engines/registry/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { allow, deny, keeping, policyOf } from '../../testing/policies.ts'
import { signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'
import { offsetOf, sendPiece, sha256Of } from '../../testing/uploads.ts'

let app: TestApp
let url: string
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn

beforeAll(async () => {
  const port = await anyPort()
  url = `http://127.0.0.1:${port}`
  app = await testApp({ PUBLIC_URL: url })
  await app.http.listen({ port, host: '127.0.0.1' })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
})
afterAll(() => app.close())

let made = 0
const create = (who: SignedIn, about: { terms?: string; parameters?: number } = {}): Promise<Model> =>
  call(app, models.create, {
    token: who.token,
    body: {
      namespace: `ns-${who.token.slice(-6).replaceAll(/[^a-z0-9]/gi, 'x')}`,
      name: `m${++made}`,
      title: '一个模型',
      task: 'text-generation',
      languages: ['zh'],
      ...about,
    },
  })
/** An upload that has come. */
const stage = async (who: SignedIn, { id }: Model, content: Buffer): Promise<string> => {
  const upload = await call(app, modelFiles.upload, { token: who.token, params: { id }, body: { size_bytes: content.length, sha256: sha256Of(content) } })
  expect(await offsetOf(url, who.token, upload)).toBe(0)
  expect((await sendPiece(url, who.token, upload, 0, new Uint8Array(content))).status).toBe(204)
  await vi.waitFor(
    async () => expect(await call(app, modelFiles.staged, { token: who.token, params: { id, upload_id: upload.id } })).toMatchObject({ status: 'done' }),
    10_000,
  )
  return upload.id
}
const commit = async (who: SignedIn, model: Model, files: Readonly<Record<string, Buffer>>, remove: string[] = [], parent?: string) => {
  const add = []
  for (const [path, content] of Object.entries(files)) add.push({ path, upload_id: await stage(who, model, content) })
  return call(app, modelRevisions.create, {
    token: who.token,
    params: { id: model.id },
    body: { message: 'files', add, remove, ...(parent !== undefined && { parent }) },
  })
}
/** What administrators have before them. */
const looked = async ({ id }: Pick<Model, 'id'>): Promise<{ revision: string; updated_at: string }> => {
  const { revision, updated_at } = await call(app, models.get, { token: admin.token, params: { id } })
  return { revision: revision ?? '', updated_at }
}
const publish = async (model: Model): Promise<void> => {
  await call(app, models.submit, { token: owner.token, params: { id: model.id } })
  await call(app, models.review, { token: admin.token, params: { id: model.id }, body: { accept: true, ...(await looked(model)) } })
}
const used = async (bpId: string | null): Promise<number> =>
  Number((await app.platform.db.selectFrom('byte_accounts').select('used_bytes').where('bp_id', '=', bpId).executeTakeFirst())?.used_bytes ?? 0)

describe('a model', () => {
  it('is made, filled by commits that never change, and published after a review', async () => {
    const model = await create(owner)
    expect(model).toMatchObject({ status: 'draft', revision: null, mine: true, file_count: 0 })
    expect(await refused(app, models.submit, { token: owner.token, params: { id: model.id } })).toMatchObject({ code: 97803 })
    for (const token of [stranger.token, undefined]) expect(await refused(app, models.get, { token, params: { id: model.id } })).toMatchObject({ status: 404 })
    const weights = randomBytes(100_000)
    const first = await commit(owner, model, { 'README.md': Buffer.from('---\nlicense: mit\n---\n# 说明\n'), 'weights/model.safetensors': weights })
    expect(first).toMatchObject({ number: 1, file_count: 2 })
    const second = await commit(owner, model, { 'config.json': Buffer.from('{}') }, ['README.md'], first.id)
    const paths = async (revision: string) =>
      (await call(app, modelFiles.list, { token: owner.token, params: { id: model.id }, query: { revision } })).items.map(({ path }) => path)
    expect([await paths(first.id), await paths('main')]).toEqual([
      ['README.md', 'weights/model.safetensors'],
      ['config.json', 'weights/model.safetensors'],
    ])
    expect(
      await refused(app, modelRevisions.create, {
        token: owner.token,
        params: { id: model.id },
        body: { message: 'x', parent: first.id, remove: ['config.json'] },
      }),
    ).toMatchObject({ code: 97805 })
    expect(await refused(app, modelRevisions.create, { token: owner.token, params: { id: model.id }, body: { message: 'x', remove: ['none'] } })).toMatchObject(
      { code: 97808 },
    )
    expect(second.number).toBe(2)
    await call(app, models.submit, { token: owner.token, params: { id: model.id } })
    const review = { params: { id: model.id }, body: { accept: true as const, ...(await looked(model)) } }
    expect(review.body.revision).toBe(second.id)
    expect(await refused(app, models.review, { token: owner.token, ...review })).toMatchObject({ status: 403 })
    await call(app, models.review, { token: admin.token, ...review, body: { ...review.body, accept: false, reason: '请补充说明' } })
    expect(await call(app, models.get, { token: owner.token, params: { id: model.id } })).toMatchObject({ status: 'rejected', rejected_reason: '请补充说明' })
    await commit(owner, model, { 'README.md': Buffer.from('# 说明') })
    await publish(model)
    expect(await call(app, models.get, { params: { id: model.id } })).toMatchObject({ status: 'published', card: '# 说明', mine: false, rejected_reason: null })
    expect((await call(app, models.list, { query: { task: 'text-generation' } })).items.map(({ id }) => id)).toContain(model.id)
    expect((await call(app, models.facets, { query: {} })).items).toContainEqual({ facet: 'task', value: 'text-generation', count: 1 })
    for (const refusedCall of [models.update, models.delete, models.withdraw])
      expect(await refused(app, refusedCall, { token: stranger.token, params: { id: model.id }, body: { title: 'x' } })).toMatchObject({ status: 403 })
    // What is said of it where its link is shown: only while everybody may see it.
    const head = async () => Promise.all(app.platform.modules().map((module) => module.headOf?.(`/warehouse/${model.id}`)))
    expect(await head()).toContainEqual({ title: '一个模型 - 智算云', description: model.repository, site: '智算云' })
    await call(app, models.withdraw, { token: owner.token, params: { id: model.id } })
    expect((await head()).filter((one) => one != null)).toEqual([])
    expect(await refused(app, models.get, { token: stranger.token, params: { id: model.id } })).toMatchObject({ status: 404 })
  })

  it('is to visitors what was accepted, by calls and by the hub, until the next revision is', async () => {
    const model = await create(owner)
    const params = { id: model.id }
    const unseen = await commit(owner, model, { 'README.md': Buffer.from('# 草稿'), 'a.bin': Buffer.from('draft') })
    const first = await commit(owner, model, { 'README.md': Buffer.from('# 第一版'), 'a.bin': Buffer.from('one') })
    await publish(model)
    const second = await commit(owner, model, { 'README.md': Buffer.from('# 第二版'), 'a.bin': Buffer.from('two'), 'b.bin': Buffer.from('b') })
    const visible = async () => ({
      ...(await call(app, models.get, { token: stranger.token, params })),
      main: (await call(app, modelFiles.list, { params, query: {} })).revision,
      commits: (await call(app, modelRevisions.list, { params, query: {} })).items.map(({ id }) => id),
      listed: (await call(app, models.list, { query: { keyword: model.name } })).items.find(({ id }) => id === model.id)?.revision,
      sha: ((await (await fetch(`${url}/hub/api/models/${model.repository}`)).json()) as { sha: string }).sha,
      bytes: await (await fetch(`${url}/hub/${model.repository}/resolve/main/a.bin`)).text(),
    })
    const accepted = { status: 'published', card: '# 第一版', file_count: 2, revision: first.id, main: first.id, listed: first.id, sha: first.id, bytes: 'one' }
    expect(await visible()).toMatchObject({ ...accepted, commits: [first.id] })
    for (const { id } of [unseen, second]) {
      expect(await refused(app, modelFiles.list, { params, query: { revision: id } })).toMatchObject({ status: 404 })
      expect(await refused(app, modelFiles.download, { params, body: { path: 'a.bin', revision: id } })).toMatchObject({ status: 404 })
      expect((await fetch(`${url}/hub/${model.repository}/resolve/${id}/a.bin`)).status).toBe(404)
    }
    const inside = await call(app, models.get, { token: owner.token, params })
    expect(inside).toMatchObject({ status: 'draft', card: '# 第二版', file_count: 3, revision: second.id, published_revision: first.id })
    // What came after the administrator looked is not accepted with it.
    await call(app, models.submit, { token: owner.token, params })
    expect(await visible()).toMatchObject(accepted)
    const third = await commit(owner, model, { 'a.bin': Buffer.from('three') })
    const before = { ...(await looked(model)), revision: second.id }
    for (const body of [
      { accept: true as const, ...before },
      { accept: false as const, ...before, reason: 'x' },
    ])
      expect(await refused(app, models.review, { token: admin.token, params, body })).toMatchObject({ status: 409, code: 97815 })
    expect(await visible()).toMatchObject(accepted)
    await publish(model)
    expect(await visible()).toMatchObject({ card: '# 第二版', file_count: 3, main: third.id, sha: third.id, bytes: 'three', commits: [third.id, first.id] })
    // Taken back, nothing of it is there; also not by a later acceptance.
    await commit(owner, model, { 'a.bin': Buffer.from('four') })
    await call(app, models.withdraw, { token: owner.token, params })
    expect(await refused(app, models.get, { params })).toMatchObject({ status: 404 })
    await publish(model)
    expect((await visible()).commits).toHaveLength(1)
  })

  it('is said of to visitors what was accepted: its title, facets and terms change with the next review', async () => {
    const model = await create(owner, { terms: '仅用于研究' })
    const params = { id: model.id }
    await commit(owner, model, { 'a.bin': Buffer.from('one') })
    await publish(model)
    await call(app, models.accept, { token: stranger.token, params, body: { terms: '仅用于研究' } })
    const about = { title: '改过的标题', summary: '新的介绍', task: 'translation' as const, terms: '不得商用' }
    await call(app, models.update, { token: owner.token, params, body: about })
    const visible = async () => {
      const { title, summary, task, terms, accepted, status, about_unreviewed } = await call(app, models.get, { token: stranger.token, params })
      return { title, summary, task, terms, accepted, status, about_unreviewed }
    }
    const before = {
      title: model.title,
      summary: '',
      task: 'text-generation',
      terms: '仅用于研究',
      accepted: true,
      status: 'published',
      about_unreviewed: false,
    }
    expect(await visible()).toEqual(before)
    const found = async (keyword: string, mine: boolean) =>
      (await call(app, models.list, { token: owner.token, query: { keyword, ...(mine && { mine: 'true' }) } })).items.map(({ title }) => title)
    expect([await found('改过的标题', false), await found('改过的标题', true)]).toEqual([[], ['改过的标题']])
    expect(await call(app, models.get, { token: owner.token, params })).toMatchObject({ ...about, status: 'draft', about_unreviewed: true })
    // Said otherwise while an administrator looks: they do not accept what they have not read.
    await call(app, models.submit, { token: owner.token, params })
    const read = await looked(model)
    await call(app, models.update, { token: owner.token, params, body: { ...about, terms: '随意使用' } })
    await call(app, models.submit, { token: owner.token, params })
    expect(await refused(app, models.review, { token: admin.token, params, body: { accept: true, ...read } })).toMatchObject({ status: 409, code: 97815 })
    expect(await visible()).toEqual(before)
    await call(app, models.review, { token: admin.token, params, body: { accept: true, ...(await looked(model)) } })
    expect(await visible()).toEqual({ ...before, ...about, terms: '随意使用', accepted: false })
    // Whoever has the old terms before them does not accept the new ones; what they accepted stays recorded as it was.
    expect(await refused(app, models.accept, { token: stranger.token, params, body: { terms: '仅用于研究' } })).toMatchObject({ status: 409, code: 97816 })
    await call(app, models.accept, { token: stranger.token, params, body: { terms: '随意使用' } })
    const recorded = await app.platform.db.selectFrom('model_acceptances').select(['user_id', 'terms']).where('model_id', '=', model.id).execute()
    expect(recorded).toEqual([
      { user_id: stranger.id, terms: '仅用于研究' },
      { user_id: stranger.id, terms: '随意使用' },
    ])
    // Set back to what was accepted it is published as before; taken back it is what was said last.
    await call(app, models.update, { token: owner.token, params, body: { ...about, title: '第三个', terms: '随意使用' } })
    const { status } = await call(app, models.update, { token: owner.token, params, body: { ...about, terms: '随意使用' } })
    expect(status).toBe('published')
    await call(app, models.update, { token: owner.token, params, body: { ...about, title: '第四个', terms: null } })
    expect(await call(app, models.withdraw, { token: owner.token, params })).toMatchObject({ title: '第四个', gated: false, about_unreviewed: false })
  })

  it('counts each content once, and no more when it is gone', async () => {
    const before = await used(owner.bp_id)
    const model = await create(owner)
    const bytes = randomBytes(5_000)
    await commit(owner, model, { 'a.bin': bytes })
    await commit(owner, model, { 'b.bin': bytes })
    expect(await used(owner.bp_id)).toBe(before + 5_000)
    await call(app, models.delete, { token: owner.token, params: { id: model.id } })
    expect(await used(owner.bp_id)).toBe(before)
  })

  it('lists what was left on its way, which goes on, is given up, or ends with the model', async () => {
    const model = await create(owner)
    const before = await used(owner.bp_id)
    const { token } = owner
    const params = { id: model.id }
    const announce = (path: string, size_bytes: number) => call(app, modelFiles.upload, { token, params, body: { path, size_bytes } })
    const [going, dropped] = [await announce('a/going.bin', 100), await announce('dropped.bin', 50)]
    await sendPiece(url, token, going, 0, new Uint8Array(40))
    const come = await stage(owner, model, Buffer.from('come'))
    const left = async () =>
      (await call(app, modelFiles.unfinished, { token, params })).items.map(({ path, status, offset_bytes }) => [path, status, offset_bytes])
    expect(await left()).toEqual([
      ['a/going.bin', 'uploading', 40],
      ['dropped.bin', 'uploading', 0],
      [null, 'done', 4],
    ])
    expect((await used(owner.bp_id)) - before).toBe(154)
    expect((Date.parse(going.expires_at) - app.clock.now().getTime()) / 86_400_000).toBeCloseTo(7, 1)
    expect(await refused(app, modelFiles.unfinished, { token: stranger.token, params })).toMatchObject({ status: 404 })
    const at = (upload_id: string) => ({ token, params: { id: model.id, upload_id } })
    expect(await refused(app, modelFiles.discard, { ...at(dropped.id), token: stranger.token })).toMatchObject({ status: 404 })
    await call(app, modelFiles.discard, at(dropped.id))
    await call(app, modelFiles.discard, at(come))
    expect((await used(owner.bp_id)) - before).toBe(100)
    expect((await sendPiece(url, token, going, 40, new Uint8Array(60))).status).toBe(204)
    await vi.waitFor(async () => expect(await left()).toEqual([['a/going.bin', 'done', 100]]))
    await announce('late.bin', 70)
    await call(app, models.delete, { token, params })
    expect((await used(owner.bp_id)) - before).toBe(0)
    expect(
      await app.platform.db
        .selectFrom('byte_uploads')
        .select('id')
        .where('wish', '@>', sql<unknown>`${JSON.stringify({ model_id: model.id })}::jsonb`)
        .where('status', '=', 'uploading')
        .execute(),
    ).toEqual([])
    const { items } = await call(app, fileTransfers.list, { token: admin.token, query: { keyword: model.repository, page_size: 100 } })
    expect(items.map(({ name, kind, outcome, bytes, space_kind }) => [name, kind, outcome, bytes, space_kind]).toSorted()).toEqual([
      [model.repository, 'upload', 'done', 4, 'model'],
      [`${model.repository}/a/going.bin`, 'upload', 'done', 100, 'model'],
      [`${model.repository}/dropped.bin`, 'upload', 'cancelled', 0, 'model'],
      [`${model.repository}/late.bin`, 'upload', 'cancelled', 0, 'model'],
    ])
  })

  it('has a name that is nobody else’s, and paths that lie nowhere else', async () => {
    const model = await create(owner)
    expect(
      await refused(app, models.create, { token: owner.token, body: { namespace: model.namespace.toUpperCase(), name: model.name, title: 'x' } }),
    ).toMatchObject({ code: 97801 })
    expect(await refused(app, models.create, { token: stranger.token, body: { namespace: model.namespace, name: 'mine', title: 'x' } })).toMatchObject({
      code: 97802,
    })
    const add = async (path: string) =>
      refused(app, modelRevisions.create, { token: owner.token, params: { id: model.id }, body: { message: 'x', add: [{ path, upload_id: model.id }] } })
    for (const path of ['../x', '/x', 'a//b', 'a/../b', 'a\\b', '']) expect(await add(path)).toMatchObject({ code: 90001 })
    expect(await add('fine')).toMatchObject({ code: 97806 })
    await commit(owner, model, { dir: Buffer.from('x') })
    const upload_id = await stage(owner, model, Buffer.from('y'))
    expect(
      await refused(app, modelRevisions.create, {
        token: owner.token,
        params: { id: model.id },
        body: { message: 'x', add: [{ path: 'dir/file', upload_id }] },
      }),
    ).toMatchObject({ code: 97807 })
    // Of two of one path one would be nowhere, and count for nobody.
    const twice = [upload_id, await stage(owner, model, Buffer.from('z'))].map((id) => ({ path: 'same', upload_id: id }))
    expect(await refused(app, modelRevisions.create, { token: owner.token, params: { id: model.id }, body: { message: 'x', add: twice } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'add', message: '路径不能重复' }],
    })
    // Two at once: one of them is the later one.
    const both = await Promise.allSettled([commit(owner, model, { one: Buffer.from('1') }), commit(owner, model, { two: Buffer.from('2') })])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect((await call(app, modelFiles.list, { token: owner.token, params: { id: model.id }, query: {} })).items.map(({ path }) => path)).toEqual([
      'dir',
      'one',
      'two',
    ])
  })
})

describe('a model of a project', () => {
  it('is made and read by who works there, as the project’s files are, and by everybody once it is published', async () => {
    const head = await someone(app)
    const project = await call(app, keptProjects.create, { token: head.token, body: { key: 'vision', name: '视觉', bp_id: head.bp_id } })
    const [member, other] = [await someone(app, { kind: 4, organisation: head.bp_id }), await someone(app, { kind: 4, organisation: head.bp_id })]
    await call(app, keptProjects.addMember, { token: head.token, params: { id: project.id }, body: { user_id: member.id } })
    const body = { namespace: 'vision', name: 'm', title: 'm', project_id: project.id }
    expect(await refused(app, models.create, { token: other.token, body })).toMatchObject({ code: 94031 })
    const model = await call(app, models.create, { token: member.token, body })
    await commit(member, model, { 'a.bin': Buffer.from('a') })
    const params = { id: model.id }
    expect(await call(app, models.get, { token: head.token, params })).toMatchObject({ mine: true })
    expect((await call(app, models.list, { token: member.token, query: { mine: 'true' } })).items).toMatchObject([{ id: model.id }])
    expect((await call(app, models.list, { token: other.token, query: { mine: 'true' } })).items).toEqual([])
    expect(await refused(app, models.get, { token: other.token, params })).toMatchObject({ status: 404 })
    expect(await refused(app, modelFiles.upload, { token: other.token, params, body: { size_bytes: 1 } })).toMatchObject({ status: 404 })
    expect(await refused(app, models.delete, { token: other.token, params })).toMatchObject({ status: 404 })
    await call(app, models.submit, { token: member.token, params })
    await call(app, models.review, { token: admin.token, params, body: { accept: true, ...(await looked(model)) } })
    expect(await call(app, models.get, { token: other.token, params })).toMatchObject({ mine: false })
    expect(await refused(app, modelFiles.upload, { token: other.token, params, body: { size_bytes: 1 } })).toMatchObject({ status: 403 })
    await call(app, keptProjects.removeMember, { token: head.token, params: { id: project.id, user_id: member.id } })
    expect(await call(app, models.get, { token: member.token, params })).toMatchObject({ mine: false })
  })
})

describe('a link to a file of a model', () => {
  it('leads there as long as whoever asked for it may have it', async () => {
    const model = await create(owner)
    await commit(owner, model, { 'a.bin': Buffer.from('a') })
    const params = { id: model.id }
    const linkOf = async (who: SignedIn | null) =>
      (await call(app, modelFiles.download, { ...(who !== null && { token: who.token }), params, body: { path: 'a.bin' } })).path
    const follow = async (path: string) => (await fetch(`${url}${path}`)).status
    const [mine, visitor] = [await someone(app, { kind: 4, organisation: owner.bp_id }), await someone(app)]
    const inside = await linkOf(mine)
    expect(await follow(inside)).toBe(200)
    await publish(model)
    const outside = [await linkOf(visitor), await linkOf(null)]
    for (const path of outside) expect(await follow(path)).toBe(200)
    await keeping(app).give(owner, await keeping(app).makePolicy(owner, [deny('models.file.download', { Resource: `zrn:models:*:*/${model.id}` })]), {
      user_id: mine.id,
    })
    // Published it is everybody's: it is not any more once it is taken back.
    await call(app, models.withdraw, { token: owner.token, params })
    expect([await follow(inside), ...(await Promise.all(outside.map(follow)))]).toEqual([403, 404, 404])
    const own = await linkOf(owner)
    expect(await follow(own)).toBe(200)
    const again = await signIn(app, owner)
    const signedOut = await linkOf(again)
    await call(app, auth.logout, { token: again.token })
    expect(await follow(signedOut)).toBe(404)
  })
})

describe('policies', () => {
  const on = ({ id }: Model) => ({ Resource: `zrn:models:*:*/${id}` })
  const hub = (path: string, token: string, init: RequestInit = {}) =>
    fetch(`${url}/hub/${path}`, { ...init, headers: { authorization: `Bearer hf_${token}`, ...init.headers } }).then(({ status }) => status)
  const keyOf = async (who: Person & SignedIn, ...statements: Parameters<typeof policyOf>) =>
    (
      await call(app, accessKeys.create, {
        token: who.token,
        body: { name: `k${++made}`, scheme: 'bearer', password: who.password, ...(statements.length > 0 && { document: policyOf(...statements) }) },
      })
    ).secret
  const member = () => someone(app, { kind: 4, organisation: owner.bp_id })
  const line = (value: unknown) => JSON.stringify(value)
  const commitLines = (path: string) => [line({ key: 'header', value: { summary: 'x' } }), line({ key: 'file', value: { path, content: path } })].join('\n')
  const ndjson = (path: string) => ({ method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: commitLines(path) })

  it('say who of an organisation reads and fills a model that is not published, by calls and by the hub alike', async () => {
    const [closed, open] = [await create(owner), await create(owner)]
    for (const model of [closed, open]) await commit(owner, model, { 'a.bin': Buffer.from('a') })
    const who = await member()
    await keeping(app).give(owner, await keeping(app).makePolicy(owner, [deny('models.*', on(closed))]), { user_id: who.id })
    const secret = await keyOf(who)
    const reads = ({ id }: Model, token: string) => [
      () => refused(app, models.get, { token, params: { id } }),
      () => refused(app, modelFiles.list, { token, params: { id }, query: {} }),
      () => refused(app, modelRevisions.list, { token, params: { id }, query: {} }),
      () => refused(app, modelFiles.download, { token, params: { id }, body: { path: 'a.bin' } }),
    ]
    for (const read of reads(closed, who.token)) expect(await read()).toMatchObject({ code: 3000, refused: { outcome: 'explicitDeny' } })
    const hubReads = ({ repository }: Model) => [`api/models/${repository}`, `api/models/${repository}/tree/main`, `${repository}/resolve/main/a.bin`]
    for (const path of hubReads(closed)) expect(await hub(path, secret), path).toBe(403)
    for (const path of hubReads(open)) expect(await hub(path, secret), path).toBe(200)
    expect(await hub(`api/models/${closed.repository}/commit/main`, secret, ndjson('b'))).toBe(403)
    expect(await hub(`api/models/${open.repository}/commit/main`, secret, ndjson('b'))).toBe(200)
    // What is published is there for everybody.
    await publish(closed)
    for (const path of hubReads(closed)) expect(await hub(path, secret), path).toBe(200)
    expect(await call(app, models.get, { token: who.token, params: { id: closed.id } })).toMatchObject({ status: 'published', mine: false })
    expect(await hub(`api/models/${closed.repository}/commit/main`, secret, ndjson('c'))).toBe(403)
  })

  it('let an access key do no more than its document says: to look is not to download, and of one is not of all', async () => {
    const [one, other] = [await create(owner), await create(owner)]
    for (const model of [one, other]) await commit(owner, model, { 'a.bin': Buffer.from('a') })
    const looking = await keyOf(owner, allow(['models.model.get', 'models.file.list'], on(one)))
    expect(await hub(`api/models/${one.repository}`, looking)).toBe(200)
    expect(await hub(`${one.repository}/resolve/main/a.bin`, looking)).toBe(403)
    expect(await hub(`api/models/${other.repository}`, looking)).toBe(403)
    expect(await refused(app, models.list, { token: looking, query: { mine: 'true' } })).toMatchObject({ code: 3000 })
    expect(await call(app, models.list, { token: looking, query: {} })).toMatchObject({ items: expect.any(Array) })
    const filling = await keyOf(owner, allow(['models.file.upload', 'models.revision.create'], on(one)))
    expect(await hub(`api/models/${one.repository}/commit/main`, filling, ndjson('b'))).toBe(200)
    expect(await hub(`api/models/${other.repository}/commit/main`, filling, ndjson('b'))).toBe(403)
    expect(await hub(`${one.repository}/resolve/main/a.bin`, filling)).toBe(403)
  })
})

describe('the door of the hub', () => {
  const hubUrl = () => `${url}/hub`
  /** An access key, as tools that know one hub want it. */
  const tokenOf = async (who: SignedIn & Person) =>
    `hf_${(await call(app, accessKeys.create, { token: who.token, body: { name: `hub-${++made}`, scheme: 'bearer', password: who.password } })).secret}`

  it('lets @huggingface/hub list, look and download, in parts too', async () => {
    const model = await create(owner)
    const weights = randomBytes(300_000)
    const revision = await commit(owner, model, { 'config.json': Buffer.from('{"a":1}'), 'weights/one.safetensors': weights })
    const repo = model.repository
    await expect(modelInfo({ name: repo, hubUrl: hubUrl() })).rejects.toThrow()
    const accessToken = await tokenOf(owner)
    expect(await modelInfo({ name: repo, hubUrl: hubUrl(), accessToken, additionalFields: ['sha'] })).toMatchObject({
      name: repo,
      private: true,
      sha: revision.id,
    })
    await publish(model)
    const listed = []
    for await (const file of listFiles({ repo, hubUrl: hubUrl(), recursive: true })) listed.push([file.type, file.path, file.size])
    expect(listed).toEqual([
      ['directory', 'weights', 0],
      ['file', 'config.json', 7],
      ['file', 'weights/one.safetensors', 300_000],
    ])
    const path = 'weights/one.safetensors'
    expect(await fileDownloadInfo({ repo, path, hubUrl: hubUrl() })).toMatchObject({ size: 300_000, etag: `"${sha256Of(weights)}"` })
    const blob = await downloadFile({ repo, path, hubUrl: hubUrl() })
    expect(Buffer.from((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(weights)
    expect(Buffer.from((await blob?.slice(10, 20).arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(weights.subarray(10, 20))
    expect(await downloadFile({ repo, path: 'none', hubUrl: hubUrl() })).toBeNull()
    expect(await fileDownloadInfo({ repo, path: 'config.json', revision: revision.id, hubUrl: hubUrl() })).toMatchObject({ size: 7 })
  })

  it('asks for terms to be accepted first, by name', async () => {
    const model = await create(owner, { terms: '仅用于研究' })
    await commit(owner, model, { 'config.json': Buffer.from('{}') })
    await publish(model)
    const accessToken = await tokenOf(stranger)
    const ask = (token?: string) =>
      fileDownloadInfo({ repo: model.repository, path: 'config.json', hubUrl: hubUrl(), ...(token !== undefined && { accessToken: token }) })
    await expect(ask()).rejects.toThrow()
    await expect(ask(accessToken)).rejects.toThrow()
    expect(await refused(app, modelFiles.download, { params: { id: model.id }, body: { path: 'config.json' } })).toMatchObject({ code: 97804 })
    await call(app, models.accept, { token: stranger.token, params: { id: model.id }, body: { terms: '仅用于研究' } })
    expect(await ask(accessToken)).toMatchObject({ size: 2 })
    // Other terms have to be accepted anew, once they are those of the model.
    await call(app, models.update, { token: owner.token, params: { id: model.id }, body: { title: 'x', terms: '不得商用' } })
    expect(await ask(accessToken)).toMatchObject({ size: 2 })
    await publish(model)
    await expect(ask(accessToken)).rejects.toThrow()
  })

  /** What somebody who resumes asks for: from there on, if it still is what it was. */
  const from = (repo: string, path: string, start: number, tag: string): Promise<Response> =>
    fetch(`${hubUrl()}/${repo}/resolve/main/${path}`, { headers: { range: `bytes=${start}-`, 'if-range': tag } })

  it('lets @huggingface/hub make a model and upload by commit, and resumes what is downloaded', async () => {
    const accessToken = await tokenOf(owner)
    const repo = `ns-${owner.token.slice(-6).replaceAll(/[^a-z0-9]/gi, 'x')}/by-hub`
    const to = { repo, hubUrl: hubUrl(), accessToken }
    await createRepo({ ...to, license: 'mit' })
    await expect(createRepo(to)).rejects.toMatchObject({ statusCode: 409 })
    const weights = randomBytes(3_000_000)
    const counted = await used(owner.bp_id)
    const made = await uploadFiles({
      ...to,
      commitTitle: '第一次提交',
      files: [
        { path: 'README.md', content: new Blob(['---\nlicense: mit\n---\n# 说明']) },
        { path: 'empty.txt', content: new Blob([]) },
        { path: 'weights/model.safetensors', content: new Blob([weights]) },
      ],
    })
    const oid = made?.commit.oid ?? ''
    const kept = (await used(owner.bp_id)) - counted
    expect(kept).toBe(3_000_000 + Buffer.byteLength('---\nlicense: mit\n---\n# 说明'))
    const { items } = await call(app, models.list, { token: owner.token, query: { mine: 'true', keyword: 'by-hub' } })
    const [model] = items
    expect(model).toMatchObject({ repository: repo, licence: 'mit', revision: oid, file_count: 3, status: 'draft' })
    expect(await call(app, models.get, { token: owner.token, params: { id: model?.id ?? '' } })).toMatchObject({ card: '# 说明' })
    // Who made the commit is in the audit log, as of any other.
    expect(
      await app.platform.db
        .selectFrom('audit_log')
        .select(['actor_name', 'code'])
        .where('call', '=', 'models.revision.create')
        .where('object_id', '=', model?.id ?? '')
        .execute(),
    ).toEqual([{ actor_name: owner.name, code: 0 }])
    // The same bytes under another name are not sent again.
    const put = vi.fn(fetch)
    await uploadFiles({ ...to, fetch: put, commitTitle: 'same', files: [{ path: 'copy.safetensors', content: new Blob([weights]) }] })
    expect(put.mock.calls.filter(([, init]) => init?.method === 'PUT')).toEqual([])
    await deleteFiles({ ...to, paths: ['empty.txt', 'copy.safetensors'] })
    expect((await used(owner.bp_id)) - counted).toBe(kept)
    if (model !== undefined) await publish(model)
    const { etag, size } = (await fileDownloadInfo({ repo, path: 'weights/model.safetensors', hubUrl: hubUrl() })) ?? { etag: '', size: 0 }
    const rest = await from(repo, 'weights/model.safetensors', 1_000_000, etag)
    expect([size, rest.status, Buffer.from(await rest.arrayBuffer()).equals(weights.subarray(1_000_000))]).toEqual([3_000_000, 206, true])
    // Another file by now: it comes whole.
    expect((await from(repo, 'weights/model.safetensors', 1_000_000, `"${'0'.repeat(64)}"`)).status).toBe(200)
  })

  it('lets @huggingface/hub go on with a download that was cut: a file by a slice of it, a model by its cache', async () => {
    const model = await create(owner)
    const [first, second] = [randomBytes(200_000), randomBytes(3_000_000)]
    await commit(owner, model, { 'a.bin': first, 'b.safetensors': second })
    await publish(model)
    const asked: string[] = []
    /** Cuts the first answer with bytes of a file after so many; says which were asked for. */
    const cutting = (path: string, after: number): typeof fetch => {
      let cuts = 1
      return async (input, init) => {
        const response = await fetch(input, init)
        const { pathname } = new URL(input instanceof Request ? input.url : input)
        const range = new Headers(init?.headers).get('range')
        // The library learns what a file is by its first byte.
        if (!pathname.includes('/resolve/') || range === 'bytes=0-0') return response
        asked.push(`${pathname.split('/').at(-1)} ${range}`)
        if (!pathname.endsWith(path) || cuts-- <= 0) return response
        let left = after
        const cut = new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, to) {
            if (left > 0) to.enqueue(chunk.subarray(0, left))
            left -= chunk.length
            if (left <= 0) to.error(new Error('the line was cut'))
          },
        })
        return new Response(response.body?.pipeThrough(cut), { status: response.status, headers: response.headers })
      }
    }
    const of = { repo: model.repository, hubUrl: hubUrl() }

    const blob = (await downloadFile({ ...of, path: 'b.safetensors', fetch: cutting('b.safetensors', 1_000_000) })) ?? expect.fail('it is there')
    const parts: Uint8Array[] = []
    const reading = async (from: Blob): Promise<void> => {
      const reader = from.stream().getReader()
      for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value)
    }
    await expect(reading(blob)).rejects.toThrow('cut')
    const got = Buffer.concat(parts).length
    expect([got > 0, got < second.length]).toEqual([true, true])
    await reading(blob.slice(got))
    expect(sha256Of(Buffer.concat(parts))).toBe(sha256Of(second))
    expect(asked.at(-1)).toBe(`b.safetensors bytes=${got}-${second.length - 1}`)

    const cacheDir = mkdtempSync(join(tmpdir(), 'hub-cache-'))
    try {
      const fetching = cutting('b.safetensors', 500_000)
      await expect(snapshotDownload({ ...of, cacheDir, fetch: fetching })).rejects.toThrow('cut')
      asked.length = 0
      const folder = await snapshotDownload({ ...of, cacheDir, fetch: fetching })
      // What has come is not asked for again.
      expect(asked.filter((one) => one.startsWith('a.bin'))).toEqual([])
      expect([readFileSync(join(folder, 'a.bin')).equals(first), readFileSync(join(folder, 'b.safetensors')).equals(second)]).toEqual([true, true])
    } finally {
      rmSync(cacheDir, { recursive: true })
    }
    const nonsense = await fetch(`${hubUrl()}/api/models/${model.repository}/paths-info/main`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ paths: 'b.safetensors' }),
    })
    expect([nonsense.status, await nonsense.json()]).toMatchObject([400, { fields: [{ field: 'paths' }] }])
  })

  it('refuses uploads where somebody may not, and what is not what was announced', async () => {
    const model = await create(owner)
    const accessToken = await tokenOf(owner)
    const file = { operation: 'addOrUpdate' as const, path: 'config.json', content: new Blob(['{}']) }
    const at = { repo: model.repository, hubUrl: hubUrl(), title: 'x' }
    await expect(commitTo({ ...at, operations: [file] })).rejects.toMatchObject({ statusCode: 401 })
    await expect(commitTo({ ...at, accessToken: await tokenOf(stranger), operations: [file] })).rejects.toMatchObject({ statusCode: 404 })
    await commitTo({ ...at, accessToken, operations: [file] })
    await publish(model)
    await expect(commitTo({ ...at, accessToken: await tokenOf(stranger), operations: [file] })).rejects.toMatchObject({ statusCode: 403 })
    await expect(commitTo({ ...at, accessToken, branch: 'other', operations: [file] })).rejects.toMatchObject({ statusCode: 400 })
    await expect(
      commitTo({ ...at, accessToken, parentCommit: '0'.repeat(40), operations: [{ ...file, content: new Blob(['{"a":1}']) }] }),
    ).rejects.toMatchObject({
      statusCode: 409,
    })
    await expect(commitTo({ ...at, accessToken, operations: [{ ...file, path: '../config.json' }] })).rejects.toMatchObject({ statusCode: 400 })
    // On its way something became other than it was.
    const turned: typeof fetch = (input, init) => fetch(input, init?.method === 'PUT' ? { ...init, body: Buffer.alloc(10_000, 1) } : init)
    const large = { ...file, path: 'large.bin', content: new Blob([Buffer.alloc(10_000)]) }
    await expect(commitTo({ ...at, accessToken, fetch: turned, operations: [large] })).rejects.toMatchObject({ statusCode: 409 })
    const short: typeof fetch = (input, init) => fetch(input, init?.method === 'PUT' ? { ...init, body: Buffer.alloc(9_000) } : init)
    await expect(commitTo({ ...at, accessToken, fetch: short, operations: [large] })).rejects.toMatchObject({ statusCode: 409 })
    const long: typeof fetch = (input, init) => fetch(input, init?.method === 'PUT' ? { ...init, body: Buffer.alloc(11_000) } : init)
    await expect(commitTo({ ...at, accessToken, fetch: long, operations: [large] })).rejects.toMatchObject({ statusCode: 413 })
    // And is sent again.
    await commitTo({ ...at, accessToken, operations: [large] })
    expect((await fetch(`${hubUrl()}/objects/none`, { method: 'PUT', body: 'x' })).status).toBe(403)
    // A link ends with the key that asked for it.
    const brief = await call(app, accessKeys.create, { token: owner.token, body: { name: 'brief', scheme: 'bearer', password: owner.password } })
    const revoked: typeof fetch = async (input, init) => {
      if (init?.method === 'PUT') await call(app, accessKeys.delete, { token: owner.token, params: { id: brief.key.id } })
      return fetch(input, init)
    }
    const another = { ...file, path: 'another.bin', content: new Blob([Buffer.alloc(10_000, 7)]) }
    await expect(commitTo({ ...at, accessToken: `hf_${brief.secret}`, fetch: revoked, operations: [another] })).rejects.toMatchObject({ statusCode: 403 })
    const { items } = await call(app, fileTransfers.list, { token: admin.token, query: { keyword: `${model.repository}/config.json`, page_size: 100 } })
    expect(items).toMatchObject([{ kind: 'upload', outcome: 'done', bytes: 2, user_name: owner.name, sha256: sha256Of(Buffer.from('{}')) }])
    await (await fetch(`${hubUrl()}/${model.repository}/resolve/main/config.json`)).text()
    await vi.waitFor(async () =>
      expect((await call(app, fileTransfers.list, { token: admin.token, query: { keyword: model.repository, kind: 'download' } })).items).toMatchObject([
        { name: `${model.repository}/config.json`, outcome: 'done', bytes: 2, user_name: null },
      ]),
    )
    expect((await call(app, fileTransfers.list, { token: admin.token, query: { keyword: model.repository, kind: 'publish' } })).total).toBe(1)
    // A digest alone gets nobody the bytes of others.
    const other = await create(stranger)
    const theirs = { key: 'lfsFile', value: { path: 'theirs', oid: sha256Of(Buffer.alloc(10_000)), size: 10_000 } }
    const stolen = await fetch(`${hubUrl()}/api/models/${other.repository}/commit/main`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokenOf(stranger)}`, 'content-type': 'application/x-ndjson' },
      body: [{ key: 'header', value: { summary: 'x' } }, theirs].map((line) => JSON.stringify(line)).join('\n'),
    })
    expect([stolen.status, await stolen.json()]).toMatchObject([409, { code: 97806 }])
  })

  it('announces all objects of a batch or none as far as the quota goes, each once', async () => {
    const head = await someone(app)
    const { id, repository } = await create(head)
    await call(app, quotas.set, { token: admin.token, params: { bp_id: head.bp_id ?? '' }, body: { limits: { file_bytes: 1_000 } } })
    const token = await tokenOf(head)
    const announced = async (...sizes: number[]) => {
      const answer = await fetch(`${hubUrl()}/${repository}.git/info/lfs/objects/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.git-lfs+json' },
        body: JSON.stringify({ operation: 'upload', objects: sizes.map((size) => ({ oid: sha256Of(Buffer.from(`object ${size}`)), size })) }),
      })
      const { objects } = (await answer.json()) as { objects: { error?: { message: string }; actions?: object }[] }
      return objects.map(({ error, actions }) => (error === undefined ? actions !== undefined : error.message))
    }
    const refusal = expect.stringContaining('空间不足')
    expect([await announced(600, 700), await used(head.bp_id)]).toEqual([[refusal, refusal], 0])
    expect([await announced(600, 300, 600), await used(head.bp_id)]).toEqual([[true, true, true], 900])
    // What was announced before is not refused with the rest.
    expect([await announced(600, 200), await used(head.bp_id)]).toEqual([[true, refusal], 900])
    expect((await call(app, modelFiles.unfinished, { token: head.token, params: { id } })).items).toHaveLength(2)
  })

  it('reads no more of a request than a tool sends', async () => {
    const { repository } = await create(owner)
    const authorization = `Bearer ${await tokenOf(owner)}`
    const post = async (path: string, type: string, body: string) => {
      const answer = await fetch(`${hubUrl()}/${path}`, { method: 'POST', headers: { authorization, 'content-type': type }, body })
      return [answer.status, ((await answer.json()) as { code?: number }).code]
    }
    const committed = (body: string) => post(`api/models/${repository}/commit/main`, 'application/x-ndjson', body)
    const header = JSON.stringify({ key: 'header', value: { summary: 'x' } })
    const mebibytes = 15 * 1024 * 1024
    expect(await committed(`[${'{},'.repeat(mebibytes / 3)}{}]`)).toEqual([413, 90028])
    expect(await committed(`${header}${'\n'.repeat(mebibytes)}`)).toEqual([413, 90028])
    expect(await committed(`${header}\n${'['.repeat(10_000)}`)).toEqual([413, 90028])
    expect(await committed(JSON.stringify({ key: 'header', value: { summary: 'x', more: Array.from({ length: 1_000 }, () => ({})) } }))).toEqual([413, 90028])
    const file = (content: string) => JSON.stringify({ key: 'file', value: { path: 'same', content } })
    expect(await committed([header, file('one'), file('two')].join('\n'))).toEqual([400, 90001])
    const keys = `{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join()}}`
    expect(await post(`${repository}.git/info/lfs/objects/batch`, 'application/vnd.git-lfs+json', keys)).toEqual([413, 90028])
    const files = JSON.stringify({ files: Array.from({ length: 1_001 }, () => ({})) })
    expect(await post(`api/models/${repository}/preupload/main`, 'application/json', files)).toEqual([400, 90001])
    expect((await post(`api/models/${repository}/preupload/main`, 'application/json', ' '.repeat(2 * 1024 * 1024)))[0]).toBe(413)
  })
})
