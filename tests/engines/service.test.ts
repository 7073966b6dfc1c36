import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { databaseServices, serviceAccounts, serviceDatabases, type DatabaseService, type ServiceType } from '@zhisuan/contract/middleware/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { administratorPassword, asAdministrator, Client, killing, startServer, until, type RunningServer } from '../support/server.ts'

const run = promisify(execFile)
const programsAreThere = ['/usr/sbin/mariadbd', '/usr/lib/postgresql/15/bin/postgres', '/usr/bin/redis-server'].every((path) => existsSync(path))

/** Every kind of character that a shell, SQL or a file of settings reads otherwise. */
const hardPassword = `a'b"c\\d$e#f%g;H1`

interface Sign {
  readonly port: number
  readonly user?: string
  readonly password: string
  readonly database?: string
}
/** What people would type: each program's own client. @throws with what it says where it is refused */
const clients: Readonly<Record<ServiceType, { ask(sign: Sign, text: string): Promise<string>; write: string; read: string }>> = {
  mysql: {
    ask: async ({ port, user = 'root', password, database = 'mysql' }, text) =>
      (
        await run('mariadb', ['--no-defaults', '-h127.0.0.1', `-P${port}`, `-u${user}`, '-N', '-e', text, database], {
          env: { ...process.env, MYSQL_PWD: password },
        })
      ).stdout,
    write: "create table if not exists test_shop.kept (text varchar(20)); insert into test_shop.kept values ('well')",
    read: 'select text from test_shop.kept limit 1',
  },
  postgresql: {
    ask: async ({ port, user = 'postgres', password, database = 'postgres' }, text) =>
      (
        await run('psql', ['-h', '127.0.0.1', '-p', String(port), '-U', user, '-d', database, '-At', '-v', 'ON_ERROR_STOP=1', '-c', text], {
          env: { ...process.env, PGPASSWORD: password },
        })
      ).stdout,
    write: "create table if not exists kept (text text); insert into kept values ('well')",
    read: 'select text from kept limit 1',
  },
  redis: {
    ask: async ({ port, password }, text) => {
      const { stdout, stderr } = await run('redis-cli', ['-h', '127.0.0.1', '-p', String(port), ...text.split(' ')], {
        env: { ...process.env, REDISCLI_AUTH: password },
      })
      const said = `${stdout}${stderr}`
      if (/WRONGPASS|NOAUTH|failed|Could not connect|\(error\)/.test(said)) throw new Error(said)
      return said
    },
    write: 'set kept well',
    read: 'get kept',
  },
}

/** Programs that a real agent keeps on this host, asked by their own clients. */
describe.skipIf(!programsAreThere && process.env['CI'] === undefined)('a database or a cache', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let agent: RunningAgent | undefined
  let admin: Client
  let nodeId: string
  let serverPort: number
  const begin = (): Promise<RunningServer> =>
    startServer(data.path, { LOCAL_CLOUD: 'none', PORT: String(serverPort), PUBLIC_URL: `http://localhost:${serverPort}` })
  const programs = (id = ''): number[] => allPids().filter((pid) => markOf(pid)?.startsWith(`${data.path}/agent/kept/programs/${id}`) === true)

  const settled = (id: string): Promise<DatabaseService> =>
    until(
      async () => {
        const now = await admin.call(databaseServices.get, { params: { id } })
        if (now.status === 'error') throw new Error(now.error ?? 'error')
        return (now.status === 'active' || now.status === 'stopped') && now.operation_id === null && now
      },
      'the service to be there',
      180_000,
    )
  const passwordOf = async (id: string): Promise<string> =>
    (await admin.call(databaseServices.credential, { params: { id }, body: { password: administratorPassword } })).password
  const gone = (id: string): Promise<boolean> =>
    until(
      async () =>
        admin.call(databaseServices.get, { params: { id } }).then(
          () => false,
          () => true,
        ),
      'the service to be gone',
    )

  beforeAll(async () => {
    data = temporaryFolder('service')
    serverPort = await freePort()
    server = await begin()
    admin = await asAdministrator(server)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    nodeId = edge.id
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online')
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    data?.remove()
  })

  it.concurrent.each(['mysql', 'postgresql', 'redis'] as const)(
    '%s is made, asked, changed, killed, given another password, and leaves nothing',
    async (type) => {
      const { ask, write, read } = clients[type]
      const port = await freePort()
      const made = await admin.call(databaseServices.create, {
        body: { name: `own-${type}`, type, node_id: nodeId, port, memory_mb: 64, listens: 'loopback', password: hardPassword },
      })
      expect(made).toMatchObject({ status: 'installing', node: { name: 'node' }, deployment: 'standalone' })
      const { id } = made
      expect(await settled(id)).toMatchObject({ health: 'reachable', error: null, version: expect.stringMatching(/^\d+\.\d+/) as string })
      expect(await passwordOf(id)).toBe(hardPassword)
      const sign: Sign = { port, password: hardPassword, ...(type === 'postgresql' && { database: 'test_shop' }) }
      if (type !== 'redis') await admin.call(serviceDatabases.create, { params: { id }, body: { name: 'test_shop' } })
      await ask(sign, write)
      const isThere = async (now: Sign = sign): Promise<void> => expect((await ask(now, read)).trim()).toBe('well')

      // Started anew, killed, and with other parameters: what was written is there.
      await admin.call(databaseServices.restart, { params: { id }, body: {} })
      await settled(id)
      await isThere()
      for (const pid of programs(id)) process.kill(pid, 'SIGKILL')
      await until(
        async () =>
          ask(sign, read).then(
            () => true,
            () => false,
          ),
        'it to be there again',
      )
      await isThere()
      await until(async () => (await admin.call(databaseServices.figures, { params: { id } })).figures !== null, 'it to answer the platform')
      await admin.call(databaseServices.update, { params: { id }, body: { connections_most: 57, memory_mb: 80 } })
      expect(await settled(id)).toMatchObject({ connections_most: 57, memory_mb: 80, error: null })
      await isThere()
      const { figures } = await admin.call(databaseServices.figures, { params: { id } })
      expect(figures).toMatchObject({ connections_most: 57, connections: 0, version: expect.stringMatching(/^\d+\.\d+/) as string })
      expect(figures?.size_bytes).toBeGreaterThan(0)

      // Another password, in the program itself: that one from then on, also after a restart, and the one before no more.
      await admin.call(databaseServices.password, { params: { id }, body: {} })
      expect(await settled(id)).toMatchObject({ error: null })
      const fresh = await passwordOf(id)
      expect(fresh).not.toBe(hardPassword)
      await isThere({ ...sign, password: fresh })
      await expect(ask(sign, read)).rejects.toThrow()
      await admin.call(databaseServices.restart, { params: { id }, body: {} })
      await settled(id)
      await isThere({ ...sign, password: fresh })
      await expect(ask(sign, read)).rejects.toThrow()

      // A port that is taken: refused with who has it, and nothing is left of the attempt.
      const holder = createServer().listen(0, '127.0.0.1')
      await once(holder, 'listening')
      const { port: held } = holder.address() as AddressInfo
      const second = await admin.call(databaseServices.create, { body: { name: `${type}-second`, type, node_id: nodeId, port: held, memory_mb: 64 } })
      const refused = await until(async () => {
        const now = await admin.call(databaseServices.get, { params: { id: second.id } })
        return now.status === 'error' && now.operation_id === null && now
      }, 'it to be refused')
      expect(refused.error).toContain(String(held))
      holder.close()
      expect(programs(second.id)).toEqual([])
      await expect(admin.call(databaseServices.create, { body: { name: `${type}-third`, type, node_id: nodeId, port } })).rejects.toThrow(/97411/)
      await admin.call(databaseServices.delete, { params: { id: second.id } })
      await gone(second.id)

      await admin.call(databaseServices.stop, { params: { id }, body: {} })
      expect(await settled(id)).toMatchObject({ status: 'stopped' })
      expect(programs(id)).toEqual([])
      await admin.call(databaseServices.start, { params: { id }, body: {} })
      await settled(id)
      await isThere({ ...sign, password: fresh })

      if (type !== 'redis') {
        // Accounts come into their databases, and into no others.
        await admin.call(serviceDatabases.create, { params: { id }, body: { name: 'other' } })
        await expect(admin.call(serviceDatabases.create, { params: { id }, body: { name: 'other' } })).rejects.toThrow(/97416/)
        await admin.call(serviceAccounts.create, { params: { id }, body: { name: 'clerk', password: hardPassword, databases: ['test_shop'] } })
        await expect(admin.call(serviceAccounts.create, { params: { id }, body: { name: 'clerk', password: hardPassword } })).rejects.toThrow(/97417/)
        await expect(
          admin.call(serviceAccounts.create, { params: { id }, body: { name: 'lost', password: hardPassword, databases: ['nowhere'] } }),
        ).rejects.toThrow(/97418/)
        expect((await admin.call(serviceAccounts.list, { params: { id } })).items).toEqual([{ name: 'clerk', databases: ['test_shop'] }])
        const clerk: Sign = { port, user: 'clerk', password: hardPassword, database: 'test_shop' }
        await ask(clerk, 'create table of_clerk (n integer)')
        await expect(ask({ ...clerk, database: 'other' }, 'select 1')).rejects.toThrow()
        await admin.call(serviceAccounts.delete, { params: { id, name: 'clerk' } })
        await expect(ask(clerk, 'select 1')).rejects.toThrow()
        // What it made stays.
        expect(await ask({ ...sign, password: fresh, database: 'test_shop' }, 'select count(*) from of_clerk')).toContain('0')
        await admin.call(serviceDatabases.delete, { params: { id, name: 'other' } })
        expect((await admin.call(serviceDatabases.list, { params: { id } })).items.map(({ name }) => name)).toEqual(['test_shop'])
        await expect(admin.call(serviceDatabases.delete, { params: { id, name: 'other' } })).rejects.toThrow(/90006/)
      } else await expect(admin.call(serviceDatabases.list, { params: { id } })).rejects.toThrow(/97415/)

      await admin.call(databaseServices.delete, { params: { id } })
      await gone(id)
      expect([programs(id), existsSync(join(data.path, 'agent/kept/programs', id))]).toEqual([[], false])
    },
  )

  it('has the new password and not the old one when the server is killed behind that, and of two at once one', async () => {
    const { ask, read, write } = clients.redis
    const port = await freePort()
    const { id } = await admin.call(databaseServices.create, { body: { name: 'killed', type: 'redis', node_id: nodeId, port, memory_mb: 64 } })
    await settled(id)
    const old = await passwordOf(id)
    await ask({ port, password: old }, write)
    const killedAt = killing(
      () => server,
      async () => {
        server = await begin()
      },
    )
    await killedAt('middleware.service.password:password:after', () =>
      admin.call(databaseServices.password, { params: { id }, body: { password: hardPassword } }),
    )
    expect(await settled(id)).toMatchObject({ error: null })
    expect([await passwordOf(id), (await ask({ port, password: hardPassword }, read)).trim()]).toEqual([hardPassword, 'well'])
    await expect(ask({ port, password: old }, read)).rejects.toThrow()
    const both = await Promise.allSettled([0, 1].map(() => admin.call(databaseServices.password, { params: { id }, body: {} })))
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await settled(id)
    expect((await ask({ port, password: await passwordOf(id) }, read)).trim()).toBe('well')
    await admin.call(databaseServices.delete, { params: { id } })
    await gone(id)
  })

  it('leaves nothing on its node once all are gone', () => {
    expect([programs(), readdirSync(join(data.path, 'agent', 'kept', 'programs'))]).toEqual([[], []])
  })
})
