import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, send } from '../../testing/call.ts'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { openTestEngine, startTestEngine } from '../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'

const gib = 2 ** 30
const wait = { interval: 20 }

let app: TestApp
let owner: Person & SignedIn
let cloud_id: string
beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine })
  const admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  cloud_id = (
    await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: startTestEngine().connection } })
  ).cloud_id
})
afterAll(() => app.close())

/** What a resource was said to use, one after the other, without repetitions. */
async function toldOf(id: string): Promise<unknown[]> {
  const rows = await app.platform.db
    .selectFrom('usage_events')
    .select(['usage', 'bp_id', 'resource_type'])
    .where('resource_id', '=', id)
    .orderBy('at')
    .orderBy('revision')
    .execute()
  for (const row of rows) expect(row).toMatchObject({ bp_id: owner.bp_id })
  return rows.map(({ usage }) => usage).filter((usage, index, all) => JSON.stringify(usage) !== JSON.stringify(all[index - 1]))
}
const sizeOf = async (name: string) =>
  (await call(app, flavors.list, { token: owner.token })).items.find((one) => one.name === name) ?? expect.fail(`no flavor ${name}`)

describe('what resources use', () => {
  it('is told of an instance from its first start to its end', async () => {
    const [nano, medium] = [await sizeOf('nano'), await sizeOf('medium')]
    const image = (await call(app, images.list, { token: owner.token, query: { cloud_id } })).items.find(
      ({ type, name }) => type === 'container' && name === 'busybox',
    )
    const { items } = await call(app, vms.create, {
      token: owner.token,
      body: {
        cloud_id,
        name: `vm-${randomUUID()}`,
        type: 'container',
        image_fingerprint: image?.fingerprint ?? '',
        flavor_id: nano.id,
        network: 'sandbox0',
        password: 'Correct-horse-1',
      },
    })
    const id = items[0]?.id ?? ''
    const becomes = (status: string) =>
      vi.waitFor(async () => expect(await call(app, vms.get, { token: owner.token, params: { id } })).toMatchObject({ status, operation_id: null }), wait)
    await becomes('running')
    const running = { 'vm.vcpu': nano.cpu_cores, 'vm.memory': nano.memory_bytes, 'vm.disk': nano.disk_bytes }
    await call(app, vms.stop, { token: owner.token, params: { id } })
    await becomes('stopped')
    await call(app, vms.resize, { token: owner.token, params: { id }, body: { flavor_id: medium.id } })
    await becomes('stopped')
    await call(app, vms.start, { token: owner.token, params: { id } })
    await becomes('running')
    await call(app, vms.delete, { token: owner.token, params: { id } })
    await vi.waitFor(async () => expect((await send(app, vms.get, { token: owner.token, params: { id } })).status).toBe(404), wait)
    const told = await toldOf(id)
    // The engine may report it stopped once more before it is gone.
    expect(told.slice(0, 4)).toEqual([
      running,
      { 'vm.disk': nano.disk_bytes },
      { 'vm.disk': medium.disk_bytes },
      { 'vm.vcpu': medium.cpu_cores, 'vm.memory': medium.memory_bytes, 'vm.disk': medium.disk_bytes },
    ])
    expect(told.at(-1)).toEqual({})
  })

  it('is told of a volume', async () => {
    const { id } = await call(app, volumes.create, { token: owner.token, body: { cloud_id, name: `vol-${randomUUID()}`, size_bytes: gib } })
    const { pool } = await vi.waitFor(async () => {
      const volume = await call(app, volumes.get, { token: owner.token, params: { id } })
      expect(volume.status).toBe('available')
      return volume
    }, wait)
    await call(app, volumes.grow, { token: owner.token, params: { id }, body: { size_bytes: 3 * gib } })
    await vi.waitFor(
      async () => expect(await call(app, volumes.get, { token: owner.token, params: { id } })).toMatchObject({ status: 'available', size_bytes: 3 * gib }),
      wait,
    )
    await call(app, volumes.delete, { token: owner.token, params: { id } })
    await vi.waitFor(async () => expect((await send(app, volumes.get, { token: owner.token, params: { id } })).status).toBe(404), wait)
    expect(await toldOf(id)).toEqual([{ [`volume.size/${pool}`]: gib }, { [`volume.size/${pool}`]: 3 * gib }, {}])
  })

  it('is told with the change or not at all, and of nobody’s resources never', async () => {
    const { db } = app.platform
    const row = (bp_id: string | null) => ({
      id: randomUUID(),
      cloud_id,
      bp_id,
      project_id: null,
      name: `v-${randomUUID()}`,
      description: '',
      pool: 'default',
      content: 'block' as const,
      engine_name: randomUUID(),
      size_bytes: gib,
      growing_to: null,
      used_bytes: null,
      status: 'available' as const,
      error_text: null,
      vm_id: null,
      path: null,
      source_snapshot_id: null,
      source_backup_id: null,
      observed: 'available' as const,
      node: null,
      created_by: null,
      created_by_name: '',
    })
    const [mine, nobodys, undone] = [row(owner.bp_id), row(null), row(owner.bp_id)]
    // In one transaction, so that no observer sees what the engine does not have.
    await db.transaction().execute(async (tx) => {
      await tx.insertInto('volumes').values([mine, nobodys]).execute()
      await tx.updateTable('volumes').set({ description: 'more' }).where('id', '=', mine.id).execute()
      await tx.updateTable('volumes').set({ bp_id: null }).where('id', '=', mine.id).execute()
      await tx.deleteFrom('volumes').where('id', 'in', [mine.id, nobodys.id]).execute()
    })
    await expect(
      db.transaction().execute(async (tx) => {
        await tx.insertInto('volumes').values(undone).execute()
        throw new Error('changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    expect(await toldOf(mine.id)).toEqual([{ 'volume.size/default': gib }, {}])
    expect(await toldOf(nobodys.id)).toEqual([])
    expect(await toldOf(undone.id)).toEqual([])
    await expect(app.platform.database.pool.query(`update usage_events set at = now()`)).rejects.toThrow('append-only')
  })

  it('is told of addresses, snapshots, backups, images and GPUs', async () => {
    const { pool } = app.platform.database
    const id = {
      pool: randomUUID(),
      eip: randomUUID(),
      vm: randomUUID(),
      snapshot: randomUUID(),
      volume: randomUUID(),
      volumeSnapshot: randomUUID(),
      backup: randomUUID(),
      image: randomUUID(),
      host: randomUUID(),
    }
    const own = [cloud_id, owner.bp_id]
    // In one transaction, so that no observer sees what the engine does not have.
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query(
        `insert into eip_pools (id, cloud_id, name, description, public, excluded, address_count) values ($1, $2, 'metered', '', true, '[]', 1)`,
        [id.pool, cloud_id],
      )
      await client.query(
        `insert into eips (id, cloud_id, bp_id, number, pool_id, name, description, status, bandwidth_mbps, created_by_name) values ($3, $1, $2, 3221225472, $4, 'e', '', 'available', 5, '')`,
        [...own, id.eip, id.pool],
      )
      await client.query('update eips set bandwidth_mbps = 20 where id = $1', [id.eip])
      await client.query('update eips set limits_bandwidth = false where id = $1', [id.eip])
      await client.query('delete from eips where id = $1', [id.eip])

      await client.query(
        `insert into vms (id, cloud_id, bp_id, name, description, type, status, engine_name, image_fingerprint, image_name, flavor_name, cpu_cores, memory_bytes, disk_bytes, network, observed, created_by_name)
         values ($3, $1, $2, 'metered', '', 'vm', 'stopped', 'metered', '', '', '', 1, 1, $4, '', 'stopped', '')`,
        [...own, id.vm, gib],
      )
      await client.query(
        `insert into hosts (id, cloud_id, name, clustered, status, observed, status_message, architecture, hardware, memory_total_bytes, memory_used_bytes) values ($1, $2, 'metered', false, 'online', 'online', '', '', '{}', 1, 0)`,
        [id.host, cloud_id],
      )
      await client.query(
        `insert into host_gpus (host_id, pci_address, vendor, model, driver) values ($1, '0', 'v', 'A100', 'd'), ($1, '1', 'v', 'A100', 'd')`,
        [id.host],
      )
      await client.query('update host_gpus set vm_id = $2 where host_id = $1', [id.host, id.vm])
      await client.query(
        `insert into vm_snapshots (id, cloud_id, bp_id, vm_id, name, description, status, engine_name, created_by_name) values ($3, $1, $2, $4, 's', '', 'creating', 's', '')`,
        [...own, id.snapshot, id.vm],
      )
      await client.query(`update vm_snapshots set status = 'available', size_bytes = 7 where id = $1`, [id.snapshot])
      // Its snapshots and cards go with it.
      await client.query('delete from vms where id = $1', [id.vm])

      await client.query(
        `insert into volumes (id, cloud_id, bp_id, name, description, pool, content, engine_name, size_bytes, status, created_by_name) values ($3, $1, $2, 'metered', '', 'p', 'block', 'metered', 9, 'creating', '')`,
        [...own, id.volume],
      )
      await client.query(
        `insert into volume_snapshots (id, volume_id, cloud_id, bp_id, name, description, engine_name, size_bytes, status, created_by_name) values ($3, $4, $1, $2, 's', '', 's', 9, 'available', '')`,
        [...own, id.volumeSnapshot, id.volume],
      )
      await client.query(
        `insert into volume_backups (id, cloud_id, volume_id, bp_id, name, description, content, size_bytes, status, created_by_name) values ($3, $1, $4, $2, 'b', '', 'block', 9, 'creating', '')`,
        [...own, id.backup, id.volume],
      )
      await client.query(`update volume_backups set status = 'available', file_bytes = 4 where id = $1`, [id.backup])
      await client.query('delete from volume_snapshots where id = $1', [id.volumeSnapshot])
      await client.query('delete from volume_backups where id = $1', [id.backup])
      await client.query('delete from volumes where id = $1', [id.volume])

      await client.query(
        `insert into images (id, cloud_id, bp_id, name, description, status, visibility, source, type, cloud_init, size_bytes, min_cpu_cores, min_memory_bytes, min_disk_bytes, created_by_name)
         values ($3, $1, $2, 'metered', '', 'importing', 'private', 'upload', 'vm', false, 11, 1, 1, 1, '')`,
        [...own, id.image],
      )
      await client.query(`update images set status = 'active' where id = $1`, [id.image])
      await client.query(`update images set visibility = 'public' where id = $1`, [id.image])
      await client.query('delete from images where id = $1', [id.image])
      await client.query('delete from hosts where id = $1', [id.host])
      await client.query('commit')
    } finally {
      // Where it failed its transaction is open still: it goes back to nobody.
      client.release(true)
    }
    expect(await toldOf(id.eip)).toEqual([{ 'eip.address': 1, 'eip.bandwidth': 5 }, { 'eip.address': 1, 'eip.bandwidth': 20 }, { 'eip.address': 1 }, {}])
    expect(await toldOf(id.vm)).toEqual([{ 'vm.disk': gib }, { 'vm.disk': gib, 'vm.gpu/A100': 2 }, {}])
    expect(await toldOf(id.snapshot)).toEqual([{ 'snapshot.size': 7 }, {}])
    expect(await toldOf(id.volume)).toEqual([])
    expect(await toldOf(id.volumeSnapshot)).toEqual([{ 'snapshot.size': 9 }, {}])
    expect(await toldOf(id.backup)).toEqual([{ 'backup.size': 4 }, {}])
    expect(await toldOf(id.image)).toEqual([{ 'image.size': 11 }, {}])
  })
})
