import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { registryProjects, repositories, repositoryAccess, tagBin, type RegistryProject } from '@zhisuan/contract/ims/project'
import { registries, registryCommands, registryUsers, type Registry } from '@zhisuan/contract/ims/registry'
import { messages } from '@zhisuan/contract/sys/message'
import { accessKeys } from '@zhisuan/contract/ums/access-key'
import { createRegistry } from '@zhisuan/engines/registry/client'
import { mediaTypes } from '@zhisuan/engines/registry/manifest'
import {
  anyPort,
  pushChart,
  pushImage,
  pushIndex,
  registryIsThere,
  registryProgram,
  startRegistry,
  type RunningRegistry,
} from '@zhisuan/engines/registry/testing'
import type { Registry as Client, RegistryCredentials } from '@zhisuan/engines/registry/types'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused, send } from '../../testing/call.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../testing/people.ts'
import { deny, keeping } from '../../testing/policies.ts'
import { tokenPath } from './registry/registry.service.ts'

const registryPassword = 'Registry-pass-1'

/** A registry of its own that takes our tokens and tells us what happens, registered by an administrator. */
describe.skipIf(!registryIsThere)('registries', () => {
  let app: TestApp
  let url: string
  let running: RunningRegistry
  let admin: Person & SignedIn
  let owner: Person & SignedIn
  let stranger: Person & SignedIn
  let registry: Registry
  let project: RegistryProject
  const clients: Client[] = []

  const as = (credentials: RegistryCredentials): Client => {
    const client = createRegistry({ url: running.url, credentials })
    clients.push(client)
    return client
  }
  const account = (username: string, password: string): RegistryCredentials => ({ kind: 'account', username, password })
  const projectNow = async (): Promise<RegistryProject> => {
    const { items } = await call(app, registryProjects.list, { token: owner.token, params: { id: registry.id }, query: { keyword: 'team' } })
    const [found] = items
    if (found === undefined) throw new Error('the project is gone')
    return found
  }
  /** As the registry's own collector does it, which takes whatever no manifest leads to. */
  const collectGarbage = () => promisify(execFile)(registryProgram, ['garbage-collect', join(running.folder, 'config.yml')])
  const blobFile = (content: string): string => {
    const hash = createHash('sha256').update(content).digest('hex')
    return join(running.folder, 'data/docker/registry/v2/blobs/sha256', hash.slice(0, 2), hash, 'data')
  }
  const at = (name: string) => ({ id: registry.id, pid: project.id, name })
  const tagsOf = async (name: string) => (await call(app, repositories.tags, { token: owner.token, params: at(name), query: {} })).items
  const tokenFor = async (scope: string, login?: string): Promise<Response> =>
    fetch(`${url}${tokenPath}?${new URLSearchParams({ service: registry.id, scope })}`, {
      headers: login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
    })
  /** What a token lets do. */
  const grantedBy = async (response: Response): Promise<unknown> => {
    const { token } = (await response.json()) as { token: string }
    return (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { access: unknown }).access
  }

  beforeAll(async () => {
    const port = await anyPort()
    url = `http://127.0.0.1:${port}`
    app = await testApp({ PUBLIC_URL: url })
    await app.http.listen({ port, host: '127.0.0.1' })
    running = await startRegistry()
    admin = await someone(app, { kind: 1 })
    owner = await someone(app)
    stranger = await someone(app)
    registry = await call(app, registries.create, { token: admin.token, body: { name: 'main', connection: { engine: 'distribution', url: running.url } } })
    const { token_service: tokens, notifications } = registry
    const bundle = join(running.folder, 'tokens.pem')
    writeFileSync(bundle, tokens?.certificate ?? '')
    await running.restart(
      [
        `auth: {token: {realm: '${tokens?.realm}', service: '${tokens?.service}', issuer: '${tokens?.issuer}', rootcertbundle: '${bundle}'}}`,
        `notifications: {endpoints: [{name: zhisuan, url: '${notifications?.url}', headers: {Authorization: ['Bearer ${notifications?.secret}']}, timeout: 2s, threshold: 3, backoff: 100ms}]}`,
      ].join('\n'),
    )
    project = await call(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name: 'team' } })
    for (const person of [owner, stranger]) await call(app, registryUsers.create, { token: person.token, body: { password: registryPassword } })
  })
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()))
    await app.close()
    await running.stop()
  })

  it('are registered once each, after they answered', async () => {
    const create = (body: { name: string; url: string }) =>
      refused(app, registries.create, { token: admin.token, body: { name: body.name, connection: { engine: 'distribution', url: body.url } } })
    expect(await create({ name: 'other', url: `${running.url}/` })).toMatchObject({ code: 97002, fields: [{ field: 'connection.url' }] })
    expect(await create({ name: 'other', url: 'http://127.0.0.1:1' })).toMatchObject({
      code: 97003,
      message: '无法连接镜像仓库：连接被拒绝',
      fields: [{ field: 'connection.url' }],
    })
    expect(await create({ name: 'other', url })).toMatchObject({ code: 97005 })
    expect(await create({ name: 'other', url: 'http://user:pass@127.0.0.1' })).toMatchObject({ fields: [{ field: 'connection.url' }] })
    expect((await call(app, registries.list, { token: admin.token, query: {} })).items).toMatchObject([
      { name: 'main', status: 'active', health: 'reachable', notifications: { secret: null } },
    ])
  })

  it('show tenants what they need to use them, and no more', async () => {
    const seen = await call(app, registries.get, { token: owner.token, params: { id: registry.id } })
    expect(seen).toMatchObject({ name: 'main', address: running.address, insecure: true })
    expect(seen).not.toHaveProperty('url')
    expect((await call(app, registries.regions, { token: owner.token })).items).toMatchObject([{ region: null, registries: [{ id: registry.id }] }])
  })

  it('tell the very lines once one has a password, and 2293 before', async () => {
    const person = await someone(app)
    const body = { registry_id: registry.id, project: 'team', repository: 'app', tag: '1.0' }
    expect(await call(app, registryUsers.exist, { token: person.token })).toEqual({ exist: false, username: person.name })
    expect(await refused(app, registryCommands.create, { token: person.token, body })).toMatchObject({ code: 2293 })
    await call(app, registryUsers.create, { token: person.token, body: { password: registryPassword } })
    const { items } = await call(app, registryCommands.create, { token: person.token, body })
    expect(items.map(({ tool }) => tool)).toEqual(['docker', 'podman', 'containerd', 'skopeo', 'helm'])
    expect(items[0]).toMatchObject({ login: [`docker login ${running.address} -u ${person.name}`], pull: [`docker pull ${running.address}/team/app:1.0`] })
    expect(JSON.stringify(items)).not.toContain(registryPassword)
  })

  it('take a push of who may, and show it within two seconds; nobody else sees that it is there', async () => {
    const client = as(account(owner.name, registryPassword))
    const { digest, sizeBytes } = await pushImage(client, 'team/app', '1.0', { layer: 'first' })
    await vi.waitFor(async () => expect(await tagsOf('app')).toHaveLength(1))
    expect(await tagsOf('app')).toMatchObject([
      {
        name: '1.0',
        digest,
        kind: 'image',
        size_bytes: sizeBytes,
        pushed_by: owner.name,
        platforms: [{ os: 'linux', architecture: 'amd64' }],
        immutable: false,
      },
    ])
    expect(await call(app, repositories.get, { token: owner.token, params: at('app') })).toMatchObject({
      image: `${running.address}/team/app`,
      tag_count: 1,
      used_bytes: sizeBytes,
      sizes: [{ used_bytes: sizeBytes, tag_count: 1 }],
    })
    await client.manifest('team/app', '1.0')
    await vi.waitFor(async () => expect(await tagsOf('app')).toMatchObject([{ pulled_at: expect.any(String) as string }]))

    // Not theirs, not there, and no project at all: the same answers.
    const other = as(account(stranger.name, registryPassword))
    const answer = async (name: string) => {
      const error: unknown = await other.manifest(name, '1.0').catch((thrown: unknown) => thrown)
      return String(error).replaceAll(name, 'NAME')
    }
    const theirs = await answer('team/app')
    expect(theirs).toContain('401')
    expect(await answer('team/none')).toBe(theirs)
    expect(await answer('nobody/none')).toBe(theirs)
    for (const scope of ['team/app', 'team/none', 'nobody/none'])
      expect(await grantedBy(await tokenFor(`repository:${scope}:pull,push`, `${stranger.name}:${registryPassword}`))).toEqual([])
    expect(await refused(app, repositories.get, { token: stranger.token, params: at('app') })).toMatchObject({ status: 404 })
    expect(await refused(app, repositories.tags, { token: stranger.token, params: at('app'), query: {} })).toMatchObject({ status: 404 })
    expect(await refused(app, registryProjects.update, { token: stranger.token, params: { id: registry.id, pid: project.id }, body: {} })).toMatchObject({
      status: 404,
    })
    expect(await refused(app, repositories.deleteTag, { token: stranger.token, params: { ...at('app'), tag: '1.0' } })).toMatchObject({ status: 404 })
  })

  it('show a chart as what it is, with its versions', async () => {
    const digest = await pushChart(as(account(owner.name, registryPassword)), 'team/web', { version: '1.2.3', appVersion: '7.0' })
    await vi.waitFor(async () => {
      const { items } = await call(app, repositories.tags, { token: owner.token, params: at('web'), query: {} })
      expect(items).toMatchObject([{ name: '1.2.3', digest, kind: 'chart', platforms: [], chart: { version: '1.2.3', app_version: '7.0' } }])
    })
  })

  it('let everybody pull what is public, and nobody list what there is', async () => {
    const open = await call(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name: 'open', visibility: 'public' } })
    await pushImage(as(account(owner.name, registryPassword)), 'open/app', 'latest', { layer: 'open' })
    expect(await as({ kind: 'account', username: stranger.name, password: registryPassword }).head('open/app', 'latest')).not.toBeNull()
    expect(await grantedBy(await tokenFor('repository:open/app:pull,push'))).toMatchObject([{ actions: ['pull'] }])
    expect(await grantedBy(await tokenFor('registry:catalog:*', `${owner.name}:${registryPassword}`))).toEqual([])
    await vi.waitFor(async () =>
      expect((await call(app, repositories.all, { token: stranger.token, params: { id: registry.id }, query: {} })).items).toMatchObject([
        { project: { id: open.id } },
      ]),
    )
  })

  it('refuse wrong passwords, and after ten for a while the right one, too', async () => {
    const person = await makeUser(app)
    const { token } = await signIn(app, person)
    await call(app, registryUsers.create, { token, body: { password: registryPassword } })
    for (let tries = 0; tries < 10; tries++) {
      const response = await tokenFor('', `${person.name}:wrong`)
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({ errors: [{ code: 'UNAUTHORIZED', message: '用户名或密码错误' }] })
    }
    expect((await tokenFor('', `${person.name}:${registryPassword}`)).status).toBe(429)
    // Also where all of them are tried at once.
    const other = await makeUser(app)
    await call(app, registryUsers.create, { token: (await signIn(app, other)).token, body: { password: registryPassword } })
    const at = await Promise.all(Array.from({ length: 15 }, (_, tries) => tokenFor('', `${other.name}:wrong-${tries}`)))
    expect(at.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 5 }, () => 429)])
    // Nobody's name answers just so.
    expect((await tokenFor('', `nobody-${person.name}:x`)).status).toBe(401)
    // The password of the account is none of a registry's.
    expect((await tokenFor('', `${stranger.name}:${stranger.password}`)).status).toBe(401)
  })

  it('are signed in to by an access key, until it is disabled', async () => {
    const made = await call(app, accessKeys.create, { token: owner.token, body: { name: 'ci', scheme: 'bearer', password: owner.password } })
    const scope = 'repository:team/app:pull,push'
    expect(await grantedBy(await tokenFor(scope, `${made.key.id}:${made.secret}`))).toMatchObject([{ actions: ['pull', 'push'] }])
    await call(app, accessKeys.action, { token: owner.token, params: { id: made.key.id }, body: { action: 'disable' } })
    expect((await tokenFor(scope, `${made.key.id}:${made.secret}`)).status).toBe(401)
  })

  it('heed a policy that lets somebody pull and not push, and one who was disabled', async () => {
    const member = await someone(app, { kind: 4, organisation: owner.bp_id })
    await call(app, registryUsers.create, { token: member.token, body: { password: registryPassword } })
    const scope = 'repository:team/app:pull,push,delete'
    const login = `${member.name}:${registryPassword}`
    expect(await grantedBy(await tokenFor(scope, login))).toMatchObject([{ actions: ['pull', 'push', 'delete'] }])
    const policy = await keeping(app).makePolicy(owner, [deny(['ims.repository.push', 'ims.tag.delete'])])
    await keeping(app).give(owner, policy, { user_id: member.id })
    expect(await grantedBy(await tokenFor(scope, login))).toMatchObject([{ actions: ['pull'] }])
    expect(await refused(app, repositoryAccess.push, { token: member.token, params: at('app') })).toMatchObject({ status: 403 })
    expect((await call(app, repositoryAccess.pull, { token: member.token, params: at('app') })).token).toMatch(/^ey/)
    await expect(pushImage(as(account(member.name, registryPassword)), 'team/app', 'x', { layer: 'x' })).rejects.toMatchObject({ kind: 'unauthorized' })
    await app.platform.db.updateTable('users').set({ status: 'disabled' }).where('id', '=', member.id).execute()
    await vi.waitFor(async () => expect((await tokenFor(scope, login)).status).toBe(401))
  })

  it('take no push into a project that is full, and say why', async () => {
    await call(app, registryProjects.update, { token: admin.token, params: { id: registry.id, pid: project.id }, body: { quota_bytes: 1 } })
    const response = await tokenFor('repository:team/app:push', `${owner.name}:${registryPassword}`)
    expect(await response.json()).toMatchObject({ errors: [{ code: 'DENIED', message: expect.stringContaining('达到配额') as string }] })
    await call(app, registryProjects.update, { token: admin.token, params: { id: registry.id, pid: project.id }, body: { quota_bytes: null } })
    expect(
      await refused(app, registryProjects.update, { token: owner.token, params: { id: registry.id, pid: project.id }, body: { quota_bytes: 5 } }),
    ).toMatchObject({ status: 403 })
  })

  it('delete one name and leave the others of its digest; what was deleted comes back with it', async () => {
    const client = as(account(owner.name, registryPassword))
    const { digest, bytes } = await pushImage(client, 'team/bin', 'a', { layer: 'bin' })
    await client.putManifest('team/bin', 'b', { mediaType: 'application/vnd.oci.image.manifest.v1+json', bytes })
    await vi.waitFor(async () => expect(await tagsOf('bin')).toHaveLength(2))
    await call(app, repositories.deleteTag, { token: owner.token, params: { ...at('bin'), tag: 'a' } })
    expect((await client.tags('team/bin')).items).toEqual(['b'])
    expect(await client.head('team/bin', 'b')).toBe(digest)
    const inBin = async () => (await call(app, tagBin.list, { token: owner.token, params: { id: registry.id, pid: project.id }, query: {} })).items
    const [binned] = await inBin()
    expect(binned).toMatchObject({ repository: 'bin', name: 'a', digest, deleted_by: owner.name })
    expect(await call(app, tagBin.restore, { token: owner.token, params: { id: registry.id, pid: project.id, bin_id: binned?.id ?? '' } })).toMatchObject({
      name: 'a',
      digest,
    })
    expect(await client.head('team/bin', 'a')).toBe(digest)
    expect(await inBin()).toEqual([])

    // After its days it goes for good, and what nothing leads to goes with it.
    for (const tag of ['a', 'b']) await call(app, repositories.deleteTag, { token: owner.token, params: { ...at('bin'), tag } })
    expect(await client.manifest('team/bin', digest)).not.toBeNull()
    for (const one of await inBin()) await call(app, tagBin.delete, { token: owner.token, params: { id: registry.id, pid: project.id, bin_id: one.id } })
    expect(await client.manifest('team/bin', digest)).toBeNull()
    expect(await refused(app, repositories.get, { token: owner.token, params: at('bin') })).toMatchObject({ status: 404 })
  })

  it('put what programs delete there into the bin, from which it comes back with its digest', async () => {
    const client = as(account(owner.name, registryPassword))
    const [amd, arm] = [
      await pushImage(client, 'team/told', null, { layer: 'amd' }),
      await pushImage(client, 'team/told', null, { layer: 'arm', architecture: 'arm64' }),
    ]
    const digest = await pushIndex(client, 'team/told', 'a', [
      { ...amd, os: 'linux', architecture: 'amd64' },
      { ...arm, os: 'linux', architecture: 'arm64' },
    ])
    await vi.waitFor(async () => expect(await tagsOf('told')).toHaveLength(1))
    const before = (await projectNow()).used_bytes
    await client.deleteManifest('team/told', digest)
    await vi.waitFor(async () => expect(await tagsOf('told')).toEqual([]))
    const [binned] = (await call(app, tagBin.list, { token: owner.token, params: { id: registry.id, pid: project.id }, query: { keyword: 'told' } })).items
    expect(binned).toMatchObject({ name: 'a', digest, deleted_by: owner.name })
    // It takes up its room until its days are over, and what nobody uses is collected meanwhile.
    expect((await projectNow()).used_bytes).toBe(before)
    await collectGarbage()
    await call(app, tagBin.restore, { token: owner.token, params: { id: registry.id, pid: project.id, bin_id: binned?.id ?? '' } })
    expect(await client.head('team/told', 'a')).toBe(digest)
    expect(await client.manifest('team/told', amd.digest)).not.toBeNull()
    expect(await tagsOf('told')).toMatchObject([{ name: 'a', digest }])
  })

  it('free what a tag led to before something else was pushed under it, once its days in the bin are over', async () => {
    const client = as(account(owner.name, registryPassword))
    const place = { id: registry.id, pid: project.id }
    const start = (await projectNow()).used_bytes
    const first = await pushImage(client, 'team/over', 'v1', { layer: 'first '.repeat(5_000) })
    await vi.waitFor(async () => expect(await tagsOf('over')).toMatchObject([{ digest: first.digest }]))
    const second = await pushImage(client, 'team/over', 'v1', { layer: 'second '.repeat(5_000) })
    await vi.waitFor(async () => expect(await tagsOf('over')).toMatchObject([{ digest: second.digest }]))
    expect((await projectNow()).used_bytes - start).toBe(first.sizeBytes + second.sizeBytes)
    const layer = blobFile(`first `.repeat(5_000))
    await collectGarbage()
    expect(existsSync(layer)).toBe(true)
    const [binned] = (await call(app, tagBin.list, { token: owner.token, params: place, query: { keyword: 'over' } })).items
    expect(binned).toMatchObject({ name: 'v1', digest: first.digest })
    await call(app, tagBin.delete, { token: owner.token, params: { ...place, bin_id: binned?.id ?? '' } })
    expect(await client.manifest('team/over', first.digest)).toBeNull()
    expect((await projectNow()).used_bytes - start).toBe(second.sizeBytes)
    await collectGarbage()
    expect(existsSync(layer)).toBe(false)
    expect(await client.head('team/over', 'v1')).toBe(second.digest)
    // Pushed again it is there again, and rests no longer.
    await pushImage(client, 'team/over', 'v1', { layer: 'first '.repeat(5_000) })
    await vi.waitFor(async () => expect(await tagsOf('over')).toMatchObject([{ digest: first.digest }]))
    await pushImage(client, 'team/over', 'v1', { layer: 'second '.repeat(5_000) })
    await vi.waitFor(async () => expect(await tagsOf('over')).toMatchObject([{ digest: second.digest }]))
    expect((await call(app, tagBin.list, { token: owner.token, params: place, query: { keyword: 'over' } })).items).toMatchObject([{ digest: first.digest }])
  })

  it('free it at once where the project has no bin', async () => {
    const made = await call(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name: 'nobin', bin_days: 0 } })
    const client = as(account(owner.name, registryPassword))
    const first = await pushImage(client, 'nobin/app', 'v1', { layer: 'one' })
    const used = async () =>
      (await call(app, registryProjects.list, { token: owner.token, params: { id: registry.id }, query: { keyword: 'nobin' } })).items[0]?.used_bytes
    await vi.waitFor(async () => expect(await used()).toBe(first.sizeBytes))
    const second = await pushImage(client, 'nobin/app', 'v1', { layer: 'number two' })
    await vi.waitFor(async () => expect(await used()).toBe(second.sizeBytes))
    expect(await client.manifest('nobin/app', first.digest)).toBeNull()
    await client.deleteManifest('nobin/app', second.digest)
    await vi.waitFor(async () => expect(await used()).toBe(0))
    expect((await call(app, tagBin.list, { token: owner.token, params: { id: registry.id, pid: made.id }, query: {} })).items).toEqual([])
  })

  it('hear of whoever pushes, whatever they are called', async () => {
    const person = await someone(app, { kind: 4, organisation: owner.bp_id, name: 'zhisuan' })
    await call(app, registryUsers.create, { token: person.token, body: { password: registryPassword } })
    await pushImage(as(account(person.name, registryPassword)), 'team/named', '1', { layer: 'named' })
    await vi.waitFor(async () => expect(await tagsOf('named')).toMatchObject([{ pushed_by: 'zhisuan' }]))
  })

  it('count what content takes up, and not what a manifest says of it', async () => {
    const client = as(account(owner.name, registryPassword))
    const before = (await projectNow()).used_bytes
    const layer = Buffer.alloc(300_000, 'liar')
    const config = Buffer.from('{"os":"linux","architecture":"amd64","rootfs":{"type":"layers","diff_ids":[]}}')
    const described = async (bytes: Buffer, mediaType: string) => ({ mediaType, digest: await client.putBlob('team/liar', bytes), size: 1 })
    const bytes = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.ociManifest,
        config: await described(config, 'application/vnd.oci.image.config.v1+json'),
        layers: [await described(layer, 'application/vnd.oci.image.layer.v1.tar')],
      }),
    )
    await client.putManifest('team/liar', '1', { mediaType: mediaTypes.ociManifest, bytes })
    await vi.waitFor(async () => expect((await projectNow()).used_bytes - before).toBe(layer.length + config.length + bytes.length))
  })

  it('count what has no name, tell who has pushed more than there was room for, and take no more', async () => {
    const client = as(account(owner.name, registryPassword))
    const before = (await projectNow()).used_bytes
    const set = (quota_bytes: number | null) =>
      call(app, registryProjects.update, { token: admin.token, params: { id: registry.id, pid: project.id }, body: { quota_bytes } })
    await set(before + 1)
    const { digest, sizeBytes } = await pushImage(client, 'team/nameless', null, { layer: 'nameless' })
    await vi.waitFor(async () => expect((await projectNow()).used_bytes).toBe(before + sizeBytes))
    const told = async () => (await call(app, messages.list, { token: owner.token, query: {} })).items.filter(({ kind }) => kind === 'ims.projectOver')
    await vi.waitFor(async () => expect(await told()).toMatchObject([{ text: expect.stringContaining('镜像项目“team”') as string, about: { id: project.id } }]))
    expect(await (await tokenFor('repository:team/app:push', `${owner.name}:${registryPassword}`)).json()).toMatchObject({ errors: [{ code: 'DENIED' }] })
    await set(null)
    // It is deleted with its repository, rests and comes back as what it is.
    await call(app, repositories.delete, { token: owner.token, params: at('nameless') })
    const place = { id: registry.id, pid: project.id }
    const [binned] = (await call(app, tagBin.list, { token: owner.token, params: place, query: { keyword: 'nameless' } })).items
    expect(binned).toMatchObject({ name: digest, digest })
    await call(app, tagBin.delete, { token: owner.token, params: { ...place, bin_id: binned?.id ?? '' } })
    expect(await client.manifest('team/nameless', digest)).toBeNull()
    expect((await projectNow()).used_bytes).toBe(before)
  })

  it('keep a deleted project deleted, and its name for whose it was while something of it may come', async () => {
    const made = await call(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name: 'gone' } })
    const client = as(account(owner.name, registryPassword))
    await pushImage(client, 'gone/app', '1', { layer: 'gone' })
    await vi.waitFor(async () =>
      expect((await call(app, registryProjects.list, { token: owner.token, params: { id: registry.id }, query: { keyword: 'gone' } })).items).toMatchObject([
        { tag_count: 1 },
      ]),
    )
    const late = await call(app, repositoryAccess.push, { token: owner.token, params: { id: registry.id, pid: made.id, name: 'app' } })
    await call(app, registryProjects.delete, { token: owner.token, params: { id: registry.id, pid: made.id }, query: { force: 'true' } })
    // By a token that was out.
    await pushImage(as({ kind: 'minted', mint: async () => late.token }), 'gone/app', 'late', { layer: 'late' })
    await call(app, registries.action, { token: admin.token, params: { id: registry.id }, query: { action: 'reconcile' } })
    expect((await call(app, registryProjects.list, { token: admin.token, params: { id: registry.id }, query: { keyword: 'gone' } })).items).toEqual([])
    const again = (who: SignedIn) => send(app, registryProjects.create, { token: who.token, params: { id: registry.id }, body: { name: 'gone' } })
    expect(await again(stranger)).toMatchObject({ body: { code: 97010 } })
    expect(await again(owner)).toMatchObject({ status: 201 })
    expect((await call(app, repositories.all, { token: owner.token, params: { id: registry.id }, query: { keyword: 'gone' } })).items).toEqual([])
  })

  it('that had images before they were registered give them to nobody who makes a project of that name', async () => {
    const full = await startRegistry()
    try {
      const bare = createRegistry({ url: full.url, credentials: { kind: 'none' } })
      clients.push(bare)
      await pushImage(bare, 'before/app', '1', { layer: 'before' })
      const made = await call(app, registries.create, { token: admin.token, body: { name: 'full', connection: { engine: 'distribution', url: full.url } } })
      const claim = (name: string) => send(app, registryProjects.create, { token: stranger.token, params: { id: made.id }, body: { name } })
      expect(await claim('before')).toMatchObject({ body: { code: 97010 } })
      expect(await claim('after')).toMatchObject({ status: 201 })
      await call(app, registries.delete, { token: admin.token, params: { id: made.id }, query: { force: 'true' } })
    } finally {
      await full.stop()
    }
  })

  it('are not collected while a token to push or delete by is good, which is longer than it says', async () => {
    const at = Date.now()
    for (const action of ['push', 'delete']) {
      await app.platform.db.updateTable('registries').set({ push_until: null }).execute()
      await tokenFor(`repository:team/app:${action}`, `${owner.name}:${registryPassword}`)
      const { push_until } = await app.platform.db.selectFrom('registries').select('push_until').where('id', '=', registry.id).executeTakeFirstOrThrow()
      // Registries take it for a minute more.
      expect((push_until?.getTime() ?? 0) - at).toBeGreaterThan(360_000)
    }
  })

  it('keep tags that must not move where they are', async () => {
    const fixed = await call(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name: 'fixed', immutable_tags: ['v*'] } })
    const client = as(account(owner.name, registryPassword))
    const { digest } = await pushImage(client, 'fixed/app', 'v1', { layer: 'one' })
    const params = { id: registry.id, pid: fixed.id, name: 'app' }
    const tags = async () => (await call(app, repositories.tags, { token: owner.token, params, query: {} })).items
    await vi.waitFor(async () => expect(await tags()).toMatchObject([{ digest, immutable: true }]))
    await pushImage(client, 'fixed/app', 'v1', { layer: 'two' })
    await vi.waitFor(async () => expect(await client.head('fixed/app', 'v1')).toBe(digest))
    expect(await tags()).toMatchObject([{ digest }])
    expect(await refused(app, repositories.deleteTag, { token: owner.token, params: { ...params, tag: 'v1' } })).toMatchObject({ code: 97013 })
    // By its digest neither.
    expect(await grantedBy(await tokenFor('repository:fixed/app:pull,delete', `${owner.name}:${registryPassword}`))).toMatchObject([{ actions: ['pull'] }])
    await expect(client.deleteManifest('fixed/app', digest)).rejects.toMatchObject({ kind: 'unauthorized' })
  })

  it('show an index of several platforms as one thing, and how each was built', async () => {
    const client = as(account(owner.name, registryPassword))
    const [one, other] = [
      await pushImage(client, 'team/many', null, { layer: 'amd' }),
      await pushImage(client, 'team/many', null, { layer: 'arm', architecture: 'arm64' }),
    ]
    await pushIndex(client, 'team/many', 'latest', [
      { ...one, os: 'linux', architecture: 'amd64' },
      { ...other, os: 'linux', architecture: 'arm64' },
    ])
    await vi.waitFor(async () => expect(await tagsOf('many')).toHaveLength(1))
    expect((await tagsOf('many'))[0]?.platforms.map(({ architecture }) => architecture)).toEqual(['amd64', 'arm64'])
    const history = await call(app, repositories.buildHistory, { token: owner.token, params: at('many'), query: { tag: 'latest', architecture: 'arm64' } })
    expect(history).toMatchObject({
      digest: other.digest,
      command: ['sh'],
      items: [{ created_by: 'ADD arm', digest: expect.stringMatching(/^sha256:/) as string }, { digest: null }],
    })
    expect(
      await refused(app, repositories.buildHistory, { token: owner.token, params: at('many'), query: { tag: 'latest', architecture: 'riscv' } }),
    ).toMatchObject({ code: 97017 })
  })

  it('are known as they are after whatever was not told', async () => {
    const silent = running.restart.bind(running)
    const client = as(account(owner.name, registryPassword))
    await pushImage(client, 'team/quiet', 'stays', { layer: 'stays' })
    await pushImage(client, 'team/quiet', 'goes', { layer: 'goes' })
    await vi.waitFor(async () => expect(await tagsOf('quiet')).toHaveLength(2))
    // Nobody tells from now on, and nobody has to be asked for a token.
    await running.kill()
    await silent('')
    const bare = as({ kind: 'none' })
    await bare.deleteManifest('team/quiet', (await bare.head('team/quiet', 'goes')) ?? '')
    await pushImage(bare, 'team/quiet', 'came', { layer: 'came' })
    await pushImage(bare, 'before/us', 'x', { layer: 'x' })
    await call(app, registries.action, { token: admin.token, params: { id: registry.id }, query: { action: 'reconcile' } })
    expect((await tagsOf('quiet')).map(({ name }) => name).toSorted()).toEqual(['came', 'stays'])
    const seen = await call(app, registryProjects.list, { token: admin.token, params: { id: registry.id }, query: { keyword: 'before' } })
    expect(seen.items).toMatchObject([{ name: 'before', bp_id: null, tag_count: 1 }])
  })

  it('that nobody knows tell us nothing', async () => {
    const tell = (id: string, secret: string, body: string) =>
      fetch(`${url}/api/ims/v1/docker/registries/${id}/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/vnd.docker.distribution.events.v2+json' },
        body,
      })
    expect((await tell(registry.id, 'wrong', '{"events":[]}')).status).toBe(401)
    // Nothing of what they send is read: it would be no JSON.
    expect((await tell(registry.id, 'wrong', '{'.repeat(1_000_000))).status).toBe(401)
    expect((await tell(project.id, 'wrong', '{"events":[]}')).status).toBe(401)
    expect((await tell(registry.id, registry.notifications?.secret ?? '', '{"events":[]}')).status).toBe(200)
    expect((await tell(registry.id, registry.notifications?.secret ?? '', '{"events":{}}')).status).toBe(400)
    expect((await tell(registry.id, registry.notifications?.secret ?? '', '{')).status).toBe(400)
  })

  it.each(['..', '_catalog', 'UPPER', 'a//b', 'a/../b', 'x'.repeat(256), 'ends-'])('have no project %s', async (name) => {
    expect(await refused(app, registryProjects.create, { token: owner.token, params: { id: registry.id }, body: { name } })).toMatchObject({
      fields: [{ field: 'name' }],
    })
  })

  it('are taken away by force where there is something in them', async () => {
    expect(await refused(app, registries.delete, { token: admin.token, params: { id: registry.id }, query: {} })).toMatchObject({ code: 97006 })
    await call(app, registries.delete, { token: admin.token, params: { id: registry.id }, query: { force: 'true' } })
    expect((await call(app, registries.list, { token: admin.token, query: {} })).total).toBe(0)
  })
})
