import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  availabilityZones,
  computeInstances as calls,
  serverGroups,
  type ComputeInstance,
  type ComputeInstanceDetail,
  type InstanceState,
} from '@zhisuan/contract/compute/instance'
import { recycledInstances, retentions, type RecycledInstance } from '@zhisuan/contract/compute/recycled'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until, untilGone } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack, lines } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { createRecycleOperations } from '../recycle/recycle.operations.ts'
import { purgeDueJob } from '../recycle/recycle.service.ts'
import { createTenancy } from '../tenancy/tenancy.service.ts'

const gib = 2 ** 30

describe.runIf(cloudIsThere)('instances on a real OpenStack', () => {
  let app: TestApp
  let cloud_id: string
  const direct = directly()
  /** Newest first. */
  const undo: (() => Promise<unknown>)[] = []
  let tenant: { token: string }
  let other: { token: string }
  let admin: { token: string }
  /** The tenant's own place, as the cloud sees it. */
  let inside: OpenStack
  let network_id: string
  let public_id: string
  let image_id: string
  let flavor: { tiny: string; small: string }

  const at = (id: string) => ({ cloud_id, id })
  const look = (id: string): Promise<ComputeInstanceDetail> => call(app, calls.get, { token: tenant.token, params: at(id) })
  const reaches = (id: string, state: InstanceState): Promise<ComputeInstanceDetail> =>
    until(
      () => look(id),
      (one) => one.state === state,
      (one) => ['error', 'create_failed'].includes(one.state) && one.state !== state,
    )
  const ask = (declared: Call, id: string, body?: unknown, who = tenant) =>
    send(app, declared, { token: who.token, params: at(id), ...(body !== undefined && { body }) })
  const wish = (changes: Record<string, unknown> = {}) => ({
    name: ownName('vm'),
    flavor_id: flavor.tiny,
    source: { type: 'image', image_id },
    networks: [{ network_id }],
    ...changes,
  })
  const make = async (changes: Record<string, unknown> = {}): Promise<string> => {
    const { items: made } = await call(app, calls.create, { token: tenant.token, params: { cloud_id }, body: wish(changes) as never })
    for (const { id } of made) undo.unshift(() => removed(id ?? ''))
    return made[0]?.id ?? ''
  }
  const removed = async (id: string): Promise<void> => {
    const { servers } = inside.compute
    const there = await servers.get(id).catch(() => null)
    if (there === null) return
    if (there.locked) await servers.act(id, 'unlock')
    await servers.act(id, 'forceDelete').catch(() => undefined)
    await untilGone(() => servers.get(id))
  }
  const bin = (who = tenant): Promise<RecycledInstance[]> => items(app, recycledInstances.list, { token: who.token, params: { cloud_id } })
  const binned = (id: string): Promise<RecycledInstance | undefined> => bin().then((all) => all.find((one) => one.id === id))
  const listed = async (who = tenant): Promise<string[]> =>
    (await items(app, calls.list, { token: who.token, params: { cloud_id } })).map(({ id }: ComputeInstance) => id)

  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = await someone(app, { kind: 1 })
    tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })
    other = await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })
    // What the tenants first make gives them their projects on the cloud.
    for (const who of [tenant, other]) {
      const group = await call(app, serverGroups.create, { token: who.token, params: { cloud_id }, body: { name: ownName('first'), policy: 'affinity' } })
      undo.unshift(() => direct.within({ id: group.keystone_project_id ?? '' }).compute.serverGroups.delete(group.id))
      if (who === tenant) inside = direct.within({ id: group.keystone_project_id ?? '' })
    }
    const [networks, images, sizes] = await Promise.all([
      all(direct.network.networks.list({ 'router:external': true })),
      all(direct.images.list({ name: 'empty' })),
      all(direct.compute.flavors.list()),
    ])
    public_id = networks.find(({ name }) => name === 'public')?.id ?? ''
    image_id = images[0]?.id ?? ''
    flavor = { tiny: sizes.find(({ name }) => name === 'm1.tiny')?.id ?? '', small: sizes.find(({ name }) => name === 'm1.small')?.id ?? '' }
    const network = await inside.network.networks.create({ name: ownName('net') })
    network_id = network.id
    undo.unshift(() => inside.network.networks.delete(network_id))
    const subnet = await inside.network.subnets.create({ networkId: network_id, name: 'subnet', cidr: '10.78.0.0/24', version: 4 })
    const router = await inside.network.routers.create({ name: ownName('router'), gateway: { networkId: public_id } })
    await inside.network.routers.addInterface(router.id, { subnetId: subnet.id })
    undo.unshift(async () => {
      await inside.network.routers.removeInterface(router.id, { subnetId: subnet.id })
      await inside.network.routers.delete(router.id)
    })
  })
  afterAll(async () => {
    for (const one of undo) await one()
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  it('are made as they were wished for, and go through their states', async () => {
    const key = await call(app, keyPairs.create, { token: tenant.token, body: { name: `key-${Date.now()}` } })
    const group = await call(app, serverGroups.create, { token: tenant.token, params: { cloud_id }, body: { name: '分散', policy: 'soft-anti-affinity' } })
    undo.unshift(() => inside.compute.serverGroups.delete(group.id))
    const id = await make({
      name: '第一台',
      description: '说明',
      key_pair_id: key.id,
      server_group_id: group.id,
      user_data: '#cloud-config\n',
      metadata: { use: '测试' },
      tags: ['zs'],
      disks: [],
    })
    undo.push(() => direct.compute.keyPairs.delete(`zs-${key.id}`).catch(() => undefined))
    const born = await reaches(id, 'running')
    expect(born).toMatchObject({
      name: '第一台',
      description: '说明',
      code: 1,
      image_id,
      flavor: { name: 'm1.tiny', vcpus: 1, memory_bytes: 512 * 2 ** 20, disk_bytes: gib },
      metadata: { use: '测试' },
      tags: ['zs'],
      key_name: `zs-${key.id}`,
      host: null,
      vm_state: null,
      recycled: false,
    })
    expect(born.names).toMatchObject({ [`zs-${key.id}`]: key.name, [image_id]: 'empty' })
    expect(born.interfaces).toEqual([expect.objectContaining({ network_id })])
    expect((await items(app, serverGroups.list, { token: tenant.token, params: { cloud_id } })).find((one) => one.id === group.id)?.member_ids).toEqual([id])
    const told = await lines(app, calls.list, { token: tenant.token, params: { cloud_id } })
    expect(Object.assign({}, ...told.map(({ names }) => names))).toMatchObject({ [image_id]: 'empty', [`zs-${key.id}`]: key.name })
    // Of platform-level people, Nova's own words too.
    expect((await items(app, calls.list, { token: admin.token, params: { cloud_id } })).find((one) => one.id === id)).toMatchObject({
      vm_state: 'active',
      host: expect.any(String),
    })

    const steps: [Call, unknown, InstanceState, typeof tenant?][] = [
      [calls.stop, undefined, 'stopped'],
      [calls.start, undefined, 'running'],
      [calls.pause, undefined, 'paused'],
      [calls.unpause, undefined, 'running'],
      [calls.suspend, undefined, 'suspended'],
      [calls.resume, undefined, 'running'],
      [calls.reboot, { type: 'soft' }, 'running'],
      [calls.reboot, { type: 'hard' }, 'running'],
      [calls.resize, { flavor_id: flavor.small }, 'resized'],
      [calls.revertResize, undefined, 'running'],
      [calls.resize, { flavor_id: flavor.small }, 'resized'],
      [calls.confirmResize, undefined, 'running'],
      [calls.rescue, {}, 'rescued'],
      [calls.unrescue, undefined, 'running'],
      [calls.rebuild, { image_id }, 'running'],
      [calls.migrate, {}, 'resized', admin],
      [calls.confirmResize, undefined, 'running', admin],
      [calls.shelve, undefined, 'shelved'],
      [calls.unshelve, undefined, 'running'],
      [calls.resetState, { state: 'error' }, 'error', admin],
      [calls.resetState, { state: 'active' }, 'running', admin],
    ]
    for (const [declared, body, state, who] of steps) {
      const answer = await ask(declared, id, body, who)
      expect([declared.id, answer.status, answer.status === 202 ? '' : answer.body]).toEqual([declared.id, 202, ''])
      await reaches(id, state)
    }
    expect((await look(id)).flavor?.name).toBe('m1.small')
    // What its state does not allow is refused before the cloud is asked.
    expect(await ask(calls.start, id)).toMatchObject({ status: 409, body: { code: errors.instanceNotNow.code } })
    expect(await ask(calls.migrate, id, {})).toMatchObject({ status: 403 })
    expect(await ask(calls.resetState, id, { state: 'active' })).toMatchObject({ status: 403 })

    expect((await call(app, calls.lock, { token: tenant.token, params: at(id) })).locked).toBe(true)
    expect(await ask(calls.stop, id)).toMatchObject({ status: 409, body: { code: errors.instanceLocked.code } })
    expect((await call(app, calls.unlock, { token: tenant.token, params: at(id) })).locked).toBe(false)
    expect(await call(app, calls.update, { token: tenant.token, params: at(id), body: { name: '改名', description: '新' } })).toMatchObject({
      name: '改名',
      description: '新',
    })
    expect((await call(app, calls.setMetadata, { token: tenant.token, params: at(id), body: { metadata: { a: 'b' } } })).metadata).toEqual({ a: 'b' })
    expect((await call(app, calls.setTags, { token: tenant.token, params: at(id), body: { tags: ['x', '标签'] } })).tags.toSorted()).toEqual(
      ['x', '标签'].toSorted(),
    )
    const actions = await items(app, calls.actions, { token: tenant.token, params: at(id) })
    expect(actions.map(({ action }) => action)).toEqual(expect.arrayContaining(['create', 'stop', 'start', 'resize', 'shelve', 'rebuild']))
  })

  it('take volumes and interfaces, and let go of them', async () => {
    const id = await make()
    await reaches(id, 'running')
    const volume = await inside.volume.volumes.create({ name: '数据盘', sizeGib: 1 })
    undo.unshift(() => inside.volume.volumes.delete(volume.id))
    await until(
      () => inside.volume.volumes.get(volume.id),
      ({ status }) => status === 'available',
    )
    expect(await call(app, calls.attachVolume, { token: tenant.token, params: at(id), body: { volume_id: volume.id } })).toMatchObject({
      volume_id: volume.id,
      device: expect.stringMatching(/^\/dev\//),
    })
    const attached = await until(
      () => look(id),
      ({ volumes }) => volumes.length === 1,
    )
    expect(attached.volumes[0]).toMatchObject({ volume_id: volume.id, name: '数据盘', size_bytes: gib, delete_on_termination: false })
    await until(
      () => inside.volume.volumes.get(volume.id),
      ({ status }) => status === 'in-use',
    )
    await call(app, calls.detachVolume, { token: tenant.token, params: { ...at(id), volume_id: volume.id } })
    await until(
      () => inside.volume.volumes.get(volume.id),
      ({ status }) => status === 'available',
    )

    const second = await call(app, calls.attachInterface, { token: tenant.token, params: at(id), body: { network_id, address: '10.78.0.77' } })
    expect(second.addresses).toMatchObject([{ address: '10.78.0.77' }])
    expect((await look(id)).interfaces).toHaveLength(2)
    await call(app, calls.detachInterface, { token: tenant.token, params: { ...at(id), port_id: second.port_id } })
    await until(
      () => look(id),
      ({ interfaces }) => interfaces.length === 1,
    )
    expect(await refused(app, calls.attachVolume, { token: tenant.token, params: at(id), body: { volume_id: network_id } })).toMatchObject({
      status: 400,
      fields: [{ field: 'volume_id' }],
    })
  })

  it('have a serial console that is typed into, by one at a time, of their own organisation', async () => {
    await app.http.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.http.server.address() as AddressInfo
    const id = await make({ name: 'serial' })
    await reaches(id, 'running')
    const opened = (body = {}, who = tenant) => call(app, calls.serialConsole, { token: who.token, params: at(id), body })
    const screen = async (path: string) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
      undo.unshift(async () => socket.terminate())
      const said: string[] = []
      const frames: unknown[] = []
      socket.on('message', (data: Buffer, isBinary) => (isBinary ? said.push(data.toString()) : frames.push(JSON.parse(data.toString()))))
      const closed = new Promise<number>((resolve) => socket.once('close', resolve))
      await once(socket, 'open')
      return {
        socket,
        frames,
        closed,
        type: (text: string) => socket.send(Buffer.from(text), { binary: true }),
        shows: (text: string) => vi.waitFor(() => expect(said.join('')).toContain(text), { interval: 20 }),
      }
    }
    expect(await ask(calls.serialConsole, id, {}, other)).toMatchObject({ status: 404 })

    const first = await opened()
    const mine = await screen(first.socket_path)
    mine.type('\r')
    await mine.shows('serial login: ')
    for (const [typed, answer] of [
      ['root', 'Password: '],
      ['x', 'Welcome to serial'],
      ['echo 你好', '\r\n你好\r\n'],
      ['seq 100000', '\r\n100000\r\n'],
    ] as const) {
      mine.type(`${typed}\r`)
      await mine.shows(answer)
    }
    // Its ticket is spent; who comes back gets another, and goes on where they were.
    await expect(screen(first.socket_path)).rejects.toThrow('401')
    mine.socket.terminate()
    const back = await screen((await vi.waitFor(() => opened({ terminal_id: first.terminal_id }))).socket_path)
    await back.shows('100000\r\nroot@serial:~# ')
    // The port is one: a colleague is told, and takes it over as it is.
    expect(await ask(calls.serialConsole, id, {}, admin)).toMatchObject({ status: 409, body: { code: errors.terminalOpen.code } })
    const theirs = await screen((await opened({ take_over: true }, admin)).socket_path)
    expect(await back.closed).toBe(1000)
    theirs.type('echo taken\r')
    await theirs.shows('\r\ntaken\r\n')
    theirs.type('exit\r')
    await theirs.shows('serial login: ')
    // A machine that goes off hangs up.
    expect((await ask(calls.stop, id)).status).toBe(202)
    expect(await theirs.closed).toBe(1000)
    expect(theirs.frames.at(-1)).toMatchObject({ type: 'exit', problem: { code: errors.consoleHungUp.code } })
    await reaches(id, 'stopped')
    expect(await ask(calls.serialConsole, id, {})).toMatchObject({ status: 409, body: { code: errors.instanceNotNow.code } })
  })

  it('say which part of a wish is not there, and make several at once', async () => {
    const body = { token: tenant.token, params: { cloud_id } }
    for (const [changes, field] of [
      [{ flavor_id: 'none' }, 'flavor_id'],
      [{ source: { type: 'image', image_id: network_id } }, 'source.image_id'],
      [{ source: { type: 'volume', volume_id: network_id } }, 'source.volume_id'],
      [{ networks: [{ network_id: image_id }] }, 'networks.0.network_id'],
      [{ key_pair_id: '018f0000-0000-7000-8000-000000000000' }, 'key_pair_id'],
      [{ server_group_id: image_id }, 'server_group_id'],
    ] as const) {
      expect(await refused(app, calls.create, { ...body, body: wish(changes) })).toMatchObject({ status: 400, fields: [{ field }] })
    }
    // Another's network is not there either.
    expect(await refused(app, calls.create, { ...body, token: other.token, body: wish() })).toMatchObject({ fields: [{ field: 'networks.0.network_id' }] })
    const { items: made } = await call(app, calls.create, { ...body, body: wish({ name: '组', count: 3 }) as never })
    for (const { id } of made) undo.unshift(() => removed(id ?? ''))
    expect(made.map(({ name }) => name)).toEqual(['组-1', '组-2', '组-3'])
    const ids = made.map(({ id }) => id ?? '')
    await Promise.all(ids.map((id) => reaches(id, 'running')))
    await call(app, calls.delete, { token: tenant.token, params: at(ids[0] ?? '') })
    await untilGone(() => inside.compute.servers.get(ids[0] ?? ''))
    expect((await call(app, availabilityZones.list, { token: tenant.token, params: { cloud_id } })).items).toContainEqual({ name: 'nova', available: true })
  })

  it('of another organisation are not there: in no list, by no id', async () => {
    const id = await make()
    await reaches(id, 'running')
    expect(await listed()).toContain(id)
    expect(await listed(other)).toEqual([])
    const bodies: Record<string, unknown> = {
      update: { name: 'x' },
      resize: { flavor_id: flavor.small },
      rebuild: { image_id },
      changePassword: { password: 'Correct-horse-1' },
      setMetadata: { metadata: {} },
      setTags: { tags: [] },
      attachInterface: { network_id },
      attachVolume: { volume_id: network_id },
      snapshot: { name: 'x' },
    }
    const admins = new Set<Call>([calls.migrate, calls.liveMigrate, calls.resetState])
    for (const [name, declared] of Object.entries(calls) as [string, Call][]) {
      if (!declared.path.includes('{id}') || admins.has(declared)) continue
      const answer = await send(app, declared, {
        token: other.token,
        params: { ...at(id), port_id: id, volume_id: id },
        ...(declared.method !== 'GET' && declared.method !== 'DELETE' && { body: bodies[name] ?? {} }),
      })
      expect([name, answer.status]).toEqual([name, 404])
    }
    expect(await look(id)).toMatchObject({ state: 'running', locked: false })
    expect((await items(app, serverGroups.list, { token: other.token, params: { cloud_id } })).length).toBe(1)
  })

  it('lie in the recycle bin with everything that they need to come back', async () => {
    const id = await make({ name: '回收' })
    const { interfaces } = await reaches(id, 'running')
    const port = interfaces[0]?.port_id ?? ''
    const ip = await inside.network.floatingIps.create({ networkId: public_id, portId: port })
    undo.unshift(() => inside.network.floatingIps.delete(ip.id))
    expect(await call(app, retentions.get, { token: tenant.token, params: { cloud_id } })).toEqual({ days: 7 })
    expect(await send(app, retentions.set, { token: tenant.token, params: { cloud_id }, body: { days: 3 } })).toMatchObject({ status: 403 })
    expect(await call(app, retentions.set, { token: admin.token, params: { cloud_id }, body: { days: 3 } })).toEqual({ days: 3 })

    // Two at once: it goes there once.
    const both = await Promise.all([ask(calls.recycle, id), ask(calls.recycle, id)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([202, 409])
    const lying = await until(
      () => binned(id),
      (one) => one?.status === 'recycled',
    )
    expect(lying).toMatchObject({ name: '回收', kept_by: 'console', ran: true, floating_ips: [ip.address], error: null, flavor: { name: 'm1.tiny' } })
    expect(Math.round((Date.parse(lying?.until ?? '') - Date.now()) / (24 * 3600_000))).toBe(3)
    expect(await inside.compute.servers.get(id)).toMatchObject({ state: 'stopped', locked: true })
    expect((await inside.network.floatingIps.get(ip.id)).portId).toBeNull()
    expect(await listed()).not.toContain(id)
    expect((await look(id)).recycled).toBe(true)
    for (const declared of [calls.start, calls.unlock, calls.recycle, calls.delete])
      expect(await ask(declared, id)).toMatchObject({ status: 409, body: { code: errors.instanceRecycled.code } })
    for (const declared of [recycledInstances.restore, recycledInstances.purge])
      expect(await ask(declared, id, undefined, other)).toMatchObject({ status: 404 })
    expect(await bin(other)).toEqual([])

    // As if a server had been killed after each step, before that was recorded.
    const there = async () => direct
    const tenancy = createTenancy({
      ...app.platform,
      tell: async () => undefined,
      clouds: { openStack: there, openStackForChange: there } as never,
      mayMake: async () => undefined,
    })
    const row = await app.platform.db.selectFrom('recycled_instances').selectAll().where('instance_id', '=', id).executeTakeFirstOrThrow()
    const context = { operation_id: row.id, resource_id: row.id, input: {}, signal: new AbortController().signal, log: app.platform.log }
    for (const step of createRecycleOperations({ db: app.platform.db, tenancy }).recycle.steps) await step.run(context)
    expect((await binned(id))?.floating_ips).toEqual([ip.address])

    expect(await ask(recycledInstances.restore, id)).toMatchObject({ status: 202, body: { status: 'restoring' } })
    expect(
      await until(
        () => binned(id),
        (one) => one === undefined,
      ),
    ).toBeUndefined()
    expect(await reaches(id, 'running')).toMatchObject({ locked: false, recycled: false })
    expect((await inside.network.floatingIps.get(ip.id)).portId).toBe(port)
    expect(await listed()).toContain(id)

    // Its address was given to another meanwhile: it stays there.
    const second = await make()
    const otherPort = (await reaches(second, 'running')).interfaces[0]?.port_id ?? ''
    await call(app, calls.recycle, { token: tenant.token, params: at(id) })
    await until(
      () => binned(id),
      (one) => one?.status === 'recycled',
    )
    await inside.network.floatingIps.update(ip.id, { portId: otherPort })
    await call(app, recycledInstances.restore, { token: tenant.token, params: at(id) })
    await until(
      () => binned(id),
      (one) => one === undefined,
    )
    expect((await inside.network.floatingIps.get(ip.id)).portId).toBe(otherPort)

    // Its time is over.
    await reaches(id, 'running')
    await call(app, calls.recycle, { token: tenant.token, params: at(id) })
    await until(
      () => binned(id),
      (one) => one?.status === 'recycled',
    )
    await app.platform.db
      .updateTable('recycled_instances')
      .set({ until: new Date(0) })
      .where('instance_id', '=', id)
      .execute()
    await app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, purgeDueJob, {}))
    expect(
      await until(
        () => binned(id),
        (one) => one === undefined,
      ),
    ).toBeUndefined()
    await untilGone(() => inside.compute.servers.get(id))
  })

  it('that the cloud itself keeps can be restored and purged too', async () => {
    const id = await make()
    await reaches(id, 'running')
    await inside.compute.servers.delete(id)
    const lying = await until(
      () => binned(id),
      (one) => one !== undefined,
    )
    expect(lying).toMatchObject({ kept_by: 'cloud', status: 'recycled', until: null })
    expect(await bin(other)).toEqual([])
    expect(await listed()).not.toContain(id)
    expect(await ask(recycledInstances.restore, id, undefined, other)).toMatchObject({ status: 404 })
    await call(app, recycledInstances.restore, { token: tenant.token, params: at(id) })
    await reaches(id, 'running')
    // What lies in no bin is purged from none.
    expect(await ask(recycledInstances.purge, id)).toMatchObject({ status: 404 })
    await inside.compute.servers.delete(id)
    await until(
      () => binned(id),
      (one) => one !== undefined,
    )
    await call(app, recycledInstances.purge, { token: tenant.token, params: at(id) })
    await untilGone(() => inside.compute.servers.get(id))
  })
})
