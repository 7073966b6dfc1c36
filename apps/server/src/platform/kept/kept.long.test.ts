import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startWorld, type World } from './kept.testing.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.stop())

describe('a program that the platform keeps on a node, whatever happens', () => {
  it('leaves nothing where it does not become well, and its last words are told', async () => {
    const { agent, port, start, ended } = world
    const server = await start()
    const id = randomUUID()
    const failed = await ended(server, await server.do('install', id, agent.wanted(port, { with: ['broken'], data: {} })))
    expect(failed).toMatchObject({
      status: 'failed',
      step: 'healthy',
      error: expect.stringContaining('没有正常运行'),
      detail: expect.stringContaining('cannot begin: no such thing'),
    })
    expect([await server.kept.get(server.platform.db, id), await agent.everything()]).toMatchObject([{ status: 'failed', reason: failed.detail }, []])
  })

  it('is changed; and back where the change does no good', async () => {
    const { agent, port, start, ended, becomes } = world
    const server = await start()
    const id = randomUUID()
    await ended(server, await server.do('install', id, agent.wanted(port, { with: ['one'] })))
    await ended(server, await server.do('change', id, agent.wanted(port, { with: ['two'] })))
    expect((await server.kept.wanted(server.platform.db, id)).arguments.at(-1)).toBe('two')
    const failed = await ended(server, await server.do('change', id, agent.wanted(port, { with: ['broken'] })))
    expect(failed).toMatchObject({
      status: 'failed',
      step: 'healthy',
      error: expect.stringContaining('已回到更改之前'),
      detail: expect.stringContaining('cannot begin'),
    })
    await becomes(server, id, { status: 'running' })
    expect((await server.kept.wanted(server.platform.db, id)).arguments.at(-1)).toBe('two')
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).json()).toMatchObject({ rest: ['two'] })
  })

  it('is brought back to what is wanted, whoever changed it on the node', async () => {
    const { agent, port, start, ended, becomes, isListening } = world
    const server = await start()
    const id = randomUUID()
    await ended(server, await server.do('install', id, agent.wanted(port)))
    await agent.act(id, { action: 'stop' })
    await vi.waitFor(async () => expect(await isListening()).toBe(false), { interval: 5 })
    await becomes(server, id, { status: 'running' })
    await agent.remove(id, true)
    await vi.waitFor(async () => expect(await isListening()).toBe(true))
    await becomes(server, id, { status: 'running' })
  })

  it('is finished by the server that comes after one that was stopped in the middle', async () => {
    const { agent, port, start, come, go, operationOf, ended } = world
    const one = await start()
    const id = randomUUID()
    go()
    const operation = await one.do('install', id, agent.wanted(port))
    await vi.waitFor(async () => expect(await operationOf(one, operation)).toMatchObject({ status: 'running', step: 'preflight' }))
    await one.stop()
    come()
    const other = await start()
    expect(await ended(other, operation)).toMatchObject({ status: 'succeeded' })
    expect(await other.kept.get(other.platform.db, id)).toMatchObject({ status: 'running' })
  })

  it('goes from its node when that comes back, where its owner has forgotten it', async () => {
    const { agent, port, start, come, go, ended, isListening } = world
    const server = await start()
    const id = randomUUID()
    await ended(server, await server.do('install', id, agent.wanted(port)))
    go()
    await server.platform.db.transaction().execute((tx) => server.kept.abandon(tx, id))
    expect(await server.kept.get(server.platform.db, id)).toBeUndefined()
    expect(await isListening()).toBe(true)
    come()
    await vi.waitFor(async () => expect(await agent.everything()).toEqual([]))
    await vi.waitFor(async () => expect(await server.platform.db.selectFrom('kept_programs').selectAll().execute()).toEqual([]))
  })

  it('is not recorded where no agent would understand it', async () => {
    const { agent, port, start } = world
    const server = await start()
    await expect(server.do('install', randomUUID(), agent.wanted(port, { name: '../x' }))).rejects.toThrow(/name/)
  })
})
