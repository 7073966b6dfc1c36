import { readdirSync, readFileSync } from 'node:fs'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'

/** A server as `npm start` runs it: with an agent of its own host. */
describe('the agent beside the server', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let client: Client

  const start = async (port = '0'): Promise<void> => {
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', LOCAL_AGENT: 'auto', PORT: port, DATABASE_URL: '' })
    client = await asAdministrator(server)
  }
  const online = () =>
    until(
      async () => {
        const { items } = await client.call(edges.list)
        return items.length === 1 && items[0]?.status === 'online' && items[0].host_name !== null && items[0]
      },
      'this host to be online',
      40_000,
    )
  /** Launchers and agents of this data directory. */
  const agents = (): string[] =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${data.path}/agent`)
      } catch {
        return false
      }
    })

  beforeAll(async () => {
    data = temporaryFolder('local-agent')
    await start()
  })
  afterAll(async () => {
    await server?.stop()
    for (const pid of agents()) process.kill(Number(pid), 'SIGKILL')
    data?.remove()
  })

  it('makes this host the first node; it outlives a killed server, is one, and stops with the server', async () => {
    const { id, name, bp_id } = await online()
    expect({ name, bp_id }).toEqual({ name: '本机', bp_id: null })
    const { port } = new URL(server.url)
    server.process.kill('SIGKILL')
    await server.ended
    expect(agents()).not.toEqual([])
    const before = agents()
    await start(port)
    expect((await online()).id).toBe(id)
    expect(agents()).toEqual(before)
    for (const pid of before) process.kill(Number(pid), 'SIGKILL')
    await until(async () => agents().length === 0, 'the agents to be gone')

    // The next one runs it again, and takes it along.
    await server.stop()
    await start(port)
    expect((await online()).id).toBe(id)
    await server.stop()
    expect(agents()).toEqual([])
  })
})
