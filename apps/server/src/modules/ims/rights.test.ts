import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stacks } from '@zhisuan/contract/aos/stack'
import { containers } from '@zhisuan/contract/cis/container'
import { edgeImages, edges } from '@zhisuan/contract/ecrm/edge'
import { preheats } from '@zhisuan/contract/ims/preheat'
import { registryProjects, repositories, repositoryAccess, tagBin, type RegistryProject } from '@zhisuan/contract/ims/project'
import { registries, registryUsers, type Registry } from '@zhisuan/contract/ims/registry'
import type { PolicyStatement } from '@zhisuan/contract/policy/document'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../platform/ids.ts'
import { testApp, type TestApp } from '../../testing/app.ts'
import { leastBalance } from '../../testing/balance.ts'
import { call, refused, send } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'
import { allow, deny, keeping } from '../../testing/policies.ts'
import { tokenPath } from './registry/registry.service.ts'

const registryPassword = 'Registry-pass-1'
const someId = '018f0000-0000-7000-8000-000000000000'

/** Nobody asks it for anything here but whether it is one. */
async function quietRegistry() {
  const server = createServer((request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(request.url?.startsWith('/v2/_catalog') === true ? '{"repositories":[]}' : '{}'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() }
}

describe('rights in registries', () => {
  let app: TestApp
  let admin: Person & SignedIn
  let owner: Person & SignedIn
  let there: Awaited<ReturnType<typeof quietRegistry>>
  let registry: Registry
  let one: RegistryProject
  let other: RegistryProject
  let open: RegistryProject

  const make = (name: string, more: object = {}): Promise<RegistryProject> =>
    call(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name, ...more } })
  /** Somebody of the organisation about whom a policy says so. */
  const under = async (...statements: PolicyStatement[]): Promise<Person & SignedIn> => {
    const person = await someone(app, { kind: 4, organisation: owner.bp_id })
    await keeping(app).give(owner, await keeping(app).makePolicy(owner, statements), { user_id: person.id })
    await call(app, registryUsers.create, { token: person.token, body: { password: registryPassword } })
    return person
  }
  const grantedTo = async ({ name }: Person, scope: string): Promise<string[]> => {
    const answer = await app.http.inject({
      url: `${tokenPath}?${new URLSearchParams({ service: registry.id, scope })}`,
      headers: { authorization: `Basic ${Buffer.from(`${name}:${registryPassword}`).toString('base64')}` },
    })
    const { token = '..' } = answer.json<{ token?: string }>()
    const { access = [] } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}') as { access?: { actions: string[] }[] }
    return access.flatMap(({ actions }) => actions)
  }
  const image = (project: RegistryProject): string => `${registry.address}/${project.name}/app:1`
  const deployed = (project: RegistryProject) => ({ name: 'a', spec: { image: image(project) }, placement: { edge_ids: [someId] } })
  const at = (project: RegistryProject) => ({ id: registry.id, pid: project.id, name: 'app' })

  beforeAll(async () => {
    app = await testApp()
    there = await quietRegistry()
    admin = await someone(app, { kind: 1 })
    owner = await someone(app)
    registry = await call(app, registries.create, { token: admin.token, body: { name: 'main', connection: { engine: 'distribution', url: there.url } } })
    one = await make('one')
    other = await make('other')
    open = await make('open', { visibility: 'public' })
  })
  afterAll(async () => {
    await app.close()
    there.stop()
  })

  it('are of one project where a policy names it: may pull from that one, and from no other', async () => {
    const person = await under(
      deny('ims.repository.pull', { Resource: `zrn:ims:*:repository/${other.id}/*` }),
      deny('ims.repository.push', { Resource: `zrn:ims:*:repository/${one.id}/locked` }),
    )
    expect(await grantedTo(person, 'repository:one/app:pull,push')).toEqual(['pull', 'push'])
    expect(await grantedTo(person, 'repository:one/locked:pull,push')).toEqual(['pull'])
    // Who pushes pulls as well.
    expect(await grantedTo(person, 'repository:other/app:pull,push')).toEqual([])
    expect(await send(app, repositoryAccess.pull, { token: person.token, params: at(other) })).toMatchObject({ status: 403 })
    // An id in capitals is the same id.
    expect(await send(app, repositoryAccess.pull, { token: person.token, params: { ...at(other), pid: other.id.toUpperCase() } })).toMatchObject({
      status: 403,
    })
    const narrow = await under(deny('*', { Resource: `zrn:ims:*:project/${one.id}` }))
    expect(await send(app, registryProjects.update, { token: narrow.token, params: at(one), body: {} })).toMatchObject({ status: 403 })
    expect(await send(app, registryProjects.update, { token: narrow.token, params: at(other), body: {} })).toMatchObject({ status: 200 })
  })

  it('to pull are asked for by whatever has an image pulled, and not for what everybody may pull', async () => {
    const person = await under(deny('ims.repository.pull'))
    const denied = { code: 3000, refused: { action: 'ims.repository.pull', outcome: 'explicitDeny' } }
    const answers = async (project: RegistryProject) => [
      (await send(app, containers.deploy, { token: person.token, body: deployed(project) })).body,
      (await send(app, containers.action, { token: person.token, params: { id: someId }, body: { action: 'update', spec: { image: image(project) } } })).body,
      (await send(app, edgeImages.pullImage, { token: person.token, params: { id: someId }, body: { image: image(project) } })).body,
    ]
    for (const answer of await answers(one)) expect(answer).toMatchObject(denied)
    for (const answer of await answers(open)) expect(answer).not.toMatchObject({ code: 3000 })
    for (const answer of await answers({ ...one, name: 'none' })) expect(answer).toMatchObject(denied)
    expect((await send(app, containers.deploy, { token: person.token, body: { ...deployed(one), spec: { image: 'nginx' } } })).body).not.toMatchObject({
      code: 3000,
    })
    // An address that is written otherwise is the same one.
    const spelled = image(one).replace('127.0.0.1', '0x7f.1')
    expect((await send(app, containers.deploy, { token: person.token, body: { ...deployed(one), spec: { image: spelled } } })).body).toMatchObject(denied)
    const compose = `services:\n  web:\n    image: ${image(one)}\n`
    const { edge } = await call(app, edges.create, { token: owner.token, body: { name: 'node' } })
    await app.platform.db.updateTable('edges').set({ binding: 'bound' }).where('id', '=', edge.id).execute()
    const stack = { name: 's', compose, placement: { edge_ids: [edge.id] } }
    expect((await send(app, stacks.create, { token: person.token, body: stack })).body).toMatchObject(denied)
    expect((await send(app, stacks.create, { token: owner.token, body: stack })).body).not.toMatchObject({ code: 3000 })
    const administrator = await someone(app, { kind: 4, roles: ['ADMIN'] })
    await keeping(app).give(admin, await keeping(app).makePolicy(admin, [allow('*'), deny('ims.repository.pull')]), { user_id: administrator.id })
    expect(
      (
        await send(app, preheats.create, {
          token: administrator.token,
          params: { id: registry.id },
          body: { images: [{ repository: 'one/app', tag: '1' }], nodes: { node_ids: [someId] } },
        })
      ).body,
    ).toMatchObject(denied)
  })

  it.each([
    ['ims.repository.pull', repositoryAccess.push, {}],
    ['ims.repository.pull', repositories.buildHistory, { query: { tag: '1' } }],
    ['ims.tag.delete', repositories.delete, {}],
    ['ims.tag.delete', registryProjects.delete, {}],
    ['ims.repository.delete', registryProjects.delete, {}],
    ['ims.tag.delete', registryProjects.update, { body: { keep_rules: [{ newest: 1 }] } }],
    ['ims.tag.delete', tagBin.delete, {}],
    ['ims.repository.push', tagBin.restore, {}],
  ] as const)('that lack %s refuse what does its work as well', async (action, what, more) => {
    const person = await under(deny(action))
    const answer = await send(app, what, { token: person.token, params: { ...at(one), bin_id: someId }, ...more })
    expect(answer.body).toMatchObject({ code: 3000, refused: { action, outcome: 'explicitDeny' } })
  })

  it('to delete and to pull are asked for by who lets go of what a project holds, and only then', async () => {
    const held = await make('held', { bin_days: 7, immutable_tags: ['v*'] })
    await app.platform.db
      .insertInto('registry_repositories')
      .values({ id: uuidv7(), project_id: held.id, bp_id: held.bp_id, name: 'secret', pushed_at: null, pulled_at: null })
      .execute()
    const same = { bin_days: 7, immutable_tags: ['v*'] }
    const update = async (person: SignedIn, body: object) => (await send(app, registryProjects.update, { token: person.token, params: at(held), body })).body
    const may_not = (action: string) => ({ code: 3000, refused: { action, outcome: 'explicitDeny' } })
    const [keeper, reader] = [
      await under(deny('ims.tag.delete')),
      await under(deny('ims.repository.pull', { Resource: `zrn:ims:*:repository/${held.id}/secret` })),
    ]
    for (const looser of [{ bin_days: 0 }, { bin_days: 6 }, { immutable_tags: [] }, { immutable_tags: ['w*', 'x*'] }])
      expect(await update(keeper, { ...same, ...looser })).toMatchObject(may_not('ims.tag.delete'))
    expect(await update(keeper, { ...same, bin_days: 8, immutable_tags: ['v*', 'w*'], visibility: 'public' })).toMatchObject({ visibility: 'public' })
    // As it was.
    expect(await update(owner, same)).toMatchObject({ bin_days: 7, visibility: 'private' })
    expect(await update(reader, { ...same, visibility: 'public' })).toMatchObject(may_not('ims.repository.pull'))
    expect(await update(reader, { ...same, bin_days: 0 })).toMatchObject({ bin_days: 0, visibility: 'private' })
    // Of a single repository, too, whatever goes with the project.
    const watcher = await under(deny('ims.tag.delete', { Resource: `zrn:ims:*:tag/${held.id}/secret` }))
    expect(await update(watcher, { ...same, bin_days: 0, keep_rules: [{ newest: 1 }] })).toMatchObject(may_not('ims.tag.delete'))
    expect((await send(app, registryProjects.delete, { token: watcher.token, params: at(held), query: { force: 'true' } })).body).toMatchObject(
      may_not('ims.tag.delete'),
    )
    const bin_id = uuidv7()
    const repository = await app.platform.db.selectFrom('registry_repositories').select('id').where('project_id', '=', held.id).executeTakeFirstOrThrow()
    const when = new Date()
    await app.platform.db
      .insertInto('registry_tags')
      .values({
        id: bin_id,
        repository_id: repository.id,
        name: '1',
        digest: `sha256:${'0'.repeat(64)}`,
        size_bytes: 1,
        pushed_by: null,
        pushed_at: when,
        pulled_at: null,
        deleted_at: when,
        deleted_by: '',
        ends_at: new Date(when.getTime() + 86_400_000),
        untagged_at: when,
      })
      .execute()
    expect((await send(app, tagBin.delete, { token: watcher.token, params: { ...at(held), bin_id } })).body).toMatchObject(may_not('ims.tag.delete'))
    const pusher = await under(deny('ims.repository.push', { Resource: `zrn:ims:*:repository/${held.id}/secret` }))
    expect((await send(app, tagBin.restore, { token: pusher.token, params: { ...at(held), bin_id } })).body).toMatchObject(may_not('ims.repository.push'))
  })

  it.each(['..', '_catalog', 'UPPER', 'a//b', '../one/app', 'x'.repeat(256)])('are of no repository that is called %s', async (name) => {
    const answer = await send(app, repositoryAccess.push, { token: owner.token, params: { ...at(one), name } })
    // Of `..` no path is left.
    if (name === '..') expect(answer.status).toBe(404)
    else expect(answer).toMatchObject({ status: 400, body: { fields: [{ field: 'name' }] } })
    await call(app, registryUsers.create, { token: owner.token, body: { password: registryPassword } })
    expect(await grantedTo(owner, `repository:one/${name}:pull,push`)).toEqual([])
    expect(await grantedTo(owner, `repository:${name}/app:pull,push`)).toEqual([])
  })

  it('to list tags are asked for by what would list them by the way: previews of rules, and catalogues', async () => {
    const project = await make('previewed')
    const at = { id: registry.id, pid: project.id }
    for (const name of ['app', 'secret']) {
      const id = uuidv7()
      await app.platform.db
        .insertInto('registry_repositories')
        .values({ id, project_id: project.id, bp_id: owner.bp_id, name, pushed_at: null, pulled_at: null })
        .execute()
      const digest = `sha256:${'a'.repeat(64)}`
      const tag = { repository_id: id, digest, size_bytes: 1, pushed_by: null, pushed_at: new Date(0), pulled_at: null }
      await app.platform.db
        .insertInto('registry_tags')
        .values({ ...tag, id: uuidv7(), name: '1', deleted_at: null, deleted_by: null, ends_at: null, untagged_at: null })
        .execute()
    }
    const preview = (who: SignedIn) => send(app, registryProjects.keepPreview, { token: who.token, params: at, body: { keep_rules: [{ days: 1 }] } })
    expect((await preview(owner)).body).toMatchObject({ tag_count: 2, items: [{ repository: 'app' }, { repository: 'secret' }] })
    const narrow = await under(deny('ims.tag.list', { Resource: `zrn:ims:*:tag/${project.id}/secret` }))
    const seen = await preview(narrow)
    expect([seen.status, JSON.stringify(seen.body).includes('secret')]).toEqual([200, false])
    expect(await preview(await under(deny('ims.tag.list', { Resource: `zrn:ims:*:tag/${project.id}/*` })))).toMatchObject({ status: 403 })
    const administrator = await someone(app, { kind: 4, roles: ['ADMIN'] })
    await call(app, registryUsers.create, { token: administrator.token, body: { password: registryPassword } })
    await keeping(app).give(admin, await keeping(app).makePolicy(admin, [allow('*'), deny('ims.repository.all')]), { user_id: administrator.id })
    expect(await grantedTo(administrator, 'registry:catalog:*')).toEqual([])
  })

  it('are of no use to who has less than its organisation has to have: nothing is made that costs by the hour', async () => {
    const poor = await someone(app)
    await call(app, registryUsers.create, { token: poor.token, body: { password: registryPassword } })
    const project = await call(app, registryProjects.create, { token: poor.token, params: { id: registry.id }, body: { name: 'poor' } })
    await leastBalance(app, admin, poor.bp_id, '50')
    expect(await refused(app, registryProjects.create, { token: poor.token, params: { id: registry.id }, body: { name: 'poorer' } })).toMatchObject({
      code: 96043,
    })
    expect(await refused(app, repositoryAccess.push, { token: poor.token, params: { id: registry.id, pid: project.id, name: 'app' } })).toMatchObject({
      code: 96043,
    })
    const answer = await app.http.inject({
      url: `${tokenPath}?${new URLSearchParams({ service: registry.id, scope: 'repository:poor/app:pull,push' })}`,
      headers: { authorization: `Basic ${Buffer.from(`${poor.name}:${registryPassword}`).toString('base64')}` },
    })
    expect(answer.json()).toMatchObject({ errors: [{ code: 'DENIED', message: expect.stringContaining('最低余额') as string }] })
    // What is there is pulled all the same.
    expect(await grantedTo(poor, 'repository:poor/app:pull')).toEqual(['pull'])
  })
})
