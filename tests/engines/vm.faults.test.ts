import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, killing, pointsOf, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/**
 * The server is killed (-9) with an operation before and after each of its steps, started again, and
 * each ends as it was asked for: once, with nothing left over on the engine. And so do those that are cancelled.
 */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)(
  'operations on instances, with the server killed at every step, and cancelled',
  () => {
    const engine = createLxdEngine({ socketPath })
    let server: RunningServer | undefined
    let client: Client
    let cloud_id: string
    let data: TemporaryFolder

    const restart = async (): Promise<void> => {
      const started = await startServer(data.path)
      server = started
      client = await asAdministrator(started)
    }
    const ours = async (id: string) => (await engine.instances.list()).filter((one) => one.tags['vm_id'] === id)
    const create = async (name: string): Promise<string> => {
      const query = { cloud_id }
      const image = (await client.call(images.list, { query })).items.find(({ name }) => name === 'busybox')
      const [network] = (await client.call(networks.list, { query })).items
      const [flavor] = (await client.call(flavors.list)).items
      const { items } = await client.call(vms.create, {
        body: {
          cloud_id,
          name,
          type: 'container',
          image_fingerprint: image?.fingerprint,
          network: network?.name,
          flavor_id: flavor?.id,
          password: 'Fault-test-1',
        },
      })
      return items[0]?.id ?? ''
    }
    const status = async (nameOrId: string) => (await client.call(vms.list, { query: { keyword: nameOrId } })).items[0]

    beforeAll(async () => {
      data = temporaryFolder('faults')
      await restart()
      cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
      // Built on this host at the first start.
      await until(async () => (await client.call(images.list, { query: { cloud_id } })).items.some(({ name }) => name === 'busybox'), 'the first image')
    })
    afterAll(async () => {
      await server?.stop()
      await engine.close()
      data.remove()
    })

    const killedAt = killing(() => server, restart)
    const gone = (id: string) => until(async () => (await status(id)) === undefined, 'the instance to be gone')

    it('create, killed before and after each step', async () => {
      const points = pointsOf('nextstack.vm.create', 'create', 'start', 'access')
      const names = points.map((_, index) => `killed-${index}`)
      await killedAt(points, ...names.map((name) => () => create(name)))
      for (const name of names) {
        const id = (await status(name))?.id ?? ''
        const vm = await until(async () => {
          const now = await status(id)
          return now?.operation_id === null && now
        }, 'the creation to end')
        expect(vm.status).toBe('running')
        const [instance, ...others] = await ours(id)
        expect(others).toEqual([])
        expect(instance?.power).toBe('running')
        const shadow = await engine.instances.exec(instance?.name ?? '', { command: ['grep', '^root:', '/etc/shadow'] })
        expect(shadow.stdout.toString()).toMatch(/^root:\$6\$/)

        await client.call(vms.delete, { params: { id } })
        await gone(id)
        expect(await ours(id)).toEqual([])
      }
    })

    const operationOf = async (id: string) => (await status(id))?.operation_id ?? ''
    const cancel = (id: string, operation_id: string) => client.call(vms.cancelOperation, { params: { id, operation_id } })

    it('create, cancelled, and killed before and after it is taken back', async () => {
      const points = pointsOf('nextstack.vm.create', 'undo')
      const ids: string[] = []
      await killedAt(
        points,
        ...points.map((_, index) => async () => {
          const id = await create(`cancelled-${index}`)
          ids.push(id)
          await cancel(id, await operationOf(id))
        }),
      )
      expect(ids).toHaveLength(points.length)
      for (const id of ids) {
        await gone(id)
        expect(await ours(id)).toEqual([])
      }
    })

    const begun = async (id: string) => (await ours(id))[0]?.power
    it.each<[string, (id: string) => Promise<boolean>]>([
      ['at once', async () => true],
      ['when the engine has begun', async (id) => (await begun(id)) !== undefined],
      ['when it starts', async (id) => (await begun(id)) === 'running'],
    ])('create, cancelled %s', async (moment, reached) => {
      const id = await create(`cancelled-${moment.replaceAll(' ', '-')}`)
      const operation = await operationOf(id)
      await until(() => reached(id), moment)
      const answer = await cancel(id, operation).catch((error: unknown) => String(error))
      if (typeof answer === 'string') {
        // It was through already: then it stays.
        expect(answer).toContain('90017')
        expect((await status(id))?.status).toBe('running')
        await client.call(vms.delete, { params: { id } })
      } else expect(answer).toMatchObject({ id: operation, status: 'cancelling' })
      await gone(id)
      expect(await ours(id)).toEqual([])
    })

    it('rebuild, cancelled before the disk is touched', async () => {
      const id = await create('rebuilt')
      await until(async () => (await status(id))?.operation_id === null, 'the instance to run')
      const name = (await ours(id))[0]?.name ?? ''
      await engine.instances.writeFile(name, { path: '/root/kept', content: Buffer.from('kept'), mode: 0o600 })
      const { image, operation_id } = await client.call(vms.rebuild, { params: { id }, body: { image_fingerprint: (await status(id))?.image.fingerprint } })
      const answer = await cancel(id, operation_id ?? '')
      expect(answer).toMatchObject({ kind: 'nextstack.vm.rebuild', status: 'cancelling' })
      await until(async () => (await status(id))?.operation_id === null, 'the rebuild to be taken back')
      expect(await status(id)).toMatchObject({ status: 'running', error: null, image })
      expect((await engine.instances.exec(name, { command: ['cat', '/root/kept'] })).stdout.toString()).toBe('kept')
      expect((await client.call(vms.operations, { params: { id } })).items[0]).toMatchObject({ status: 'cancelled', error: null })
      await client.call(vms.delete, { params: { id } })
      await gone(id)
    })

    it('delete, killed before and after its step', async () => {
      const points = pointsOf('nextstack.vm.delete', 'delete')
      const ids = await Promise.all(points.map((_, index) => create(`doomed-${index}`)))
      for (const id of ids) await until(async () => (await status(id))?.status === 'running', 'the instance to run')
      await killedAt(points, ...ids.map((id) => () => client.call(vms.delete, { params: { id } })))
      for (const id of ids) {
        await gone(id)
        expect(await ours(id)).toEqual([])
      }
    })
  },
)
