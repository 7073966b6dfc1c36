import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { allCalls } from '@zhisuan/contract/calls'
import { computeInstances, serverGroups } from '@zhisuan/contract/compute/instance'
import { recycledInstances } from '@zhisuan/contract/compute/recycled'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import type { Problem } from '@zhisuan/contract/problem'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { ownName, until, untilGone } from '@zhisuan/engines/openstack/testing'
import { cloudIsThere } from '@zhisuan/engines/openstack/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, send, type Answer } from '../../testing/call.ts'
import { directly, forgetProjects, items, knowOpenStack } from '../../testing/openstack.ts'
import { makeOrganisation, someone } from '../../testing/people.ts'
import { allow, deny, keeping } from '../../testing/policies.ts'

/** All calls of the family that are about a cloud: one that is added is asked here by itself. */
const family = allCalls.filter(({ id, path }) => id.startsWith('compute.') && path.includes('{cloud_id}'))
const nobodys = 'aaaaaaaa-0000-4000-8000-000000000000'

/** Whoever has something of every kind. */
interface Owner {
  readonly token: string
  readonly userId: string
  readonly organisation: string
  readonly keystoneId: string
  readonly inside: OpenStack
  readonly ids: Map<string, Promise<string>>
}

// What a call takes, by its declaration.

interface Shape {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly minItems?: number
}
/** JSON Schema, of which only what stands above is read. */
const shapeOf = (schema: z.ZodType): Shape => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape
const choices = (shape: Shape): readonly Shape[] => shape.anyOf ?? shape.oneOf ?? []

type Path = readonly string[]
/** Every place in a body where an id goes. */
function places(shape: Shape, at: Path = []): Path[] {
  const inner = choices(shape).flatMap((one) => places(one, at))
  for (const [name, property] of Object.entries(shape.properties ?? {})) inner.push(...places(property, [...at, name]))
  if (shape.items !== undefined) inner.push(...places(shape.items, [...at, '0']))
  if (shape.type === 'string' && shape.const === undefined && /_ids?$/.test(nameOf(at))) inner.push(at)
  return [...new Map(inner.map((one) => [one.join('.'), one])).values()]
}
/** What the id at a place is called: of a list, as the list is. */
const nameOf = (at: Path): string => at.findLast((part) => part !== '0') ?? ''
const leads = (shape: Shape, at: Path, to: Path): boolean => places(shape, at).some((one) => one.join('.') === to.join('.'))

/** Words that fields of that name take. */
const words: Readonly<Record<string, unknown>> = {
  cidr: '10.250.0.0/24',
  password: 'Correct-horse-1',
  url: 'https://example.com/image.qcow2',
  destination: '10.251.0.0/24',
  next_hop: '10.250.0.9',
  auth_key: 'wrong',
  address: '10.250.0.7',
}

/** The least that a call takes, with an id at each place of `wanted`; where it needs another, that of `own`. */
function least(shape: Shape, wanted: Path | null, own: (name: string) => string, at: Path = []): unknown {
  const options = choices(shape)
  if (options.length > 0) {
    const leading = wanted === null ? undefined : options.find((one) => leads(one, at, wanted))
    if (leading !== undefined) return least(leading, wanted, own, at)
    return options.some(({ type }) => type === 'null') ? null : least(options[0] ?? {}, wanted, own, at)
  }
  if (shape.const !== undefined) return shape.const
  if (shape.enum !== undefined) return shape.enum[0]
  if (shape.properties !== undefined) {
    const needed = Object.entries(shape.properties).filter(
      ([name, property]) => shape.required?.includes(name) === true || (wanted !== null && leads(property, [...at, name], wanted)),
    )
    return Object.fromEntries(needed.map(([name, property]) => [name, least(property, wanted, own, [...at, name])]))
  }
  if (shape.type === 'array')
    return (wanted !== null && leads(shape, at, wanted)) || (shape.minItems ?? 0) > 0 ? [least(shape.items ?? {}, wanted, own, [...at, '0'])] : []
  if (shape.type === 'object') return {}
  if (shape.type === 'integer' || shape.type === 'number') return shape.minimum ?? 1
  if (shape.type === 'boolean') return false
  const name = nameOf(at)
  return /_ids?$/.test(name) ? own(name) : (words[name] ?? 'x')
}

/** The same with another id at one place. */
function withId(body: unknown, at: Path, id: string): unknown {
  const [first, ...rest] = at
  if (first === undefined) return id
  if (Array.isArray(body)) return body.map((one: unknown, index) => (String(index) === first ? withId(one, rest, id) : one))
  // `least` made an object where the path goes on by a name.
  const object = body as Readonly<Record<string, unknown>>
  return { ...object, [first]: withId(object[first], rest, id) }
}

/** A body that the call takes; undefined of a call without one. */
function bodyFor(declared: Call, wanted: Path | null, own: (name: string) => string): unknown {
  const shape = shapeOf(declared.body)
  if (Object.keys(shape.properties ?? {}).length === 0) return undefined
  // Of some calls it is one of several ids that is needed, which a schema cannot say.
  const tries = [wanted, ...(wanted === null ? places(shape) : [])].map((one) => least(shape, one, own))
  return (
    tries.find((body) => declared.body.safeParse(body).success) ??
    expect.fail(`${declared.id}: no body for ${wanted?.join('.') ?? 'it'}: ${JSON.stringify(tries)}`)
  )
}

const paramsOf = ({ path }: Call): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => name !== 'cloud_id')
/** What is at `{id}` of a call, or at an id that is called by its kind. */
const kindOfParam = ({ id }: Call, name: string): string => (name === 'id' ? (id.split('.')[1] ?? '') : kindOfName(name))
const kindOfName = (name: string): string => {
  const said = name.replace(/_ids?$/, '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return otherNames[said] ?? said
}
const otherNames: Readonly<Record<string, string>> = {
  server: 'instance',
  snapshot: 'volumeSnapshot',
  backup: 'volumeBackup',
  member: 'project',
  project: 'ourProject',
  bp: 'organisation',
  group: 'securityGroup',
  remoteGroup: 'securityGroup',
  fromPort: 'port',
  rule: 'firewallRule',
  policy: 'firewallPolicy',
  ingressPolicy: 'firewallPolicy',
  egressPolicy: 'firewallPolicy',
}

const told = ({ status, body }: Answer): unknown => {
  const { code, message, detail, fields } = body as Partial<Problem>
  const plain = (text: string | undefined) => text?.replaceAll(/[0-9a-f-]{32,36}/g, 'ID')
  return { status, code, message: plain(message), detail: plain(detail), fields: fields?.map(({ field }) => field) }
}

describe.runIf(cloudIsThere)('what one organisation has on a cloud', () => {
  let app: TestApp
  let cloud_id: string
  let mine: Owner
  let other: Owner
  let admin: { token: string }
  let outside: string
  let image: string
  let tiny: string
  let firewalls: boolean
  const direct = directly()
  /** Newest first. */
  const undo: (() => Promise<unknown>)[] = []

  /** How one of each kind is made, and looked at behind the server's back. Null: nothing that could be changed. */
  const kinds: Readonly<
    Record<
      string,
      {
        make: (who: Owner) => Promise<string>
        look: ((who: Owner, id: string) => Promise<unknown>) | null
      }
    >
  > = {
    organisation: { make: async (who) => who.organisation, look: null },
    ourProject: {
      make: async (who) => (await app.platform.db.selectFrom('projects').select('id').where('bp_id', '=', who.organisation).executeTakeFirstOrThrow()).id,
      look: null,
    },
    keyPair: {
      make: async (who) => (await call(app, keyPairs.create, { token: who.token, body: { name: ownName('key') } })).id,
      look: null,
    },
    project: {
      make: async (who) => who.keystoneId,
      look: (_, id) => direct.identity.projects.get(id),
    },
    flavor: {
      make: async (who) => {
        const { id } = await direct.compute.flavors.create({
          name: ownName('flavor'),
          vcpus: 1,
          memoryMib: 64,
          diskGib: 1,
          public: false,
        })
        undo.unshift(() => direct.compute.flavors.delete(id))
        await direct.compute.flavors.setAccess(id, who.keystoneId, true)
        return id
      },
      look: (_, id) => direct.compute.flavors.get(id),
    },
    serverGroup: {
      make: async ({ inside }) =>
        made(await inside.compute.serverGroups.create({ name: ownName('group'), policy: 'affinity' }), (id) => inside.compute.serverGroups.delete(id)),
      look: ({ inside }, id) => inside.compute.serverGroups.get(id),
    },
    network: {
      make: async ({ inside }) => made(await inside.network.networks.create({ name: ownName('net') }), (id) => inside.network.networks.delete(id)),
      look: ({ inside }, id) => inside.network.networks.get(id),
    },
    subnet: {
      make: async (who) =>
        made(
          await who.inside.network.subnets.create({
            networkId: await idOf(who, 'network'),
            name: ownName('subnet'),
            cidr: '10.88.0.0/24',
            version: 4,
          }),
          (id) => who.inside.network.subnets.delete(id),
        ),
      look: ({ inside }, id) => inside.network.subnets.get(id),
    },
    port: {
      make: async (who) => {
        await idOf(who, 'subnet')
        return made(
          await who.inside.network.ports.create({
            networkId: await idOf(who, 'network'),
            name: ownName('port'),
          }),
          (id) => who.inside.network.ports.delete(id),
        )
      },
      look: ({ inside }, id) => inside.network.ports.get(id),
    },
    router: {
      make: async (who) => {
        const { routers } = who.inside.network
        const subnetId = await idOf(who, 'subnet')
        const { id } = await routers.create({
          name: ownName('router'),
          gateway: { networkId: outside },
        })
        await routers.addInterface(id, { subnetId })
        undo.unshift(() => routers.removeInterface(id, { subnetId }).then(() => routers.delete(id)))
        return id
      },
      look: ({ inside }, id) => inside.network.routers.get(id),
    },
    floatingIp: {
      make: async ({ inside }) => made(await inside.network.floatingIps.create({ networkId: outside }), (id) => inside.network.floatingIps.delete(id)),
      look: ({ inside }, id) => inside.network.floatingIps.get(id),
    },
    securityGroup: {
      make: async ({ inside }) =>
        made(await inside.network.securityGroups.create({ name: ownName('group') }), (id) => inside.network.securityGroups.delete(id)),
      look: ({ inside }, id) => inside.network.securityGroups.get(id),
    },
    securityGroupRule: {
      make: async (who) =>
        (
          await who.inside.network.securityGroupRules.create({
            securityGroupId: await idOf(who, 'securityGroup'),
            direction: 'ingress',
            protocol: 'tcp',
            portFrom: 22,
            portTo: 22,
          })
        ).id,
      look: async (who) => who.inside.network.securityGroups.get(await idOf(who, 'securityGroup')),
    },
    firewallRule: {
      make: async ({ inside }) =>
        firewalls
          ? made(
              await inside.network.firewalls.rules.create({
                name: ownName('rule'),
                action: 'allow',
              }),
              (id) => inside.network.firewalls.rules.delete(id),
            )
          : nobodys,
      look: async ({ inside }, id) => (firewalls ? inside.network.firewalls.rules.get(id) : null),
    },
    firewallPolicy: {
      make: async ({ inside }) =>
        firewalls
          ? made(await inside.network.firewalls.policies.create({ name: ownName('policy') }), (id) => inside.network.firewalls.policies.delete(id))
          : nobodys,
      look: async ({ inside }, id) => (firewalls ? inside.network.firewalls.policies.get(id) : null),
    },
    firewallGroup: {
      make: async ({ inside }) =>
        firewalls
          ? made(await inside.network.firewalls.groups.create({ name: ownName('group') }), (id) => inside.network.firewalls.groups.delete(id))
          : nobodys,
      look: async ({ inside }, id) => (firewalls ? inside.network.firewalls.groups.get(id) : null),
    },
    image: {
      make: async ({ inside }) =>
        made(
          await inside.images.create({
            name: ownName('image'),
            diskFormat: 'raw',
            visibility: 'private',
          }),
          (id) => inside.images.delete(id),
        ),
      look: ({ inside }, id) => inside.images.get(id),
    },
    volume: { make: (who) => volume(who), look: ({ inside }, id) => inside.volume.volumes.get(id) },
    volumeSnapshot: {
      make: async (who) => {
        const { snapshots } = who.inside.volume
        const { id } = await snapshots.create({
          volumeId: await idOf(who, 'volume'),
          name: ownName('snapshot'),
        })
        undo.unshift(() => snapshots.delete(id).then(() => untilGone(() => snapshots.get(id))))
        await until(
          () => snapshots.get(id),
          ({ status }) => status === 'available',
          ({ status }) => status === 'error',
        )
        return id
      },
      look: ({ inside }, id) => inside.volume.snapshots.get(id),
    },
    volumeBackup: {
      make: async (who) => {
        const { backups } = who.inside.volume
        const id = await backups.create({
          volumeId: await idOf(who, 'volume'),
          name: ownName('backup'),
        })
        undo.unshift(() => backups.delete(id).then(() => untilGone(() => backups.get(id))))
        await until(
          () => backups.get(id),
          ({ status }) => status === 'available',
          ({ status }) => status === 'error',
        )
        return id
      },
      look: ({ inside }, id) => inside.volume.backups.get(id),
    },
    volumeTransfer: {
      make: async (who) => {
        const { transfers } = who.inside.volume
        const { id } = await transfers.create({
          volumeId: await volume(who),
          name: ownName('transfer'),
        })
        undo.unshift(() => transfers.delete(id))
        return id
      },
      look: ({ inside }, id) => inside.volume.transfers.get(id),
    },
    instance: {
      make: (who) => instance(who),
      look: ({ inside }, id) => inside.compute.servers.get(id),
    },
    terminal: {
      make: async (who) =>
        (await call(app, computeInstances.serialConsole, { token: who.token, params: { cloud_id, id: await idOf(who, 'instance') }, body: {} })).terminal_id,
      look: null,
    },
    recycled: {
      make: async (who) => {
        const id = await instance(who)
        await call(app, computeInstances.recycle, { token: who.token, params: { cloud_id, id } })
        await until(
          () => items(app, recycledInstances.list, { token: who.token, params: { cloud_id } }),
          (list) => list.some((one) => one.id === id && one.status === 'recycled'),
        )
        return id
      },
      look: async (who, id) => [await who.inside.compute.servers.get(id), await items(app, recycledInstances.list, { token: who.token, params: { cloud_id } })],
    },
  }

  const made = ({ id }: { readonly id: string }, remove: (id: string) => Promise<unknown>): string => {
    undo.unshift(() => remove(id))
    return id
  }
  const volume = async ({ inside }: Owner): Promise<string> => {
    const { volumes } = inside.volume
    const { id } = await volumes.create({ name: ownName('volume'), sizeGib: 1 })
    undo.unshift(() => volumes.delete(id).then(() => untilGone(() => volumes.get(id))))
    await until(
      () => volumes.get(id),
      ({ status }) => status === 'available',
      ({ status }) => status === 'error',
    )
    return id
  }
  const instance = async (who: Owner): Promise<string> => {
    const { servers } = who.inside.compute
    await idOf(who, 'subnet')
    const { id } = await servers.create({
      name: ownName('vm'),
      flavorId: tiny,
      imageId: image,
      networks: [{ networkId: await idOf(who, 'network') }],
    })
    undo.unshift(async () => {
      await servers.act(id, 'unlock')
      await servers.act(id, 'forceDelete')
      await untilGone(() => servers.get(id))
    })
    await until(
      () => servers.get(id),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    return id
  }
  /** One of a kind; the same each time. */
  const idOf = (who: Owner, kind: string): Promise<string> => {
    const known = who.ids.get(kind)
    if (known !== undefined) return known
    const one = kinds[kind]?.make(who) ?? Promise.reject(new Error(`no ${kind}`))
    who.ids.set(kind, one)
    return one
  }

  const owner = async (): Promise<Owner> => {
    const organisation = await makeOrganisation(app)
    const { token, id: userId } = await someone(app, { kind: 4, roles: ['TENANT'], organisation })
    // What somebody first makes gives them their project on the cloud.
    const group = await call(app, serverGroups.create, {
      token,
      params: { cloud_id },
      body: { name: ownName('first'), policy: 'affinity' },
    })
    const keystoneId = group.keystone_project_id ?? ''
    const inside = direct.within({ id: keystoneId })
    undo.unshift(() => inside.compute.serverGroups.delete(group.id))
    return { token, userId, organisation, keystoneId, inside, ids: new Map() }
  }

  beforeAll(async () => {
    app = await testApp()
    cloud_id = await knowOpenStack(app)
    admin = await someone(app, { kind: 1 })
    const [networks, images, sizes, extensions] = await Promise.all([
      all(direct.network.networks.list({ 'router:external': true })),
      all(direct.images.list({ name: 'empty' })),
      all(direct.compute.flavors.list()),
      direct.network.extensions(),
    ])
    outside = networks.find(({ name }) => name === 'public')?.id ?? ''
    image = images[0]?.id ?? ''
    tiny = sizes.find(({ name }) => name === 'm1.tiny')?.id ?? ''
    firewalls = extensions.has('fwaas_v2')
    ;[mine, other] = [await owner(), await owner()]
    await Promise.all(
      [mine, other].map(async (who) => {
        for (const kind of Object.keys(kinds)) await idOf(who, kind)
      }),
    )
  })
  afterAll(async () => {
    for (const one of undo) await one()
    await forgetProjects(app, cloud_id)
    await direct.close()
    await app.close()
  })

  it('is of every kind that a call takes an id of', () => {
    const asked = family.flatMap((declared) => [
      ...paramsOf(declared).map((name) => kindOfParam(declared, name)),
      ...places(shapeOf(declared.body)).map((at) => kindOfName(nameOf(at))),
    ])
    expect([...new Set(asked)].filter((kind) => kinds[kind] === undefined)).toEqual([])
    expect(
      family.filter(({ query }) => places(shapeOf(query)).length > 0).map(({ id }) => id),
      'ids in queries are not asked here',
    ).toEqual([])
  })

  const mineOf = (kind: string): Promise<string> => idOf(mine, kind)
  /** All that there is, as the cloud has it. */
  const inventory = async (): Promise<unknown> => {
    const looked = Object.entries(kinds).map(async ([kind, { look }]) => [kind, look === null ? null : await look(mine, await mineOf(kind))] as const)
    return JSON.parse(JSON.stringify(Object.fromEntries(await Promise.all(looked)), (key, value: unknown) => (key.startsWith('updated') ? undefined : value)))
  }
  const owned = async (who: Owner): Promise<Map<string, string>> =>
    new Map(await Promise.all([...who.ids].map(async ([kind, id]) => [kind, await id] as const)))
  const isFor = (declared: Call, role: 'TENANT'): boolean => typeof declared.access === 'string' || declared.access.includes(role)

  /** The cloud has no firewalls, and says so to everybody. */
  const lacksService = (body: unknown): boolean => !firewalls && (body as Partial<Problem>).code === errors.computeFirewallMissing.code

  it('is in no list of another, with a project on the cloud or without', async () => {
    const stranger = await someone(app, {
      kind: 4,
      roles: ['TENANT'],
      organisation: await makeOrganisation(app),
    })
    const hidden = [...(await owned(mine)).entries()].filter(([, id]) => id !== nobodys)
    for (const { token } of [other, stranger]) {
      for (const declared of family.filter(({ method, path }) => method === 'GET' && !path.includes('{id}'))) {
        const answer = await send(app, declared, { token, params: { cloud_id } })
        if (lacksService(answer.body)) continue
        expect([declared.id, answer.status]).toEqual([declared.id, isFor(declared, 'TENANT') ? 200 : 403])
        const text = JSON.stringify(answer.body)
        expect(
          hidden.filter(([, id]) => text.includes(id)).map(([kind]) => kind),
          declared.id,
        ).toEqual([])
      }
    }
  })

  it('is not there for another by any id, in a path or in a body, and stays as it is', async () => {
    const before = await inventory()
    const own = await owned(other)
    const ofOther = (name: string): string => own.get(kindOfName(name)) ?? nobodys
    const faults: unknown[] = []
    for (const declared of family) {
      const params = paramsOf(declared)
      const base = Object.fromEntries([['cloud_id', cloud_id], ...params.map((name) => [name, own.get(kindOfParam(declared, name)) ?? nobodys])]) as Record<
        string,
        string
      >
      const ask = (changes: Record<string, string>, body: unknown) =>
        send(app, declared, {
          token: other.token,
          params: { ...base, ...changes },
          ...(body !== undefined && { body }),
        })
      const ways = [
        ...params.map((name) => ({
          at: `{${name}}`,
          kind: kindOfParam(declared, name),
          ask: (id: string) => ask({ [name]: id }, bodyFor(declared, null, ofOther)),
        })),
        ...places(shapeOf(declared.body)).map((at) => ({
          at: at.join('.'),
          kind: kindOfName(nameOf(at)),
          ask: (id: string) => ask({}, withId(bodyFor(declared, at, ofOther), at, id)),
        })),
      ]
      for (const { at, kind, ask: asked } of ways) {
        const theirs = await asked(await mineOf(kind))
        // A connection to come back to is no thing of the cloud: who has none gets one of their own.
        if (kind === 'terminal') {
          if (theirs.status !== 201 || JSON.stringify(theirs.body).includes(await mineOf(kind))) faults.push([declared.id, at, theirs.status, theirs.body])
          continue
        }
        const { fields, code } = theirs.body as Partial<Problem>
        const fine = isFor(declared, 'TENANT')
          ? theirs.status === 404 ||
            (!at.startsWith('{') && fields?.some(({ field }) => field === at || at.startsWith(`${field}.`)) === true) ||
            lacksService(theirs.body) ||
            // What the state of one's own forbids is known first; what is offered to whoever has its key is refused at the key; what one saw is compared only.
            [errors.stateForbids.code, errors.computeTransferRefused.code, errors.computeFloatingIpChanged.code].some((one) => one === code)
          : theirs.status === 403
        if (!fine) faults.push([declared.id, at, theirs.status, theirs.body])
        // Nor does an answer tell that there is such a thing.
        const none = told(await asked(nobodys))
        if (JSON.stringify(told(theirs)) !== JSON.stringify(none)) faults.push([declared.id, at, 'differs from what is nobody’s', told(theirs), none])
      }
    }
    expect(faults).toEqual([])
    expect(await inventory()).toEqual(before)
  })

  it('is not to be touched by a colleague whom a policy keeps from it', async () => {
    const before = await inventory()
    const colleague = await someone(app, {
      kind: 4,
      roles: ['TENANT'],
      organisation: mine.organisation,
    })
    const owners = await someone(app, {
      kind: 2,
      roles: ['TENANT_ADMIN'],
      organisation: mine.organisation,
    })
    const ids = await owned(mine)
    const { makePolicy, give } = keeping(app)
    const named = [...new Set(family.map(({ id }) => id.split('.')[1] ?? ''))].map((kind) => `zrn:compute:${mine.organisation}:${kind}/${ids.get(kind) ?? ''}`)
    await give(owners, await makePolicy(owners, [allow('compute.*'), deny('compute.*', { Resource: named })]), { user_id: colleague.id })
    const faults: unknown[] = []
    for (const declared of family.filter(({ path }) => path.includes('{id}'))) {
      const params = Object.fromEntries([
        ['cloud_id', cloud_id],
        ...paramsOf(declared).map((name) => [name, ids.get(kindOfParam(declared, name)) ?? '']),
      ]) as Record<string, string>
      const body = bodyFor(declared, null, (name) => ids.get(kindOfName(name)) ?? nobodys)
      const answer = await send(app, declared, {
        token: colleague.token,
        params,
        ...(body !== undefined && { body }),
      })
      if (answer.status !== 403) faults.push([declared.id, answer.status, answer.body])
    }
    expect(faults).toEqual([])
    expect(await inventory()).toEqual(before)
  })

  it('has ids: what is none is not there, and leads to nothing else on the cloud', async () => {
    await app.http.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.http.server.address() as AddressInfo
    /** As it is typed: clients mostly take dots out of an address. */
    const raw = (declared: Call, id: string, body: unknown) =>
      new Promise<number>((resolve, reject) => {
        const path = declared.path.replace('{cloud_id}', cloud_id).replaceAll(/\{\w+\}/g, id)
        const headers = {
          authorization: `Bearer ${admin.token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        }
        request({ host: '127.0.0.1', port, path, method: declared.method, headers }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
          .on('error', reject)
          .end(body === undefined ? undefined : JSON.stringify(body))
      })
    const own = await owned(other)
    const faults: unknown[] = []
    for (const declared of family.filter(({ path }) => path.includes('{id}'))) {
      const body = bodyFor(declared, null, (name) => own.get(kindOfName(name)) ?? nobodys)
      for (const id of ['..', '.', '%2e%2e', 'detail', 'summary', '%2e%2e%2fservers', 'a%20b', '%00', '*', `%27%20or%201=1`, 'x'.repeat(300)]) {
        const status = await raw(declared, id, body)
        if (status !== 404) faults.push([declared.id, id, status])
      }
    }
    for (const declared of family) {
      for (const at of places(shapeOf(declared.body))) {
        const params = Object.fromEntries([
          ['cloud_id', cloud_id],
          ...paramsOf(declared).map((name) => [name, own.get(kindOfParam(declared, name)) ?? nobodys]),
        ]) as Record<string, string>
        const body = withId(
          bodyFor(declared, at, (name) => own.get(kindOfName(name)) ?? nobodys),
          at,
          '..',
        )
        const answer = await send(app, declared, { token: admin.token, params, body })
        const { fields } = answer.body as Partial<Problem>
        if (answer.status !== 400 || fields?.some(({ field }) => field === at.join('.')) !== true)
          faults.push([declared.id, at.join('.'), answer.status, answer.body])
      }
    }
    expect(faults).toEqual([])
  })
})
