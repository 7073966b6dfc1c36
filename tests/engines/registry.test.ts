import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { containers } from '@zhisuan/contract/cis/container'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { preheats } from '@zhisuan/contract/ims/preheat'
import { registryProjects, repositories, tagBin, type RegistryProject } from '@zhisuan/contract/ims/project'
import { registries, registryCommands, registryUsers, type Registry } from '@zhisuan/contract/ims/registry'
import { accessKeys } from '@zhisuan/contract/ums/access-key'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { createRegistry } from '@zhisuan/engines/registry/client'
import { pushImage, pushIndex, registryIsThere } from '@zhisuan/engines/registry/testing'
import type { Registry as RegistryClient } from '@zhisuan/engines/registry/types'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { policyOf } from '../../apps/server/src/testing/policies.ts'
import { register } from '../browser/people.ts'
import { password } from '../browser/stage.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, untilTold, type RunningServer } from '../support/server.ts'

const run = promisify(execFile)
const registryPassword = 'Registry-pass-1'

/** A registry that a real agent keeps on this host, judged by docker and skopeo as everybody has them. */
describe.skipIf(!dockerIsThere || !registryIsThere)('a registry that the platform runs', () => {
  const docker = createDocker(socketTransport())
  const local = `zs-registry-${randomUUID().slice(0, 8)}:1`
  const pulled: string[] = []
  let data: TemporaryFolder
  let server: RunningServer
  let agent: RunningAgent | undefined
  let admin: Client
  let owner: Client
  let stranger: Client
  let account: { owner: string; stranger: string }
  let registry: Registry
  let project: RegistryProject
  let address: string
  let serverPort: number
  let nodeId: string

  const start = async (): Promise<void> => {
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', PORT: String(serverPort), PUBLIC_URL: `http://localhost:${serverPort}` })
  }
  /** Programs find what they were signed in by in a folder of this test. */
  const home = (): string => join(data.path, 'home')
  const cli = async (program: string, ...parameters: string[]): Promise<string> => {
    const { stdout, stderr } = await run(program, parameters, {
      env: { ...process.env, HOME: home(), DOCKER_CONFIG: join(home(), '.docker'), REGISTRY_AUTH_FILE: join(home(), 'auth.json') },
      maxBuffer: 16 * 2 ** 20,
    })
    return `${stdout}${stderr}`
  }
  /** What a program says when it is refused. */
  const refusedCli = (program: string, ...parameters: string[]): Promise<string> =>
    cli(program, ...parameters).then(
      (said) => Promise.reject(new Error(`it was not refused:\n${said}`)),
      (error: { stdout?: string; stderr?: string }) => `${error.stdout ?? ''}${error.stderr ?? ''}`,
    )
  /** Trusts our authority. */
  const certificates = (): string => join(home(), 'certs')
  const skopeo = (...parameters: string[]): Promise<string> => cli('skopeo', ...parameters)
  const creds = (login: string): string[] => ['--creds', login, '--cert-dir', certificates()]
  const from = (login: string): string[] => ['--src-creds', login, '--src-cert-dir', certificates()]
  const to = (login: string): string[] => ['--dest-creds', login, '--dest-cert-dir', certificates()]
  const login = (): string => `${account.owner}:${registryPassword}`

  const at = (name: string) => ({ id: registry.id, pid: project.id, name })
  const tagsOf = async (name: string): Promise<string[]> =>
    (await owner.call(repositories.tags, { params: at(name), query: { page_size: '100' } }).catch(() => ({ items: [] }))).items
      .map((one) => one.name)
      .toSorted()
  const shown = (): Promise<Registry> => admin.call(registries.get, { params: { id: registry.id } }) as Promise<Registry>
  /** All that it has, by itself. */
  const client = (): RegistryClient =>
    createRegistry({
      url: registry.url,
      certificateAuthority: registry.certificate_authority ?? '',
      credentials: { kind: 'account', username: account.owner, password: registryPassword },
    })
  const programs = (): number[] => allPids().filter((pid) => markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true)
  /** What the registry has on its disk: of a repository the manifests, also those that no name leads to, with all that each refers to. */
  const stored = (repository: string): Map<string, Map<string, number>> => {
    const root = join(data.path, 'agent', 'kept', 'programs', registry.id, 'data', 'docker', 'registry', 'v2')
    const revisions = join(root, 'repositories', repository, '_manifests', 'revisions', 'sha256')
    const contentOf = (digest: string): string => join(root, 'blobs', 'sha256', digest.slice(7, 9), digest.slice(7), 'data')
    const there = new Map<string, Map<string, number>>()
    for (const hex of existsSync(revisions) ? readdirSync(revisions) : []) {
      // What was deleted leaves its folder.
      if (!existsSync(join(revisions, hex, 'link'))) continue
      const digest = `sha256:${hex}`
      const { config, layers = [] } = JSON.parse(readFileSync(contentOf(digest), 'utf8')) as { config?: { digest: string }; layers?: { digest: string }[] }
      const parts = [digest, ...[...(config === undefined ? [] : [config]), ...layers].map((part) => part.digest)]
      there.set(digest, new Map(parts.map((part) => [part, statSync(contentOf(part)).size])))
    }
    return there
  }
  /**
   * After the next comparison: names as the registry tells them, manifests and sizes as they lie there.
   * @param of `torn`: a push was cut off there, and may have left manifests that no name leads to, of which a registry tells nobody
   */
  const isAsItsIndex = async ({ whole, torn = [] }: { whole: readonly string[]; torn?: readonly string[] }): Promise<void> => {
    await admin.call(registries.action, { params: { id: registry.id }, query: { action: 'reconcile' } })
    const database = new pg.Client({ connectionString: server.databaseUrl })
    const asked = client()
    await database.connect()
    try {
      for (const name of [...whole, ...torn]) {
        const repository = `team/${name}`
        expect(await tagsOf(name), repository).toEqual((await asked.tags(repository)).items.toSorted())
        for (const tag of (await owner.call(repositories.tags, { params: at(name), query: { page_size: '100' } })).items)
          expect(await asked.head(repository, tag.name), `${repository}:${tag.name}`).toBe(tag.digest)
        const { rows } = await database.query<{ digest: string; used_bytes: string }>(
          `select m.digest, r.used_bytes from registry_manifests as m join registry_repositories as r on r.id = m.repository_id
           where r.project_id = $1 and r.name = $2 order by m.digest`,
          [project.id, name],
        )
        const there = stored(repository)
        const known = rows.map(({ digest }) => digest)
        const unknown = [...there.keys()].filter((digest) => !known.includes(digest))
        expect(
          known.filter((digest) => !there.has(digest)),
          `${repository}: only in the index`,
        ).toEqual([])
        if (whole.includes(name)) expect(unknown, `${repository}: only in the registry`).toEqual([])
        const sizes = new Map(known.flatMap((digest) => [...(there.get(digest) ?? [])]))
        expect(Number(rows[0]?.used_bytes ?? 0), repository).toBe([...sizes.values()].reduce((sum, size) => sum + size, 0))
      }
    } finally {
      await asked.close()
      await database.end()
    }
  }
  const becomes = async (status: Registry['status']): Promise<Registry> =>
    until(async () => {
      const now = await shown()
      if (now.status === 'error') throw new Error(now.error ?? 'error')
      return now.status === status && now.operation_id === null && now
    }, `the registry to be ${status}`)

  beforeAll(async () => {
    await importBusybox(docker, local)
    data = temporaryFolder('registry')
    mkdirSync(join(home(), '.docker'), { recursive: true })
    serverPort = await freePort()
    await start()
    admin = await asAdministrator(server)
    const people = { owner: await register(server.url, 'registry-owner'), stranger: await register(server.url, 'registry-stranger') }
    account = { owner: people.owner.username, stranger: people.stranger.username }
    owner = new Client(server.url)
    await owner.signIn(people.owner.username, people.owner.password)
    stranger = new Client(server.url)
    await stranger.signIn(people.stranger.username, people.stranger.password)
    for (const person of [owner, stranger]) await person.call(registryUsers.create, { body: { password: registryPassword } })

    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    nodeId = edge.id
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online')
    registry = await admin.call(registries.create, { body: { name: 'main', place: { node_id: edge.id, host: '127.0.0.1', port: await freePort() } } })
    expect(registry).toMatchObject({ status: 'installing', origin: 'kept', node: { id: edge.id }, tls: { kind: 'ours' } })
    registry = await becomes('active')
    ;({ address } = registry)
    mkdirSync(certificates())
    writeFileSync(join(certificates(), 'ca.crt'), registry.certificate_authority ?? '')
    project = await owner.call(registryProjects.create, { params: { id: registry.id }, body: { name: 'team' } })
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    for (const image of [local, ...pulled]) await docker.images.remove(image, { force: true }).catch(() => undefined)
    data?.remove()
  })

  it('is pushed to and pulled from by docker, and its tags are there within two seconds', async () => {
    const { items } = await owner.call(registryCommands.create, { body: { registry_id: registry.id, project: 'team', repository: 'app', tag: '1.0' } })
    expect(items[0]?.login).toEqual([`docker login ${address} -u ${account.owner}`])
    const image = `${address}/team/app:1.0`
    pulled.push(image)
    await cli('docker', 'login', address, '-u', account.owner, '-p', registryPassword)
    await cli('docker', 'tag', local, image)
    await cli('docker', 'push', image)
    const pushedAt = Date.now()
    await untilTold(async () => (await tagsOf('app')).length > 0, 'the tag to be there')
    expect(Date.now() - pushedAt).toBeLessThan(2_000)
    await cli('docker', 'rmi', image)
    expect(await cli('docker', 'pull', image)).toContain('Downloaded newer image')
  })

  it('is copied to, listed and deleted from by skopeo; an image of several platforms is one thing', async () => {
    const registryClient = client()
    const [one, other] = [
      await pushImage(registryClient, 'team/many', null, { layer: 'amd' }),
      await pushImage(registryClient, 'team/many', null, { layer: 'arm', architecture: 'arm64' }),
    ]
    const digest = await pushIndex(registryClient, 'team/many', 'latest', [
      { ...one, os: 'linux', architecture: 'amd64' },
      { ...other, os: 'linux', architecture: 'arm64' },
    ])
    await registryClient.close()
    await skopeo(
      'copy',
      '--all',
      '--preserve-digests',
      ...from(login()),
      ...to(login()),
      `docker://${address}/team/many:latest`,
      `docker://${address}/team/copy:v1`,
    )
    await untilTold(async () => (await tagsOf('copy')).length > 0, 'the copy to be there')
    const [tag] = (await owner.call(repositories.tags, { params: at('copy') })).items
    expect(tag).toMatchObject({ digest, platforms: [{ architecture: 'amd64' }, { architecture: 'arm64' }] })
    expect(JSON.parse(await skopeo('list-tags', ...creds(login()), `docker://${address}/team/copy`))).toMatchObject({ Tags: ['v1'] })
    await skopeo('delete', ...creds(login()), `docker://${address}/team/copy:v1`)
    await untilTold(async () => (await tagsOf('copy')).length === 0, 'the tag to be gone')
    // It rests in the bin, and comes back as what it was.
    const place = { id: registry.id, pid: project.id }
    const [binned] = (await owner.call(tagBin.list, { params: place, query: { keyword: 'copy' } })).items
    expect(binned).toMatchObject({ name: 'v1', digest, deleted_by: account.owner })
    await owner.call(tagBin.restore, { params: { ...place, bin_id: binned?.id ?? '' } })
    expect(await skopeo('inspect', '--raw', ...creds(login()), `docker://${address}/team/copy:v1`)).toBe(
      await skopeo('inspect', '--raw', ...creds(login()), `docker://${address}/team/many:latest`),
    )
  })

  it('lets a key pull and not push where its policy says so', async () => {
    const document = policyOf({ Effect: 'Allow', Action: '*', Resource: '*' }, { Effect: 'Deny', Action: 'ims.repository.push', Resource: '*' })
    const made = await owner.call(accessKeys.create, { body: { name: 'reader', scheme: 'bearer', password, document } })
    const reader = `${made.key.id}:${made.secret}`
    await skopeo('copy', ...from(reader), `docker://${address}/team/app:1.0`, `dir:${join(data.path, 'read')}`)
    expect(await refusedCli('skopeo', 'copy', ...to(reader), `dir:${join(data.path, 'read')}`, `docker://${address}/team/app:2.0`)).toMatch(
      /denied|unauthorized/i,
    )
  })

  it('refuses a wrong password, another organisation, and a key whose time is over', async () => {
    const inspect = ['inspect', '--cert-dir', certificates(), `docker://${address}/team/app:1.0`]
    const refusedTo = (as: string) => refusedCli('skopeo', ...inspect, '--creds', as)
    expect(await refusedTo(`${account.owner}:wrong`)).toMatch(/unauthorized|用户名或密码错误/)
    expect(await refusedTo(`${account.stranger}:${registryPassword}`)).toMatch(/unauthorized|denied/i)
    const expires_at = new Date(Date.now() + 4_000).toISOString()
    const made = await owner.call(accessKeys.create, { body: { name: 'brief', scheme: 'bearer', password, expires_at } })
    const key = `${made.key.id}:${made.secret}`
    await skopeo(...inspect, '--creds', key)
    await until(async () => new Date() > new Date(expires_at), 'its time to be over')
    expect(await refusedTo(key)).toMatch(/unauthorized/i)
  })

  it('is what nodes have their images from, before somebody needs them and then, and keeps no credentials there', async () => {
    const image = `${address}/team/app:1.0`
    const order = (names: readonly string[]) =>
      admin.call(preheats.create, {
        params: { id: registry.id },
        body: { images: names.map((repository) => ({ repository, tag: '1.0' })), nodes: { node_ids: [nodeId] } },
      })
    const ended = (id: string) =>
      until(async () => {
        const now = await admin.call(preheats.get, { params: { id } })
        return now.ended_at !== null && now
      }, 'the images to be there')
    // Docker asks nobody for layers that it has under another name.
    for (const one of [image, local]) await docker.images.remove(one, { force: true })
    const { status, targets } = await ended((await order(['team/app', 'team/none'])).id)
    expect(status, JSON.stringify(targets)).toBe('partial')
    expect(targets).toMatchObject([
      { image, state: 'done', layers: [{ status: 'Pull complete' }] },
      { state: 'failed', error: expect.stringContaining('没有该镜像') as string },
    ])
    expect(await ended((await order(['team/app'])).id)).toMatchObject({ status: 'succeeded', targets: [{ state: 'there' }] })

    // Killed in the middle: whoever comes after ends it.
    await docker.images.remove(image, { force: true })
    const { id } = await order(['team/app'])
    server.process.kill('SIGKILL')
    await server.ended
    await start()
    await until(async () => (await admin.call(edges.get, { params: { id: nodeId } })).status === 'online', 'the node to be back')
    expect(await ended(id)).toMatchObject({ status: 'succeeded' })
    await isAsItsIndex({ whole: ['app'] })

    await docker.images.remove(image, { force: true })
    const { items } = await admin.call(containers.deploy, {
      body: { name: 'made', spec: { image, restart: 'no', command: ['sh', '-c', 'exec sleep 1000'] }, placement: { edge_ids: [nodeId] } },
    })
    const params = { id: items[0]?.id ?? '' }
    await until(async () => {
      const now = await admin.call(containers.get, { params })
      if (now.status === 'error') throw new Error(now.error ?? 'error')
      return now.status === 'running'
    }, 'the container to run')
    await until(
      async () =>
        admin.call(containers.delete, { params }).then(
          () => true,
          () => false,
        ),
      'the deletion to be taken',
    )
    await until(async () => (await admin.call(containers.list)).total === 0, 'the container to be gone')
    await cli('docker', 'pull', image)
  })

  it('is killed in the middle of bringing an image to a node, which gets it all the same', async () => {
    const image = `${address}/team/large:1`
    pulled.push(image)
    const file = join(data.path, 'large')
    await cli('sh', '-c', `head -c 80000000 /dev/urandom > ${file} && tar -C ${data.path} -cf - large | docker import - ${image} && rm ${file}`)
    await cli('docker', 'push', image)
    await untilTold(async () => (await tagsOf('large')).length > 0, 'the image to be there')
    await docker.images.remove(image, { force: true })
    const { id } = await admin.call(preheats.create, {
      params: { id: registry.id },
      body: { images: [{ repository: 'team/large', tag: '1' }], nodes: { node_ids: [nodeId] } },
    })
    const target = async () => (await admin.call(preheats.get, { params: { id } })).targets[0]
    await until(async () => (await target())?.state === 'pulling', 'the pull to begin')
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    const said = new Set<string>()
    const ended = await until(
      async () => {
        const now = await admin.call(preheats.get, { params: { id } })
        const { error = null } = now.targets[0] ?? {}
        if (error !== null) said.add(error)
        return now.ended_at !== null && now
      },
      'the image to be there',
      90_000,
    )
    expect(ended, [...said].join('\n')).toMatchObject({ status: 'succeeded', targets: [{ state: 'done', error: null }] })
    expect((await docker.images.inspect(image)).sizeBytes).toBeGreaterThan(79_000_000)
    await isAsItsIndex({ whole: ['large', 'app', 'many', 'copy'] })
    expect((await admin.call(registries.log, { params: { id: registry.id }, query: {} })).text).toEqual(expect.any(String))
  }, 150_000)

  it('gives a deleted tag back with its digest', async () => {
    const before = JSON.parse(await skopeo('inspect', ...creds(login()), `docker://${address}/team/app:1.0`)) as { Digest: string }
    await owner.call(repositories.deleteTag, { params: { ...at('app'), tag: '1.0' } })
    await refusedCli('docker', 'pull', `${address}/team/app:1.0`)
    const place = { id: registry.id, pid: project.id }
    const [binned] = (await owner.call(tagBin.list, { params: place })).items
    await owner.call(tagBin.restore, { params: { ...place, bin_id: binned?.id ?? '' } })
    expect(await cli('docker', 'pull', `${address}/team/app:1.0`)).toContain(before.Digest)
  })

  it('frees what was deleted for good, at a quiet moment', async () => {
    const place = { id: registry.id, pid: project.id }
    // Whoever pushed a moment ago may still do so.
    await expect(admin.call(registries.collect, { params: { id: registry.id } })).rejects.toThrow(/97020/)
    const database = new pg.Client({ connectionString: server.databaseUrl })
    await database.connect()
    try {
      await skopeo('copy', ...from(login()), ...to(login()), `docker://${address}/team/app:1.0`, `docker://${address}/team/gone:1`)
      await untilTold(async () => (await tagsOf('gone')).length > 0, 'it to be there')
      await owner.call(repositories.deleteTag, { params: { ...at('gone'), tag: '1' } })
      for (const { id } of (await owner.call(tagBin.list, { params: place })).items) await owner.call(tagBin.delete, { params: { ...place, bin_id: id } })
      expect((await shown()).collectable_bytes).toBeGreaterThan(0)
      await database.query("update registries set push_until = null, collecting_until = now() + interval '1 minute'")
      expect(await refusedCli('skopeo', 'copy', ...to(login()), `dir:${join(data.path, 'read')}`, `docker://${address}/team/app:3`)).toMatch(
        /一分钟后|toomanyrequests|too many/i,
      )
      await skopeo('inspect', ...creds(login()), `docker://${address}/team/app:1.0`)
      await database.query('update registries set push_until = null, collecting_until = null')
      const before = programs()
      await admin.call(registries.collect, { params: { id: registry.id } })
      const after = await until(async () => {
        const now = await shown()
        return now.operation_id === null && now
      }, 'it to be collected')
      expect(after).toMatchObject({ error: null, collectable_bytes: 0, collected_at: expect.any(String) as string, collecting_until: null })
      // The program that did it is gone, what is in use stays.
      expect(programs()).toEqual(before)
      await skopeo('inspect', ...creds(login()), `docker://${address}/team/app:1.0`)
      await skopeo('copy', ...to(login()), `dir:${join(data.path, 'read')}`, `docker://${address}/team/app:4`)
    } finally {
      await database.end()
    }
  })

  it('and its index are the same after both were killed in the middle of pushes and deletions', async () => {
    const registryClient = client()
    const names = Array.from({ length: 12 }, (_, index) => `k${index}`)
    const push = (to: RegistryClient, name: string) => pushImage(to, 'team/killed', name, { layer: `killed ${name}` })
    for (const name of names.slice(0, 6)) await push(registryClient, name)
    await untilTold(async () => (await tagsOf('killed')).length === 6, 'the first to be there')
    const pushes = names.slice(6).map((name) => push(registryClient, name).catch(() => undefined))
    const deletions = names.slice(0, 4).map((tag) => owner.call(repositories.deleteTag, { params: { ...at('killed'), tag } }).catch(() => undefined))
    await new Promise((resolve) => setTimeout(resolve, 40))
    server.process.kill('SIGKILL')
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    await Promise.all([...pushes, ...deletions, server.ended])
    await registryClient.close()
    const startedAt = new Date().toISOString()
    await start()
    const again = client()
    await until(
      async () =>
        again
          .check()
          .then(() => true)
          .catch(() => false),
      'the registry to be there again',
    )
    // By itself, at its start.
    await until(async () => ((await shown()).reconciled_at ?? '') > startedAt, 'the comparison', 60_000)
    await isAsItsIndex({ torn: ['killed'], whole: ['app', 'many', 'copy', 'large'] })
    // A program whose push was cut off pushes again: then what lay there without a name has one.
    for (const name of names.slice(6)) await push(again, name)
    await again.close()
    await untilTold(async () => {
      const tags = await tagsOf('killed')
      return names.slice(6).every((name) => tags.includes(name))
    }, 'the rest to be there')
    await isAsItsIndex({ whole: ['killed'] })
  })

  it('goes with all that is in it, where that is wanted', async () => {
    await expect(admin.call(registries.delete, { params: { id: registry.id } })).rejects.toThrow(/97006/)
    await until(
      async () =>
        admin.call(registries.delete, { params: { id: registry.id }, query: { force: 'true' } }).then(
          () => true,
          () => false,
        ),
      'the deletion to be taken',
    )
    await until(async () => (await admin.call(registries.list)).total === 0, 'it to be gone')
    await until(async () => programs().length === 0, 'its program to be gone')
  })
})
