import { createHash, randomBytes } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { snapshots, snapshotSchedules, type VmSnapshot } from '@zhisuan/contract/nextstack/snapshot'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { socketPath } from '@zhisuan/engines/lxd/testing'
import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, killing, pointsOf, startServer, until, type Client, type RunningServer, untilTold } from '../support/server.ts'

/** Snapshots of real instances by the API: what is on the disk is as it was, also where the server is killed (-9) at any step. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('snapshots on this host', () => {
  const engine = createLxdEngine({ socketPath })
  let data: TemporaryFolder
  let server: RunningServer
  let client: Client
  let cloud_id: string
  let made: string[] = []

  const restart = async (): Promise<void> => {
    server = await startServer(data.path)
    client = await asAdministrator(server)
  }
  const engineName = (vm: { id: string }) => `zs-${vm.id.replaceAll('-', '')}`
  const settledVm = (id: string): Promise<Vm> =>
    until(async () => {
      const vm = await client.call(vms.get, { params: { id } })
      return vm.operation_id === null && vm
    }, 'the instance to rest')
  const makeVm = async (name: string): Promise<Vm> => {
    const query = { cloud_id }
    const image = (await client.call(images.list, { query })).items.find(({ name }) => name === 'busybox')
    const [network] = (await client.call(networks.list, { query })).items
    const [flavor] = (await client.call(flavors.list, { query: { sort: 'memory_bytes' } })).items
    const body = {
      cloud_id,
      name,
      type: 'container',
      image_fingerprint: image?.fingerprint,
      network: network?.name,
      flavor_id: flavor?.id,
      password: 'Snapshot-test-1',
    }
    const [vm] = (await client.call(vms.create, { body })).items
    made.push(vm?.id ?? '')
    return settledVm(vm?.id ?? '')
  }
  /** Puts something into an instance that nothing else is. @returns its checksum */
  const write = async (vm: { id: string }): Promise<string> => {
    const content = randomBytes(1 << 20)
    await engine.instances.writeFile(engineName(vm), { path: '/root/file', content, mode: 0o600 })
    return createHash('sha256').update(content).digest('hex')
  }
  /** As a program in the instance sees it. */
  const sum = async (vm: { id: string }): Promise<string> =>
    (await engine.instances.exec(engineName(vm), { command: ['sha256sum', '/root/file'] })).stdout.toString().split(' ')[0] ?? ''
  const list = async (vm: { id: string }): Promise<VmSnapshot[]> => (await client.call(snapshots.list, { query: { vm_id: vm.id } })).items
  const onEngine = async (vm: { id: string }): Promise<string[]> => (await engine.instances.snapshots.list(engineName(vm))).map(({ name }) => name)
  const settled = (id: string): Promise<VmSnapshot> =>
    until(async () => {
      const snapshot = await client.call(snapshots.get, { params: { id } })
      return snapshot.operation_id === null && snapshot
    }, 'the snapshot to rest')
  const take = async (vm: { id: string }, name: string): Promise<VmSnapshot> =>
    settled((await client.call(snapshots.create, { body: { vm_id: vm.id, name } })).id)

  beforeAll(async () => {
    data = temporaryFolder('snapshots')
    await restart()
    cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    // Built on this host at the first start.
    await until(async () => (await client.call(images.list, { query: { cloud_id } })).items.some(({ name }) => name === 'busybox'), 'the first image')
  })
  afterEach(async () => {
    await Promise.all(made.map((id) => engine.instances.delete(engineName({ id }))))
    made = []
  })
  afterAll(async () => {
    await server?.stop()
    await engine.close()
    data?.remove()
  })

  it('hold what was on the disk of a running instance, for itself and for its clones', async () => {
    const vm = await makeVm('kept')
    const then = await write(vm)
    const snapshot = await take(vm, '变更前')
    expect(snapshot).toMatchObject({ status: 'available', error: null })
    expect(await onEngine(vm)).toHaveLength(1)
    const now = await write(vm)
    expect([await sum(vm), now === then]).toEqual([now, false])

    const clone = await client.call(snapshots.clone, { params: { id: snapshot.id }, body: { name: 'kept-clone' } })
    made.push(clone.id)
    expect(await settledVm(clone.id)).toMatchObject({ status: 'running', error: null })
    expect(await sum(clone)).toBe(then)
    const addressOf = (one: { id: string }) =>
      until(
        async () => (await client.call(vms.get, { params: { id: one.id } })).addresses.find(({ family }) => family === 4)?.address,
        'the instance to have its address',
      )
    expect(await addressOf(clone)).not.toBe(await addressOf(vm))

    await client.call(snapshots.restore, { params: { id: snapshot.id } })
    expect((await client.call(vms.get, { params: { id: vm.id } })).status).toBe('restoring')
    expect(await settledVm(vm.id)).toMatchObject({ status: 'running', error: null })
    expect(await sum(vm)).toBe(then)

    await client.call(snapshots.delete, { params: { id: snapshot.id } })
    await until(async () => (await list(vm)).length === 0, 'the snapshot to be gone')
    expect(await onEngine(vm)).toEqual([])
    expect(await sum(clone)).toBe(then)
  })

  it('show at once what is made and deleted beside the API', async () => {
    const vm = await makeVm('beside')
    await engine.instances.snapshots.create(engineName(vm), 'by-hand')
    await untilTold(async () => (await list(vm)).some(({ name, status }) => name === 'by-hand' && status === 'available'), 'it to show')
    await engine.instances.snapshots.delete(engineName(vm), 'by-hand')
    await untilTold(async () => (await list(vm)).length === 0, 'it to go')
    const ours = await take(vm, 'ours')
    const [name = ''] = await onEngine(vm)
    await engine.instances.snapshots.delete(engineName(vm), name)
    await untilTold(async () => (await client.call(snapshots.get, { params: { id: ours.id } })).status === 'lost', 'it to be lost')
  })

  it('are made by the clock, and the oldest go', async () => {
    const vm = await makeVm('clocked')
    const body = { vm_id: vm.id, name: '每小时', rhythm: 'hourly', at: '0', keep: 2, time_zone: 'Asia/Shanghai' }
    const { id } = await client.call(snapshotSchedules.create, { body })
    const sql = new pg.Client({ connectionString: server.databaseUrl })
    await sql.connect()
    const runs: string[] = []
    try {
      for (let run = 1; run <= 3; run++) {
        // Its time has come; as if nobody had been there at the last ones.
        await sql.query(`update vm_snapshot_schedules set next_run_at = now() - interval '5 hours' where id = $1`, [id])
        const newest = await until(async () => {
          const [first] = await list(vm)
          return first !== undefined && first.status === 'available' && !runs.includes(first.id) && first
        }, `run ${run}`)
        expect(newest).toMatchObject({ schedule_id: id, created_by: '每小时' })
        runs.push(newest.id)
      }
    } finally {
      await sql.end()
    }
    const left = await until(async () => {
      const items = await list(vm)
      return items.length === 2 && items
    }, 'the oldest to go')
    expect(left.map((one) => one.id)).toEqual(runs.slice(1).toReversed())
    await until(async () => (await onEngine(vm)).length === 2, 'the oldest to go on the engine')
    const [schedule] = (await client.call(snapshotSchedules.list, { query: { vm_id: vm.id } })).items
    expect(schedule).toMatchObject({ last_error: null })
    expect(Date.parse(schedule?.next_run_at ?? '')).toBeGreaterThan(Date.now())
  })

  const killedAt = killing(() => server, restart)

  /** An instance for each point, with something in it. */
  const written = (points: readonly string[], name: string): Promise<{ vm: Vm; old: string }[]> =>
    Promise.all(
      points.map(async (_, index) => {
        const vm = await makeVm(`${name}-${index}`)
        return { vm, old: await write(vm) }
      }),
    )

  it('are made once by a server that is killed before and after each step', async () => {
    const points = pointsOf('nextstack.snapshot.create', 'create', 'measure')
    const all = await written(points, 'made')
    await killedAt(
      points,
      ...all.map(
        ({ vm }) =>
          () =>
            client.call(snapshots.create, { body: { vm_id: vm.id, name: 'killed' } }),
      ),
    )
    for (const { vm, old } of all) {
      const [snapshot] = await until(async () => {
        const items = await list(vm)
        return items[0]?.status === 'available' && items
      }, 'the snapshot to be there')
      expect(await onEngine(vm)).toHaveLength(1)
      await write(vm)
      await client.call(snapshots.restore, { params: { id: snapshot?.id ?? '' } })
      await settledVm(vm.id)
      expect(await sum(vm)).toBe(old)
    }
  })

  it('set the disk back though the server is killed before and after the step', async () => {
    const points = [...pointsOf('nextstack.snapshot.restore', 'restore'), 'nextstack.snapshot.restore:observe:after']
    const all = await Promise.all(
      (await written(points, 'back')).map(async ({ vm, old }) => {
        const snapshot = await take(vm, 'then')
        await write(vm)
        return { vm, old, snapshot }
      }),
    )
    await killedAt(
      points,
      ...all.map(
        ({ snapshot }) =>
          () =>
            client.call(snapshots.restore, { params: { id: snapshot.id } }),
      ),
    )
    for (const { vm, old, snapshot } of all) {
      expect(await settledVm(vm.id)).toMatchObject({ status: 'running', error: null })
      expect(await settled(snapshot.id)).toMatchObject({ status: 'available', error: null })
      expect(await sum(vm)).toBe(old)
    }
  })

  it('are gone though the server is killed before and after the step', async () => {
    const points = pointsOf('nextstack.snapshot.delete', 'delete')
    const all = await Promise.all(
      points.map(async (_, index) => {
        const vm = await makeVm(`gone-${index}`)
        return { vm, snapshot: await take(vm, 'then') }
      }),
    )
    await killedAt(
      points,
      ...all.map(
        ({ snapshot }) =>
          () =>
            client.call(snapshots.delete, { params: { id: snapshot.id } }),
      ),
    )
    for (const { vm } of all) {
      await until(async () => (await list(vm)).length === 0, 'the snapshot to be gone')
      expect(await onEngine(vm)).toEqual([])
    }
  })

  it('are copied once by a server that is killed when the copy is there', async () => {
    const vm = await makeVm('copied')
    const then = await write(vm)
    const snapshot = await take(vm, 'then')
    await killedAt('nextstack.vm.create:create:after', () => client.call(snapshots.clone, { params: { id: snapshot.id }, body: { name: 'the-copy' } }))
    const copies = (await client.call(vms.list, { query: { keyword: 'the-copy' } })).items
    expect(copies).toHaveLength(1)
    const clone = await settledVm(copies[0]?.id ?? '')
    made.push(clone.id)
    expect(clone).toMatchObject({ status: 'running', error: null })
    expect(await sum(clone)).toBe(then)
    expect((await engine.instances.list()).filter(({ tags }) => tags['vm_id'] === clone.id)).toHaveLength(1)
  })
})
