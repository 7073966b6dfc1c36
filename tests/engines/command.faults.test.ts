import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { ResponseOf } from '@zhisuan/contract/define'
import { commands } from '@zhisuan/contract/nextstack/command'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/** Commands in real instances: what is printed, what is left of one that was ended, and of one whose server was killed (-9). */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('commands on this host', () => {
  const engine = createLxdEngine({ socketPath })
  let server: RunningServer
  let client: Client
  let data: TemporaryFolder
  let ids: string[] = []

  const restart = async (): Promise<void> => {
    server = await startServer(data.path)
    client = await asAdministrator(server)
  }
  const run = async (script: string, wish: { timeout_seconds?: number; vm_ids?: string[] } = {}): Promise<string> =>
    (await client.call(commands.create, { body: { vm_ids: ids, script, ...wish } })).id
  const when = (id: string, so: (command: ResponseOf<typeof commands.get>) => boolean, what: string) =>
    until(async () => {
      const command = await client.call(commands.get, { params: { id } })
      return so(command) && command
    }, what)
  const ended = (id: string) => when(id, ({ finished_at }) => finished_at !== null, 'the command to end')
  const inside = async (id: string, ...command: [string, ...string[]]) =>
    (await engine.instances.exec(`zs-${id.replaceAll('-', '')}`, { command })).stdout.toString()
  /** Processes of ours that are left in the instances. */
  const left = async () =>
    (await Promise.all(ids.map((id) => inside(id, 'ps', '-o', 'args')))).flatMap((text) => text.split('\n').filter((line) => /sleep 60\d\d/.test(line)))

  beforeAll(async () => {
    data = temporaryFolder('commands')
    await restart()
    const query = { cloud_id: (await client.call(clouds.list)).clouds[0]?.cloud_id ?? '' }
    // Built on this host at the first start.
    const image = await until(async () => (await client.call(images.list, { query })).items.find(({ name }) => name === 'busybox'), 'the first image')
    const [network] = (await client.call(networks.list, { query })).items
    const [flavor] = (await client.call(flavors.list)).items
    const { items } = await client.call(vms.create, {
      body: {
        ...query,
        name: 'commanded',
        count: 2,
        type: 'container',
        image_fingerprint: image.fingerprint,
        network: network?.name,
        flavor_id: flavor?.id,
        password: 'Command-test-1',
      },
    })
    ids = items.map(({ id }) => id)
    for (const id of ids) await until(async () => (await client.call(vms.get, { params: { id } })).status === 'running', 'the instance to run')
  })
  afterAll(async () => {
    for (const id of ids) await engine.instances.delete(`zs-${id.replaceAll('-', '')}`)
    await server.stop()
    await engine.close()
    data.remove()
  })

  it('print what each instance says, with its exit code', async () => {
    const done = await ended(await run('#!/bin/sh\nhostname\nid -u\necho 一 >&2\nif [ -e /root/here ]; then exit 4; fi\ntouch /root/here\n'))
    expect(done).toMatchObject({ status: 'succeeded', succeeded_count: 2 })
    expect(done.results.map(({ stdout, stderr, exit_code }) => [stdout, stderr, exit_code])).toEqual(
      ids.map((_, index) => [`commanded-${index + 1}\n0\n`, '一\n', 0]),
    )
    const again = await ended(await run('[ -e /root/here ] && exit 4\n'))
    expect(again).toMatchObject({ status: 'failed', failed_count: 2, results: [{ exit_code: 4, error: null }, { exit_code: 4 }] })
  })

  it('show what they print while they run, and all of a lot', async () => {
    const [vm = ''] = ids
    const id = await run('echo first\nwhile [ ! -e /root/go ]; do sleep 0.1; done\ni=0; while [ $i -lt 40000 ]; do echo line$i; i=$((i+1)); done\n', {
      vm_ids: [vm],
    })
    await when(id, ({ results }) => results[0]?.stdout === 'first\n', 'the first line to show')
    await inside(vm, 'touch', '/root/go')
    expect(await ended(id)).toMatchObject({ status: 'succeeded', results: [{ truncated: true, more: true, exit_code: 0 }] })
    const whole = await client.call(commands.result, { params: { id, vm_id: vm } })
    const text = `first\n${Array.from({ length: 40_000 }, (_, index) => `line${index}\n`).join('')}`
    expect(whole.stdout).toBe(text.slice(0, 256 * 1024))
  })

  it('that take too long leave nothing running', async () => {
    const id = await run('sleep 6001 &\nsh -c "sleep 6002"\necho never\n', { timeout_seconds: 2 })
    await until(async () => (await left()).length === 4, 'it to run in both')
    const done = await ended(id)
    expect(done).toMatchObject({ status: 'timed_out', failed_count: 2 })
    for (const result of done.results) expect(result).toMatchObject({ stdout: '', exit_code: null, error: '超过2秒没有结束，已被终止' })
    expect(await left()).toEqual([])
  })

  it('that are cancelled leave nothing running', async () => {
    const id = await run('sleep 6003 & sleep 6004\n')
    await until(async () => (await left()).length === 4, 'it to run in both')
    await client.call(commands.cancel, { params: { id } })
    expect(await ended(id)).toMatchObject({
      status: 'cancelled',
      results: [
        { status: 'cancelled', error: null },
        { status: 'cancelled', error: null },
      ],
    })
    expect(await left()).toEqual([])
  })

  it('of a server that is killed are never run again, and say that nobody knows', async () => {
    const id = await run('echo once >> /root/times\necho begun\nsleep 6005\n')
    await when(id, ({ results }) => results.every(({ stdout }) => stdout === 'begun\n'), 'it to have begun in both')
    server.process.kill('SIGKILL')
    await server.ended
    await restart()
    const done = await ended(id)
    expect(done).toMatchObject({ status: 'failed', failed_count: 2 })
    for (const result of done.results)
      expect(result).toMatchObject({ status: 'failed', exit_code: null, stdout: 'begun\n', error: expect.stringContaining('服务重启') })
    // The next command finds everything as it was left, once.
    const next = await ended(await run('cat /root/times\n'))
    expect(next.results.map(({ stdout }) => stdout)).toEqual(['once\n', 'once\n'])
  })

  it('of a server that is stopped are ended with it', async () => {
    const id = await run('sleep 6006 & sleep 6007\n')
    await until(async () => (await left()).filter((line) => /600[67]/.test(line)).length === 4, 'it to run in both')
    await server.stop()
    expect((await left()).filter((line) => /600[67]/.test(line))).toEqual([])
    await restart()
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      results: [{ error: expect.stringContaining('服务重启') }, { error: expect.stringContaining('服务重启') }],
    })
  })
})
