import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { imageLibrary } from '@zhisuan/contract/nextstack/image'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { organisations } from '@zhisuan/contract/ums/user'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { createTransport } from '@zhisuan/engines/lxd/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer, until, type RunningServer, untilTold } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/** Instances of an organisation on a real engine: how their owner gets in, how many there may be, and what others do with them. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('instances on this host', () => {
  const engine = createLxdEngine({ socketPath })
  const transport = createTransport({ socketPath })
  const made = new Set<string>()
  const imagesMade: string[] = []
  let data: TemporaryFolder
  let server: RunningServer | undefined
  let admin: Client
  let owner: Client
  let wish: { cloud_id: string; type: 'container'; image_fingerprint: string; network: string; flavor_id: string }

  const engineName = ({ id }: { id: string }): string => `zs-${id.replaceAll('-', '')}`
  const begin = async (body: object): Promise<Vm> => {
    const [vm] = (await owner.call(vms.create, { body: { ...wish, ...body } })).items
    if (vm === undefined) throw new Error('nothing was made')
    made.add(vm.id)
    return vm
  }
  const settled = ({ id }: { id: string }): Promise<Vm> =>
    until(
      async () => {
        const vm = await owner.call(vms.get, { params: { id } })
        return vm.operation_id === null && vm
      },
      'the instance to come to rest',
      60_000,
    )
  const create = async (body: object): Promise<Vm> => {
    const vm = await settled(await begin(body))
    expect(vm).toMatchObject({ status: 'running', error: null })
    return vm
  }
  const remove = async (vm: { id: string }): Promise<void> => {
    await owner.call(vms.delete, { params: { id: vm.id } })
    await until(
      async () =>
        owner.call(vms.get, { params: { id: vm.id } }).then(
          () => false,
          () => true,
        ),
      'the instance to go',
      60_000,
    )
  }
  const configOf = async (vm: { id: string }): Promise<Record<string, string>> =>
    ((await transport.ask(`/1.0/instances/${engineName(vm)}`)).metadata as { config: Record<string, string> }).config
  const inside = async (vm: { id: string }, ...command: [string, ...string[]]): Promise<string> =>
    (await engine.instances.exec(engineName(vm), { command })).stdout.toString()

  beforeAll(async () => {
    data = temporaryFolder('instances')
    server = await startServer(data.path)
    admin = await asAdministrator(server)
    const { username, password } = await register(server.url, 'instance-owner', '实例测试组织')
    owner = new Client(server.url)
    await owner.signIn(username, password)
    const cloud_id = (await admin.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id }
    const image = await until(async () => (await owner.call(images.list, { query })).items.find(({ name }) => name === 'busybox'), 'the first image')
    const [network] = (await owner.call(networks.list, { query })).items
    const flavor = (await owner.call(flavors.list)).items.find(({ name }) => name === 'nano')
    wish = { cloud_id, type: 'container', image_fingerprint: image.fingerprint, network: network?.name ?? '', flavor_id: flavor?.id ?? '' }
  })
  afterAll(async () => {
    await server?.stop()
    for (const { name, tags } of await engine.instances.list()) if (made.has(tags['vm_id'] ?? '')) await engine.instances.delete(name)
    for (const image of await engine.images.list()) if (imagesMade.includes(image.tags['image_id'] ?? '')) await engine.images.delete?.(image.fingerprint)
    await Promise.all([engine.close(), transport.close()])
    data.remove()
  })

  it('have their owner’s keys: as a file, or by cloud-init where the image runs it', async () => {
    const generated = await owner.call(keyPairs.create, { body: { name: 'generated' } })
    const pasted = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPbn1DVLDkf3ajIbuDwCW9Gh0SJcNnTfhrDEgCdVtGSw pasted'
    const vm = await create({ name: 'keys', key_pair_ids: [generated.id], ssh_public_key: pasted })
    const lines = (await inside(vm, 'cat', '/root/.ssh/authorized_keys')).trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines).toContain(pasted)
    expect(lines.some((line) => line.startsWith(generated.public_key))).toBe(true)
    expect((await inside(vm, 'stat', '-c', '%a %u %g', '/root/.ssh/authorized_keys')).trim()).toBe('600 0 0')
    expect(JSON.stringify(await configOf(vm))).not.toContain('ssh_authorized_keys')
    expect(await owner.call(keyPairs.get, { params: { id: generated.id } })).toMatchObject({ vm_count: 1, vms: [{ id: vm.id }] })

    await owner.call(vms.stop, { params: { id: vm.id }, body: { force: true } })
    await settled(vm)
    const { id } = await owner.call(imageLibrary.fromVm, { body: { name: 'with-cloud-init', vm_id: vm.id, cloud_init: true } })
    imagesMade.push(id)
    const image = await until(async () => {
      const now = await owner.call(imageLibrary.get, { params: { id } })
      return now.status === 'active' && now
    }, 'the image')
    const other = await create({ name: 'keys-by-cloud-init', image_fingerprint: image.fingerprint, key_pair_ids: [generated.id], password: 'Instance-test-1' })
    const config = await configOf(other)
    const userData = config['cloud-init.user-data'] ?? config['user.user-data'] ?? ''
    expect(userData).toMatch(/^#cloud-config\n/)
    expect(userData).toContain(`ssh_authorized_keys: ["${generated.public_key}`)
    expect(userData).toContain('"password":"Instance-test-1"')
    for (const one of [vm, other]) await remove(one)
    await owner.call(imageLibrary.delete, { params: { id } })
    await until(
      async () =>
        owner.call(imageLibrary.get, { params: { id } }).then(
          () => false,
          () => true,
        ),
      'the image to go',
    )
  })

  it('of 100 that are asked for at once where 10 are allowed, are exactly 10', async () => {
    const bp_id = (await admin.call(organisations.list)).items.find(({ name }) => name === '实例测试组织')?.id ?? ''
    await admin.call(quotas.set, { params: { bp_id }, body: { limits: { vms: 10 } } })
    const answers = await Promise.allSettled(Array.from({ length: 100 }, (_, index) => begin({ name: `crowd-${index}`, password: 'Instance-test-1' })))
    const accepted = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    expect(accepted).toHaveLength(10)
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : []))
    expect(refused.filter((reason) => !reason.includes('94030'))).toEqual([])
    for (const vm of accepted) expect(await settled(vm)).toMatchObject({ status: 'running', error: null })
    const there = (await engine.instances.list()).filter(({ tags }) => made.has(tags['vm_id'] ?? ''))
    expect(there.map(({ tags }) => tags['vm_id']).sort()).toEqual(accepted.map(({ id }) => id).sort())
    expect((await owner.call(quotas.mine)).lines.find(({ resource }) => resource === 'vms')).toMatchObject({ used: 10, limit: 10 })
    await Promise.all(accepted.map(remove))
    await admin.call(quotas.set, { params: { bp_id }, body: { limits: { vms: null } } })
  })

  it('show at once what others do with them', async () => {
    const vm = await create({ name: 'followed', password: 'Instance-test-1' })
    const name = engineName(vm)
    const shows = (status: Vm['status']) => untilTold(async () => (await owner.call(vms.get, { params: { id: vm.id } })).status === status, `${status} to show`)
    await engine.instances.stop(name, { force: true })
    await shows('stopped')
    await engine.instances.start(name)
    await shows('running')
    await engine.instances.delete(name)
    await shows('lost')
    await remove(vm)
  })
})
