import {
  computeInstances as calls,
  instanceCan,
  instanceCanLocked,
  instanceTransitional,
  type ComputeInstanceDetail,
  type InstanceAction,
  type InstanceState,
} from '@zhisuan/contract/compute/instance'
import { computeNetworks } from '@zhisuan/contract/compute/network'
import { recycledInstances } from '@zhisuan/contract/compute/recycled'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until, untilGone } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send, type Answer } from '../../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack } from '../../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

/** Where an instance stays until something is asked for; all others pass by themselves. */
export const resting = [
  'running',
  'stopped',
  'paused',
  'suspended',
  'shelved',
  'rescued',
  'resized',
  'error',
  'create_failed',
] as const satisfies readonly InstanceState[]
type State = (typeof resting)[number]

/** What is asked for, and what there is to see of it. */
interface Deed {
  readonly call: Call
  readonly body?: (id: string) => Promise<unknown>
  readonly params?: (id: string) => Promise<Record<string, string>>
  /** An administrator asks. */
  readonly admin?: true
  /** What it leaves the instance in; where this says nothing, in the same as before. */
  readonly leaves?: (from: State) => State
  readonly proof?: (id: string, answer: Answer) => Promise<void>
}

/** An instance that is walked through its states, asked of the server as people ask it. */
export interface Walk {
  /** In that state. */
  started(state: State): Promise<string>
  make(): Promise<string>
  ask(declared: Call, id: string): Promise<Answer>
  gone(id: string): Promise<void>
  /** In that state, Nova does what the table (`instanceCan`) allows, and is not asked for the rest. */
  walks(state: State): Promise<void>
  /** The same of one that is locked (`instanceCanLocked`). */
  walksLocked(): Promise<void>
}

/** @param from the first three parts of the addresses of a network of its own */
export function describeStates(title: string, from: string, tests: (walk: Walk) => void): void {
  describe.runIf(cloudIsThere)(title, () => statesOf(from, tests))
}

function statesOf(from: string, tests: (walk: Walk) => void): void {
  let app: TestApp
  let cloud_id: string
  let tenant: { token: string }
  let admin: { token: string }
  let inside: OpenStack
  let network_id: string
  let image_id: string
  let flavors: { tiny: string; small: string; huge: string }
  const direct = directly()

  const ask = (declared: Call, id: string, more: { body?: unknown; who?: { token: string }; params?: Record<string, string> } = {}): Promise<Answer> =>
    send(app, declared, { token: (more.who ?? tenant).token, params: { cloud_id, id, ...more.params }, ...(more.body !== undefined && { body: more.body }) })
  const look = (id: string): Promise<ComputeInstanceDetail> => call(app, calls.get, { token: admin.token, params: { cloud_id, id } })
  const now = (id: string) => inside.compute.servers.get(id)
  /** Nothing is being done to it. Asked of Nova, which is a single request. */
  const rests = (id: string, good: (state: InstanceState) => boolean = () => true) =>
    until(
      () => now(id),
      (one) => one.taskState === null && !instanceTransitional.includes(one.state) && good(one.state),
    )
  const make = async (flavor_id = flavors.tiny): Promise<string> => {
    const { items: made } = await call(app, calls.create, {
      token: tenant.token,
      params: { cloud_id },
      body: { name: ownName('vm'), flavor_id, source: { type: 'image', image_id }, networks: [{ network_id }] },
    })
    return made[0]?.id ?? ''
  }

  const simple = (declared: Call, leaves?: (from: State) => State): Deed => ({ call: declared, ...(leaves !== undefined && { leaves }) })
  const other = async (id: string) => ({ flavor_id: (await now(id)).flavor?.name === 'm1.tiny' ? flavors.small : flavors.tiny })
  const off: Record<Exclude<InstanceAction, 'console' | 'delete'>, Deed> = {
    start: simple(calls.start, () => 'running'),
    stop: simple(calls.stop, () => 'stopped'),
    pause: simple(calls.pause, () => 'paused'),
    unpause: simple(calls.unpause, () => 'running'),
    suspend: simple(calls.suspend, () => 'suspended'),
    resume: simple(calls.resume, () => 'running'),
    shelve: simple(calls.shelve, () => 'shelved'),
    unshelve: simple(calls.unshelve, () => 'running'),
    rebootSoft: { call: calls.reboot, body: async () => ({ type: 'soft' }) },
    rebootHard: { call: calls.reboot, body: async () => ({ type: 'hard' }), leaves: () => 'running' },
    lock: { call: calls.lock, proof: async (id) => expect((await now(id)).locked).toBe(true) },
    unlock: { call: calls.unlock, proof: async (id) => expect((await now(id)).locked).toBe(false) },
    resize: { call: calls.resize, body: other, leaves: () => 'resized' },
    confirmResize: simple(calls.confirmResize, () => 'running'),
    revertResize: simple(calls.revertResize, () => 'running'),
    rebuild: {
      call: calls.rebuild,
      body: async () => ({ image_id, password: 'Correct-horse-2' }),
      leaves: (from) => (from === 'stopped' ? 'stopped' : 'running'),
    },
    rescue: {
      call: calls.rescue,
      body: async () => ({ image_id, password: 'Correct-horse-3' }),
      leaves: () => 'rescued',
      proof: async (_, { body }) => expect(body).toMatchObject({ password: 'Correct-horse-3' }),
    },
    unrescue: simple(calls.unrescue, () => 'running'),
    changePassword: { call: calls.changePassword, body: async () => ({ password: 'Correct-horse-4' }) },
    migrate: { call: calls.migrate, body: async () => ({}), admin: true, leaves: () => 'resized' },
    // There is one host: Nova looks for another, and says what came of it among the actions.
    liveMigrate: {
      call: calls.liveMigrate,
      body: async () => ({}),
      admin: true,
      proof: async (id) => {
        const [last] = await until(
          () => items(app, calls.actions, { token: tenant.token, params: { cloud_id, id } }),
          ([first]) => first?.action === 'live-migration' && first.message !== null,
        )
        expect(last?.message).toMatch(/\S/)
      },
    },
    resetState: { call: calls.resetState, body: async () => ({ state: 'error' }), admin: true, leaves: () => 'error' },
    update: {
      call: calls.update,
      body: async () => ({ name: '改名', description: '新' }),
      proof: async (id) => expect(await now(id)).toMatchObject({ name: '改名', description: '新' }),
    },
    setMetadata: {
      call: calls.setMetadata,
      body: async () => ({ metadata: { a: '乙' } }),
      proof: async (id) => expect((await now(id)).metadata).toEqual({ a: '乙' }),
    },
    setTags: { call: calls.setTags, body: async () => ({ tags: ['标签'] }), proof: async (id) => expect((await now(id)).tags).toEqual(['标签']) },
    // The fake driver uploads nothing: its image stays as Nova asked for it.
    snapshot: {
      call: calls.snapshot,
      body: async () => ({ name: ownName('image'), description: '升级前' }),
      proof: async (id, { body }) => {
        const image = await inside.images.get((body as { image_id: string }).image_id)
        expect(image).toMatchObject({ snapshot: true, instanceId: id })
        await inside.images.delete(image.id)
      },
    },
    attachInterface: {
      call: calls.attachInterface,
      body: async () => ({ network_id }),
      proof: async (id) => expect((await look(id)).interfaces).toHaveLength(2),
    },
    detachInterface: {
      call: calls.detachInterface,
      params: async (id) => ({ port_id: (await look(id)).interfaces[1]?.port_id ?? '' }),
      proof: async (id) => {
        await until(
          () => look(id),
          ({ interfaces }) => interfaces.length === 1,
        )
      },
    },
    attachVolume: {
      call: calls.attachVolume,
      body: async () => ({ volume_id: await freshVolume() }),
      proof: async (id, { body }) => {
        const { volume_id } = body as { volume_id: string }
        // Where no host has it, it is only kept for it.
        await until(
          () => inside.volume.volumes.get(volume_id),
          ({ status }) => status === 'in-use' || status === 'reserved',
        )
        expect((await look(id)).volumes.map((one) => one.volume_id)).toEqual([volume_id])
      },
    },
    detachVolume: {
      call: calls.detachVolume,
      params: async (id) => ({ volume_id: (await look(id)).volumes[0]?.volume_id ?? '' }),
      proof: async (id) => {
        await until(
          () => look(id),
          ({ volumes }) => volumes.length === 0,
        )
        await until(
          () => all(inside.volume.volumes.list({ status: 'detaching' })),
          (left) => left.length === 0,
        )
      },
    },
    consoleLog: { call: calls.consoleLog, proof: async (_, { body }) => expect(body).toMatchObject({ text: expect.stringContaining('LAST LINE') }) },
    recycle: {
      call: calls.recycle,
      // What failed is stopped on the way, and does not run afterwards.
      leaves: (from) => (from === 'error' ? 'stopped' : from),
      proof: async (id) => {
        const params = { cloud_id, id }
        const lies = async () => (await items(app, recycledInstances.list, { token: tenant.token, params: { cloud_id } })).find((one) => one.id === id)
        expect(await until(lies, (one) => one?.status === 'recycled')).toMatchObject({ error: null })
        expect((await now(id)).locked).toBe(true)
        await call(app, recycledInstances.restore, { token: tenant.token, params })
        await until(lies, (one) => one === undefined)
        expect((await now(id)).locked).toBe(false)
      },
    },
  }
  /** Doing one thing after the other to one instance. */
  const perform = async (action: keyof typeof off, id: string): Promise<Answer> => {
    const { call: declared, body, params, admin: asAdmin } = off[action]
    const answer = await ask(declared, id, {
      ...(body !== undefined && { body: await body(id) }),
      ...(params !== undefined && { params: await params(id) }),
      ...(asAdmin === true && { who: admin }),
    })
    expect([action, answer.status, answer.status < 300 ? '' : answer.body]).toEqual([action, declared.status, ''])
    return answer
  }
  const into: Record<Exclude<State, 'running' | 'create_failed'>, keyof typeof off> = {
    stopped: 'stop',
    paused: 'pause',
    suspended: 'suspend',
    shelved: 'shelve',
    rescued: 'rescue',
    resized: 'resize',
    error: 'resetState',
  }
  const out: Record<Exclude<State, 'running' | 'create_failed' | 'error'>, keyof typeof off> = {
    stopped: 'start',
    paused: 'unpause',
    suspended: 'resume',
    shelved: 'unshelve',
    rescued: 'unrescue',
    resized: 'revertResize',
  }
  /** By the shortest way, which leads through `running`. */
  const bring = async (id: string, state: State): Promise<void> => {
    for (let { state: before } = await rests(id); before !== state;) {
      const last = before
      if (last === 'error') expect((await ask(calls.resetState, id, { who: admin, body: { state: 'active' } })).status).toBe(202)
      else await perform(last === 'running' ? into[state as keyof typeof into] : out[last as keyof typeof out], id)
      before = (await rests(id, (one) => one !== last)).state
    }
  }
  const freshVolume = async (): Promise<string> => {
    const { id } = await inside.volume.volumes.create({ name: ownName('volume'), sizeGib: 1 })
    await until(
      () => inside.volume.volumes.get(id),
      ({ status }) => status === 'available',
      ({ status }) => status === 'error',
    )
    return id
  }
  const started = async (state: State): Promise<string> => {
    const id = await make(state === 'create_failed' ? flavors.huge : flavors.tiny)
    await rests(id, (one) => one === (state === 'create_failed' ? state : 'running'))
    if (state !== 'create_failed') await bring(id, state)
    return id
  }
  const allowed = (action: InstanceAction, state: State): boolean => (instanceCan[action] as readonly InstanceState[]).includes(state)

  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = await someone(app, { kind: 1 })
    tenant = await someone(app, { kind: 4, roles: ['TENANT'], organisation: await makeOrganisation(app) })
    const [images, sizes] = await Promise.all([all(direct.images.list({ name: 'empty' })), all(direct.compute.flavors.list())])
    const sized = (name: string): string => sizes.find((one) => one.name === name)?.id ?? ''
    image_id = images[0]?.id ?? ''
    // No host has room for it.
    flavors = {
      tiny: sized('m1.tiny'),
      small: sized('m1.small'),
      huge: (await direct.compute.flavors.create({ name: ownName('huge'), vcpus: 900_000, memoryMib: 512, diskGib: 1 })).id,
    }
    const network = await call(app, computeNetworks.create, {
      token: tenant.token,
      params: { cloud_id },
      body: { name: ownName('net'), subnet: { cidr: `${from}.0/24` } },
    })
    network_id = network.id
    const keystoneId = network.keystone_project_id ?? ''
    inside = direct.within({ id: keystoneId })
    await direct.compute.quotas.set(keystoneId, { instances: 50, cores: -1, ram: -1 })
    await direct.volume.quotas.set(keystoneId, { volumes: 100 })
  })
  afterAll(async () => {
    await forgetProjects(app, cloud_id)
    await direct.compute.flavors.delete(flavors.huge)
    await direct.close()
    await app.close()
  })

  const gone = async (id: string): Promise<void> => {
    expect((await ask(calls.delete, id)).status).toBe(204)
    await untilGone(() => inside.compute.servers.get(id))
  }
  const walks = async (state: State): Promise<void> => {
    const id = await started(state)
    for (const action of Object.keys(off) as (keyof typeof off)[]) {
      const { call: declared, body, leaves, proof } = off[action]
      if (!allowed(action, state)) {
        const who = declared.access === calls.resetState.access ? admin : tenant
        const answer = await ask(declared, id, {
          who,
          params: { port_id: 'x', volume_id: 'x' },
          ...(body !== undefined && { body: declared === calls.attachVolume ? { volume_id: image_id } : await body(id) }),
        })
        expect([action, answer.status, (answer.body as { code?: number }).code]).toEqual([action, 409, errors.instanceNotNow.code])
        continue
      }
      // It is of no use for anything else then.
      if (action === 'resetState' && state !== 'running' && state !== 'error') continue
      const answer = await perform(action, id)
      const after = leaves?.(state) ?? state
      await proof?.(id, answer)
      expect([action, (await rests(id, (one) => one === after)).state]).toEqual([action, after])
      if (action === 'lock') expect((await ask(calls.unlock, id)).status).toBe(202)
      await bring(id, state)
    }
    await gone(id)

    if (state === 'running' || state === 'error') return
    const second = await started(state)
    await perform('resetState', second)
    expect((await now(second)).state).toBe(state === 'create_failed' ? state : 'error')
    await gone(second)
  }
  const walksLocked = async (): Promise<void> => {
    const id = await started('running')
    expect((await ask(calls.lock, id)).status).toBe(202)
    for (const action of (Object.keys(off) as (keyof typeof off)[]).filter((one) => allowed(one, 'running'))) {
      const { call: declared, body, admin: asAdmin, proof } = off[action]
      if (action === 'unlock' || action === 'resetState') continue
      if (instanceCanLocked.some((one) => one === action)) {
        const answer = await perform(action, id)
        await proof?.(id, answer)
        await rests(id)
        continue
      }
      const answer = await ask(declared, id, {
        ...(asAdmin === true && { who: admin }),
        params: { port_id: 'x', volume_id: 'x' },
        ...(body !== undefined && { body: declared === calls.attachVolume ? { volume_id: image_id } : await body(id) }),
      })
      expect([action, answer.status, (answer.body as { code?: number }).code]).toEqual([action, 409, errors.instanceLocked.code])
    }
    expect((await ask(calls.delete, id)).body).toMatchObject({ code: errors.instanceLocked.code })
    expect(await now(id)).toMatchObject({ state: 'running', locked: true })
  }

  tests({ started, make: () => make(), ask, gone, walks, walksLocked })
}
