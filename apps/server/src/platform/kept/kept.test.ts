import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startWorld, type World } from './kept.testing.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.stop())

describe('a program that the platform keeps on a node', () => {
  it('is installed by steps, looked at, restarted, stopped, started and taken away without a rest', async () => {
    const { agent, port, nodeId, ownerKind, start, ended, isListening, pidOf } = world
    const server = await start()
    const { kept, platform } = server
    const id = randomUUID()
    const wanted = agent.wanted(port, {
      version: process.versions.node,
      data: {},
      reload_signal: 'SIGUSR1',
      files: [{ path: 'a', text: 'of nobody else', secret: true }],
    })
    const installed = await ended(server, await server.do('install', id, wanted))
    expect(installed).toMatchObject({ status: 'succeeded', steps_total: 4, error: null })
    expect(await kept.get(platform.db, id)).toMatchObject({
      node_id: nodeId,
      owner: { kind: ownerKind, id },
      name: 'listener',
      status: 'running',
      reason: null,
      wanted_version: process.versions.node,
      program_version: `v${process.versions.node}`,
      observed: { process: { state: 'running', pid: await pidOf() } },
    })
    expect([await kept.ofOwner(platform.db, { kind: ownerKind, id }), await kept.count(platform.db, [nodeId])]).toMatchObject([
      [{ id }],
      new Map([[nodeId, 1]]),
    ])
    // What is wanted has secrets in it: nobody reads them in the database.
    const row = await platform.db.selectFrom('kept_programs').selectAll().executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain('of nobody else')
    expect((await kept.wanted(platform.db, id)).files[0]?.text).toBe('of nobody else')

    const pid = await pidOf()
    await ended(server, await server.do('restart', id))
    expect(await pidOf()).not.toBe(pid)
    await ended(server, await server.do('reload', id))
    const { signal } = new AbortController()
    await vi.waitFor(async () => expect(await text(await kept.log(id, { tail: 5, follow: false, signal }))).toContain('read anew'))
    await ended(server, await server.do('stop', id))
    expect([await kept.get(platform.db, id), await isListening()]).toMatchObject([{ status: 'stopped' }, false])
    await ended(server, await server.do('start', id))
    expect(await kept.look(id)).toMatchObject({ status: 'running' })

    expect(await ended(server, await server.do('uninstall', id))).toMatchObject({ status: 'succeeded' })
    expect([await kept.get(platform.db, id), await isListening(), await agent.everything()]).toEqual([undefined, false, []])
  })

  it('is not begun where it would not run, and says all that is in the way', async () => {
    const { agent, port, start, ended } = world
    const server = await start()
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    const id = randomUUID()
    try {
      const { status, step, error } = await ended(
        server,
        await server.do('install', id, agent.wanted(port, { version: '1.2.3', needs: { memory_bytes: 2 ** 50 } })),
      )
      expect([status, step]).toEqual(['failed', 'preflight'])
      expect(error).toMatch(
        new RegExp(
          `^节点“节点一”不能运行“listener”：程序“.*”的版本不是1\\.2\\.3（v.*）；端口${port}/tcp已被“.* \\(${process.pid}\\)”占用；可用内存为.* GB，至少需要1 PB$`,
        ),
      )
    } finally {
      other.close()
    }
    expect([await server.kept.get(server.platform.db, id), await agent.everything()]).toMatchObject([{ status: 'failed' }, []])
  })

  it('is told of as it is: crashed with why, gone with its node, back with it', async () => {
    const { agent, port, start, come, go, ended, becomes } = world
    const server = await start()
    const id = randomUUID()
    await ended(server, await server.do('install', id, agent.wanted(port, { restart: { first_ms: 60_000, most_ms: 60_000 } })))
    await fetch(`http://127.0.0.1:${port}/exit?4`).catch(() => undefined)
    const { reason } = await becomes(server, id, { status: 'crashed' })
    expect(reason).toMatch(/^程序已退出，退出码4\n[\s\S]*told to end/)
    go()
    await becomes(server, id, { status: 'unreachable', reason: null })
    await expect(server.kept.look(id)).rejects.toMatchObject({ refusal: 'edgeOffline' })
    come()
    await becomes(server, id, { status: 'crashed' })
    expect(server.changes).toEqual(expect.arrayContaining(['running → crashed', 'crashed → unreachable', 'unreachable → crashed']))
  })
})
