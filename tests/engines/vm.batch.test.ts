import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { createSandboxEngine } from '@zhisuan/engines/sandbox/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const [batches, each] = [20, 50]

/** As many as no real host of a test bears: on the sandbox engine. */
describe('a thousand instances at once, with the server killed three times', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let client: Client

  const start = async (): Promise<void> => {
    server = await startServer(data.path, { LOCAL_CLOUD: 'sandbox' })
    client = await asAdministrator(server)
  }
  const count = async (query: Record<string, string> = {}): Promise<number> => (await client.call(vms.list, { query: { page_size: '1', ...query } })).total

  beforeAll(async () => {
    data = temporaryFolder('batch')
    await start()
  })
  afterAll(async () => {
    await server?.stop()
    data?.remove()
  })

  it('all run, each made once', async () => {
    const cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id, type: 'container' }
    const image = await until(async () => (await client.call(images.list, { query })).items.find(({ name }) => name === 'busybox'), 'the first image')
    const [network] = (await client.call(networks.list, { query: { cloud_id } })).items
    const [flavor] = (await client.call(flavors.list)).items
    const body = {
      cloud_id,
      type: 'container',
      count: each,
      image_fingerprint: image?.fingerprint,
      network: network?.name,
      flavor_id: flavor?.id,
      password: 'Batch-test-1',
    }
    const answers = await Promise.all(Array.from({ length: batches }, (_, batch) => client.call(vms.create, { body: { ...body, name: `batch-${batch}` } })))
    const ids = new Set(answers.flatMap(({ items }) => items.map(({ id }) => id)))
    expect(ids.size).toBe(batches * each)

    for (const share of [0.05, 0.35, 0.7]) {
      await until(async () => (await count({ status: 'running' })) >= share * ids.size, `${share} of them to run`, 120_000)
      server.process.kill('SIGKILL')
      await server.ended
      await start()
      // It was killed in the middle of it.
      expect(await count({ status: 'creating' })).toBeGreaterThan(0)
    }

    await until(async () => (await count({ status: 'running' })) === ids.size, 'all to run', 180_000)
    expect(await count()).toBe(ids.size)
    const all: Vm[] = []
    for (let page = 1; all.length < ids.size; page++)
      all.push(...(await client.call(vms.list, { query: { page_num: String(page), page_size: '100', sort: 'name' } })).items)
    expect(new Set(all.map(({ id }) => id))).toEqual(ids)
    for (const { id, error, operation_id } of all) {
      expect({ error, operation_id }).toEqual({ error: null, operation_id: null })
      const { items } = await client.call(vms.operations, { params: { id } })
      expect(items).toMatchObject([{ kind: 'nextstack.vm.create', status: 'succeeded' }])
    }

    // And so says the engine itself.
    await server.stop()
    const [place = ''] = readdirSync(join(data.path, 'sandbox'))
    const engine = createSandboxEngine({ directory: join(data.path, 'sandbox', place) })
    const there = await engine.instances.list()
    expect(there.map(({ tags }) => tags['vm_id']).sort()).toEqual([...ids].sort())
    expect(there.filter(({ power }) => power !== 'running')).toEqual([])
    await engine.close()
  })
})
