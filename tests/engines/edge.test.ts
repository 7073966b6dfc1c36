import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { edgeImages, edges, edgeUpgrades, gateways, type Edge, type Enrolment } from '@zhisuan/contract/ecrm/edge'
import { regions, sites } from '@zhisuan/contract/ecrm/region'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { defaultSocketPath, socketTransport } from '@zhisuan/engines/docker/socket'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const run = promisify(execFile)

/** A whole server and whole agents, as processes of their own. */
describe('nodes with real agents', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let admin: Client
  let owner: Client
  let stranger: Client
  let accounts: Awaited<ReturnType<typeof register>>[]
  let port: string
  const agents: RunningAgent[] = []

  const restart = async (): Promise<void> => {
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', TRUST_PROXY: '1', ...(port !== undefined && { PORT: port }) })
    port = new URL(server.url).port
    admin = await asAdministrator(server)
    accounts ??= [await register(server.url, 'edge-owner', '节点所有者'), await register(server.url, 'edge-stranger', '无关组织')]
    const [one, two] = await Promise.all(
      accounts.map(async ({ username, password }) => {
        const client = new Client(server.url)
        await client.signIn(username, password)
        return client
      }),
    )
    if (one === undefined || two === undefined) throw new Error('two signed in')
    ;[owner, stranger] = [one, two]
  }
  beforeAll(async () => {
    data = temporaryFolder('edge')
    await restart()
  })
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.kill()))
    await server.stop()
    data.remove()
  })

  const directory = (name: string): string => join(data.path, `agent-${name}`)
  const agent = (...parameters: string[]): RunningAgent => {
    const started = startAgent(parameters)
    agents.push(started)
    return started
  }
  const create = (name: string, confirm: 'auto' | 'manual' = 'auto'): Promise<{ edge: Edge; enrolment: Enrolment }> =>
    owner.call(edges.create, { body: { name, confirm } })
  const get = (id: string, client = owner) => client.call(edges.get, { params: { id } })
  const is = (id: string, status: string, timeoutMs = 20_000) => until(async () => (await get(id)).status === status, `${id} ${status}`, timeoutMs)

  it('enrols with the printed command, waits to be confirmed, and tells what the node is', async () => {
    const { edge, enrolment } = await create('first', 'manual')
    const running = agent('serve', '--data', directory('first'), ...parametersOf(enrolment.command))
    await is(edge.id, 'unconfirmed')
    const waiting = await until(async () => {
      const now = await get(edge.id)
      return now.facts !== null && now
    }, 'facts')
    expect(waiting).toMatchObject({ status: 'unconfirmed', host_name: hostname() })
    await owner.call(edges.confirm, { params: { id: edge.id }, body: {} })
    expect(await get(edge.id)).toMatchObject({ status: 'online', facts: { cpu: { threads: expect.any(Number) }, memory_bytes: expect.any(Number) } })
    await until(async () => (await get(edge.id)).metrics, 'metrics')
    await expect(get(edge.id, stranger)).rejects.toThrow(/404/)
    // Its key and its place are kept: it comes back without a token.
    await running.stop()
    await is(edge.id, 'offline')
    agent('serve', '--data', directory('first'))
    await is(edge.id, 'online')
  })

  it('is offline in less than 15 seconds when the agent is killed, and back when it is', async () => {
    const { edge, enrolment } = await create('killed')
    const running = agent('serve', '--data', directory('killed'), ...parametersOf(enrolment.command))
    await is(edge.id, 'online')
    await running.kill()
    await is(edge.id, 'offline', 15_000)
    agent('serve', '--data', directory('killed'))
    await is(edge.id, 'online')
  })

  it('is offline in less than 15 seconds when the agent hangs', async () => {
    const { edge, enrolment } = await create('hanging')
    const running = agent('serve', '--data', directory('hanging'), ...parametersOf(enrolment.command))
    await is(edge.id, 'online')
    running.signal('SIGSTOP')
    await is(edge.id, 'offline', 15_000)
    running.signal('SIGCONT')
    await is(edge.id, 'online', 40_000)
  })

  it('comes back by itself after the server was killed, and is offline until it does', async () => {
    const { edge, enrolment } = await create('staying')
    const running = agent('serve', '--data', directory('staying'), ...parametersOf(enrolment.command))
    await is(edge.id, 'online')
    running.signal('SIGSTOP')
    server.process.kill('SIGKILL')
    await server.ended
    await restart()
    // Another server may have been killed, which is known once it was not heard of for some seconds.
    await is(edge.id, 'offline')
    running.signal('SIGCONT')
    await is(edge.id, 'online', 40_000)
  })

  it('is refused when it was unbound', async () => {
    const { edge, enrolment } = await create('unbound')
    const running = agent('serve', '--data', directory('unbound'), ...parametersOf(enrolment.command))
    await is(edge.id, 'online')
    await owner.call(edges.unbind, { body: { ids: [edge.id] } })
    await until(async () => /does not know this node/.test(running.said()), 'the agent to be refused')
    expect((await get(edge.id)).status).toBe('unbound')
  })

  it('changes its version when it is told to, and goes back from one that does not work, by the states of the specification', async () => {
    const release = (version: string): string => join(data.path, 'agents', version)
    for (const version of ['9.1.0', '9.1.1']) await run('node', ['scripts/build-agent.mjs', '--version', version, '--out', release(version)])
    mkdirSync(release('9.2.0'))
    writeFileSync(join(release('9.2.0'), 'agent.mjs'), 'process.exit(1)\n')
    const { edge, enrolment } = await create('upgraded')
    agent('run', '--data', directory('upgraded'), ...parametersOf(enrolment.command))
    await is(edge.id, 'online')
    const before = (await get(edge.id)).agent_version
    const sql = new pg.Client({ connectionString: server.databaseUrl })
    await sql.connect()
    try {
      // Some last for moments only.
      await sql.query(`
        create table statuses (n serial, status integer not null);
        create function note_status() returns trigger language plpgsql as $$ begin insert into statuses (status) values (new.status); return new; end $$;
        create trigger edge_upgrades_note after insert or update of status on edge_upgrades for each row execute function note_status();`)
      const upgrade = async (version: string, ends: readonly number[], confirm: 'auto' | 'manual' = 'auto') => {
        await owner.call(edgeUpgrades.upgrade, { params: { id: edge.id }, body: { version, confirm } })
        return until(
          async () => {
            const now = await get(edge.id)
            return now.upgrade !== null && ends.includes(now.upgrade.status) && now
          },
          `the upgrade to ${version} to end`,
          60_000,
        )
      }
      /** Those since the last time, each once. */
      const statuses = async (): Promise<number[]> => {
        const { rows } = await sql.query<{ status: number }>('with gone as (delete from statuses returning n, status) select status from gone order by n')
        return rows.map(({ status }) => status).filter((status, index, all) => status !== all[index - 1])
      }
      expect(await upgrade('9.1.0', [20, 40])).toMatchObject({ agent_version: '9.1.0', upgrade: { status: 40, from: before, to: '9.1.0' } })
      expect(await statuses()).toEqual([1, 2, 3, 40])
      expect(await upgrade('9.1.1', [20, 4], 'manual')).toMatchObject({ agent_version: '9.1.1', upgrade: { status: 4, from: '9.1.0', to: '9.1.1' } })
      expect(await owner.call(edges.confirm, { params: { id: edge.id }, body: { what: 'upgrade' } })).toMatchObject({ upgrade: { status: 40 } })
      expect(await statuses()).toEqual([1, 2, 4, 40])
      expect(await upgrade('9.2.0', [20, 40])).toMatchObject({
        agent_version: '9.1.1',
        status: 'online',
        upgrade: { status: 20, from: '9.1.1', to: '9.2.0', error: expect.stringContaining('9.1.1') },
      })
      expect(await statuses()).toEqual([1, 2, 5, 20])
    } finally {
      await sql.query('drop trigger if exists edge_upgrades_note on edge_upgrades; drop function if exists note_status; drop table if exists statuses')
      await sql.end()
    }
  })

  it('comes by a gateway, and no more when that is closed', async () => {
    const gatewayPort = await freePort()
    const { id: region_id } = await admin.call(regions.create, { body: { name: '网关区域' } })
    const { id: site_id } = await admin.call(sites.create, { body: { name: '网关站点', region_id } })
    const first = await owner.call(edges.create, { body: { name: 'gateway', confirm: 'auto', site_id } })
    agent('serve', '--data', directory('gateway'), ...parametersOf(first.enrolment.command))
    await is(first.edge.id, 'online')
    const made = await admin.call(gateways.create, { body: { name: 'gateway', edge_id: first.edge.id, address: '127.0.0.1', port: gatewayPort } })
    expect(made).toMatchObject({ status: 'active', error: null, agent_count: 0 })
    const { edge, enrolment } = await create('behind')
    agent('serve', '--data', directory('behind'), ...parametersOf(enrolment.command), '--via', `127.0.0.1:${gatewayPort}`)
    await is(edge.id, 'online')
    expect(await admin.call(gateways.list)).toMatchObject({ items: [{ status: 'active', agent_count: 1 }] })
    const params = { id: made.id }
    await admin.call(gateways.action, { params, query: { action: 'deactive' } })
    await is(edge.id, 'offline', 15_000)
    await admin.call(gateways.action, { params, query: { action: 'active' } })
    await is(edge.id, 'online', 40_000)
  })

  it.skipIf(!existsSync(defaultSocketPath) && process.env['CI'] === undefined)(
    'shows the images of its Docker, removes one, and says why one cannot be pulled',
    async () => {
      const docker = createDocker(socketTransport())
      const image = `zs-edge-${randomUUID()}:1`
      const { edge, enrolment } = await create('images')
      agent('serve', '--data', directory('images'), ...parametersOf(enrolment.command))
      await is(edge.id, 'online')
      const params = { id: edge.id }
      mkdirSync(join(data.path, 'rootfs'))
      writeFileSync(join(data.path, 'rootfs', 'mark'), image)
      const { stdout } = await run('tar', ['-C', join(data.path, 'rootfs'), '-c', '.'], { encoding: 'buffer' })
      try {
        await docker.images.import(image, stdout)
        const tagged = async () => (await owner.call(edgeImages.images, { params, query: { keyword: image } })).items
        expect(await tagged()).toMatchObject([{ tags: [image], used_by: [] }])
        const { pull_id } = await owner.call(edgeImages.pullImage, { params, body: { image: '127.0.0.1:1/zs-none:1' } })
        const pull = await until(async () => {
          const now = await owner.call(edgeImages.pull, { params: { ...params, pull_id } })
          return now.status !== 'running' && now
        }, 'the pull to end')
        expect(pull).toMatchObject({ status: 'failed', error: expect.stringContaining('无法连接镜像仓库') })
        await owner.call(edgeImages.removeImage, { params, query: { image } })
        expect(await tagged()).toEqual([])
        await expect(docker.images.inspect(image)).rejects.toMatchObject({ kind: 'not_found' })
      } finally {
        await docker.images.remove(image, { force: true }).catch(() => undefined)
      }
    },
  )

  it('takes no token twice, none that has ended, none that is made up, and no other server', async () => {
    const { edge, enrolment } = await create('tokens')
    const [, , , token = '', , key = ''] = parametersOf(enrolment.command)
    const enrol = async (name: string, wish: { token?: string; key?: string } = {}): Promise<{ code: number | null; said: string }> => {
      const running = agent('enrol', '--data', directory(name), '--server', server.url, '--token', wish.token ?? token, '--key', wish.key ?? key)
      const code = await running.ended
      return { code, said: running.said() }
    }
    // The command is made anew: the one before is worth nothing.
    const again = await owner.call(edges.qrcode, { params: { id: edge.id } })
    expect(await enrol('ended')).toMatchObject({ code: 1 })
    expect((await enrol('made-up', { token: 'x'.repeat(32) })).code).toBe(1)
    expect(await enrol('once', { token: again.token })).toMatchObject({ code: 0 })
    expect((await enrol('twice', { token: again.token })).code).toBe(1)
    expect((await get(edge.id)).status).toBe('offline')
    const other = await create('other-server')
    expect(await enrol('other-server', { token: parametersOf(other.enrolment.command)[3] ?? '', key: `MCowBQYDK2VwAyEA${'A'.repeat(43)}` })).toMatchObject({
      code: 1,
      said: expect.stringContaining('not the server with that key'),
    })
  })
})
