import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WebSocket } from 'ws'
import type { ComputeEngine, EngineEvent } from '../compute.ts'
import { createLxdEngine } from './engine.ts'
import { startFake, type FakeLxd } from './fake.ts'

let fake: FakeLxd
let engine: ComputeEngine
let stop: AbortController
let connections: WebSocket[]
let seen: EngineEvent[]
let ended: Promise<void>

const listen = (): void => {
  ended = (async () => {
    for await (const event of engine.events({ signal: stop.signal })) seen.push(event)
  })()
}
const accept = (): void => fake.socket('/1.0/events', (socket) => void connections.push(socket))
const connected = async (count: number): Promise<WebSocket> => {
  await expect.poll(() => seen.filter(({ type }) => type === 'connected').length).toBe(count)
  return connections[count - 1] as WebSocket
}
const lifecycle = (action: string, source: string, context: object | null = null, timestamp = '2026-01-02T03:04:05.6Z') =>
  JSON.stringify({ type: 'lifecycle', timestamp, location: 'none', project: 'default', metadata: { action, source, context, requestor: null } })
const told = () => seen.flatMap((event) => (event.type === 'instance' ? [`${event.action} ${event.name}`] : []))

beforeEach(async () => {
  fake = await startFake()
  engine = createLxdEngine({ socketPath: fake.socketPath })
  stop = new AbortController()
  connections = []
  seen = []
})
afterEach(async () => {
  vi.useRealTimers()
  stop.abort()
  await ended
  await engine.close()
  await fake.close()
})

describe('the event stream', () => {
  it('tells of instances under every name that the API has for them, and of what was renamed under both', async () => {
    accept()
    listen()
    const socket = await connected(1)
    socket.send(lifecycle('instance-created', '/1.0/instances/one'))
    socket.send(lifecycle('instance-started', '/1.0/containers/two?project=p'))
    socket.send(lifecycle('instance-stopped', '/1.0/virtual-machines/three'))
    socket.send(lifecycle('warning-acknowledged', '/1.0/warnings/instances'))
    socket.send(lifecycle('instance-backup-created', '/1.0/instances/four/backups/b'))
    socket.send(lifecycle('instance-renamed', '/1.0/instances/new', { old_name: 'old' }))
    socket.send(lifecycle('instance-deleted', '/1.0/instances/last'))
    await expect.poll(told).toContain('instance-deleted last')
    expect(told()).toEqual([
      'instance-created one',
      'instance-started two',
      'instance-stopped three',
      'instance-backup-created four',
      'instance-renamed old',
      'instance-renamed new',
      'instance-deleted last',
    ])
    expect(seen[1]?.at).toEqual(new Date('2026-01-02T03:04:05.6Z'))
  })
  it.each<[string, string, object | null, [string, string, string | null][]]>([
    ['network-created', '/1.0/networks/net?project=default', null, [['network', 'net', null]]],
    [
      'network-renamed',
      '/1.0/networks/new',
      { old_name: 'old' },
      [
        ['network', 'old', null],
        ['network', 'new', null],
      ],
    ],
    ['network-acl-updated', '/1.0/network-acls/acl', null, [['acl', 'acl', null]]],
    ['network-forward-created', '/1.0/networks/net/forwards/198.18.1.1', null, [['forward', '198.18.1.1', 'net']]],
    ['network-forward-deleted', '/1.0/networks/net/forwards/fd00%3A%3A1', null, [['forward', 'fd00::1', 'net']]],
    ['storage-pool-created', '/1.0/storage-pools/fast', null, [['pool', 'fast', null]]],
    // As LXD 5.0 calls them, and as those after it do.
    ['storage-volume-created', '/1.0/storage-pools/fast/volumes/custom/default_data', { type: 'custom' }, [['volume', 'data', 'fast']]],
    ['storage-volume-created', '/1.0/storage-pools/fast/volumes/custom/data?target=n1', { type: 'custom' }, [['volume', 'data', 'fast']]],
    ['storage-volume-snapshot-created', '/1.0/storage-pools/fast/volumes/custom/default_data/snapshots/s', null, [['volume-snapshot', 's', 'fast/data']]],
    ['storage-volume-created', '/1.0/storage-pools/fast/volumes/container/one', null, []],
    ['instance-snapshot-created', '/1.0/instances/one/snapshots/s', null, [['instance-snapshot', 's', 'one']]],
    [
      'instance-snapshot-renamed',
      '/1.0/instances/one/snapshots/new',
      { old_name: 'one/old' },
      [
        ['instance-snapshot', 'old', 'one'],
        ['instance-snapshot', 'new', 'one'],
      ],
    ],
    ['image-created', '/1.0/images/3e36', { type: 'container' }, [['image', '3e36', null]]],
    ['image-alias-created', '/1.0/images/aliases/debian', { target: '3e36' }, [['image', '3e36', null]]],
    ['image-alias-deleted', '/1.0/images/aliases/debian', null, []],
    [
      'profile-renamed',
      '/1.0/profiles/new',
      { old_name: 'old' },
      [
        ['profile', 'old', null],
        ['profile', 'new', null],
      ],
    ],
    ['cluster-member-evacuated', '/1.0/cluster/members/n1', null, [['member', 'n1', null]]],
    ['cluster-enabled', '/1.0/cluster', null, []],
    ['certificate-created', '/1.0/certificates/3e36', null, []],
    ['config-updated', '/1.0', null, []],
  ])('tells of %s at %s', async (action, source, context, objects) => {
    accept()
    listen()
    const socket = await connected(1)
    socket.send(lifecycle(action, source, context))
    socket.send(lifecycle('instance-created', '/1.0/instances/last'))
    await expect.poll(told).toEqual(['instance-created last'])
    const at = new Date('2026-01-02T03:04:05.6Z')
    expect(seen.slice(1, -1)).toEqual(objects.map(([kind, name, within]) => ({ type: 'object', kind, name, within, action, at })))
  })
  it('bears whatever is sent', async () => {
    accept()
    listen()
    const socket = await connected(1)
    for (const text of [
      '',
      'x',
      'null',
      '[]',
      '{}',
      '{"type":"lifecycle"}',
      '{"type":"lifecycle","timestamp":"","metadata":{"action":1,"source":2}}',
      lifecycle('a', ''),
      lifecycle('a', '/1.0/instances/%E0%A4%A'),
    ])
      socket.send(text)
    socket.send(Buffer.from([0xff, 0xfe]), { binary: true })
    socket.send(lifecycle('instance-updated', '/1.0/instances/a%20b', {}, 'some day'))
    await expect.poll(told).toEqual(['instance-updated a b'])
    expect(Number.isNaN(seen.at(-1)?.at.getTime())).toBe(false)
  })
  it('connects again, and says so, however it was lost', async () => {
    accept()
    listen()
    ;(await connected(1)).terminate()
    ;(await connected(2)).close(1001)
    const raw = (await connected(3)) as unknown as { _socket: { write(data: Buffer): void } }
    // A frame of an unknown kind, straight on the wire.
    raw._socket.write(Buffer.from([0xff, 0xff, 1, 2]))
    const socket = await connected(4)
    socket.send(lifecycle('instance-created', '/1.0/instances/one'))
    await expect.poll(told).toEqual(['instance-created one'])
  })
  it('goes on trying while it is refused', async () => {
    listen()
    await expect.poll(() => fake.refused()).toBeGreaterThan(1)
    expect(seen).toEqual([])
    accept()
    await connected(1)
  })
  it('takes silence for a loss, and connects again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    accept()
    listen()
    const socket = await connected(1)
    // Neither hears pings nor answers them, and closes nothing: a cut cable.
    socket.pause()
    vi.advanceTimersByTime(15_000)
    expect(seen).toHaveLength(1)
    vi.advanceTimersByTime(15_000)
    const next = await connected(2)
    // One that answers stays.
    const answered = new Promise((resolve) => next.once('ping', resolve))
    vi.advanceTimersByTime(15_000)
    await answered
    next.send(lifecycle('instance-created', '/1.0/instances/one'))
    await expect.poll(told).toEqual(['instance-created one'])
    vi.advanceTimersByTime(15_000)
    next.send(lifecycle('instance-deleted', '/1.0/instances/one'))
    await expect.poll(told).toHaveLength(2)
    expect(connections).toHaveLength(2)
  })
  it.each(['aborted', 'closed'])('ends when it is %s, also while it waits to try again', async (how) => {
    const end = () => (how === 'aborted' ? stop.abort() : engine.close())
    accept()
    listen()
    await connected(1)
    await end()
    await ended
    stop = new AbortController()
    engine = createLxdEngine({ socketPath: `${fake.socketPath}.none` })
    listen()
    await Promise.resolve()
    await (how === 'aborted' ? stop.abort() : engine.close())
    await ended
  })
})
