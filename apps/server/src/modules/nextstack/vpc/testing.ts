import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { eipPools, eips, eipTransitional, type Eip, type EipPool } from '@zhisuan/contract/nextstack/eip'
import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import { securityGroups, type SecurityGroup } from '@zhisuan/contract/nextstack/security-group'
import { vpcs, vpcTransitional, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { addressText } from '@zhisuan/contract/ip'
import { expect, vi } from 'vitest'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { createVpcMembers } from './vpc.members.ts'
import { createVpcOperations } from './vpc.operations.ts'

export type Somebody = Person & SignedIn
type Owned = Pick<Vpc, 'id'>

/** A server with a cloud, an owner and a stranger, and what tests of networks do again and again. */
export async function networkStage(on?: TestApp) {
  const app = on ?? (await testApp({}, { openEngine: openTestEngine }))
  const [admin, owner, stranger] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
  const addCloud = async (): Promise<{ engine: TestEngine; cloud_id: string }> => {
    const engine = startTestEngine()
    const body = { name: `c-${randomUUID()}`, product: 'nextstack' as const, connection: engine.connection }
    return { engine, cloud_id: (await call(app, clouds.create, { token: admin.token, body })).cloud_id }
  }
  const { engine, cloud_id } = await addCloud()
  const { db } = app.platform
  const { want } = createVpcOperations({ db, clouds: { engine: async () => engine.direct }, operations: app.platform.operations })
  const members = createVpcMembers({ db, want, pause: app.platform.pause })

  let ranges = 0
  /** A range that nobody else has. */
  const range = (prefix = 24): string => {
    ranges += 1
    return `${addressText(0x0a000000 + ranges * 65_536)}/${prefix}`
  }
  let outside = 0
  /** Outside addresses that nobody else has: `203.0.113.0` and on. */
  const outsideRange = (count: number): { from: string; to: string } => {
    const first = 0xcb007100 + outside
    outside += count
    return { from: addressText(first), to: addressText(first + count - 1) }
  }

  const getVpc = (id: string, token = owner.token) => call(app, vpcs.get, { token, params: { id } })
  const settledVpc = (id: string, token = owner.token): Promise<Vpc> =>
    vi.waitFor(
      async () => {
        const vpc = await getVpc(id, token)
        expect(vpcTransitional).not.toContain(vpc.status)
        return vpc
      },
      { interval: 20 },
    )
  const beginVpc = (wish: Partial<BodyInput<typeof vpcs.create>> = {}, token = owner.token): Promise<Vpc> =>
    call(app, vpcs.create, { token, body: { cloud_id, name: `net-${randomUUID()}`, cidr: range(), ...wish } })
  const createVpc = async (wish: Partial<BodyInput<typeof vpcs.create>> = {}, token = owner.token): Promise<Vpc> =>
    settledVpc((await beginVpc(wish, token)).id, token)
  const createGroup = (wish: Partial<BodyInput<typeof securityGroups.create>> = {}, token = owner.token): Promise<SecurityGroup> =>
    call(app, securityGroups.create, { token, body: { cloud_id, name: `group-${randomUUID()}`, ...wish } })
  const getGroup = (id: string, token = owner.token) => call(app, securityGroups.get, { token, params: { id } })
  const createPool = (count = 16, wish: Partial<BodyInput<typeof eipPools.create>> = {}): Promise<EipPool> =>
    call(app, eipPools.create, { token: admin.token, body: { cloud_id, name: `pool-${randomUUID()}`, ranges: [outsideRange(count)], ...wish } })
  let pool: Promise<EipPool> | null = null
  const allocate = async (wish: Partial<BodyInput<typeof eips.allocate>> = {}, token = owner.token): Promise<Eip> => {
    pool ??= createPool(128)
    const { items } = await call(app, eips.allocate, { token, body: { pool_id: (await pool).id, ...wish } })
    return items[0] ?? expect.fail('nothing was allocated')
  }
  const getEip = (id: string, token = owner.token) => call(app, eips.get, { token, params: { id } })
  const settledEip = (id: string, token = owner.token): Promise<Eip> =>
    vi.waitFor(
      async () => {
        const eip = await getEip(id, token)
        expect(eipTransitional).not.toContain(eip.status)
        return eip
      },
      { interval: 20 },
    )
  const getNat = (id: string, token = owner.token) => call(app, natGateways.get, { token, params: { id } })
  const settledNat = (id: string, token = owner.token): Promise<NatGateway> =>
    vi.waitFor(
      async () => {
        const nat = await getNat(id, token)
        expect(['applying', 'deleting']).not.toContain(nat.status)
        return nat
      },
      { interval: 20 },
    )

  const engineName = (vpc: Owned) => `zs-${vpc.id.slice(-12)}`
  const vmName = (vm: Owned) => `zs-${vm.id.replaceAll('-', '')}`
  /** What the engine has of a network. */
  const onEngine = async (vpc: Owned) => {
    const { networks } = engine.direct
    const network = await networks.get(engineName(vpc))
    return { network, acl: await networks.acls.get(engineName(vpc)), forwards: network === null ? [] : await networks.forwards.list(engineName(vpc)) }
  }
  /** An instance in a network: its record, and what joins it; `onEngine` makes it there too. */
  const addVm = async (
    vpc: Pick<Vpc, 'id' | 'cloud_id' | 'bp_id'>,
    wish: { address?: string; groups?: readonly string[]; onEngine?: boolean; status?: 'running' | 'creating' | 'lost' } = {},
  ) => {
    const id = uuidv7()
    const vm = { id, cloud_id: vpc.cloud_id, bp_id: vpc.bp_id, name: `vm-${id.slice(-12)}` }
    const joined = await db.transaction().execute(async (tx) => {
      await insertVm(tx, vm, wish.status ?? 'running')
      return members.join(tx, vm, { vpc_id: vpc.id, address: wish.address, security_group_ids: wish.groups ?? [] })
    })
    if (wish.onEngine === true) {
      await settledVpcOf(vpc.id)
      const [image] = await engine.direct.images.list()
      await engine.direct.instances.create({
        name: vmName(vm),
        type: image?.type ?? 'container',
        imageFingerprint: image?.fingerprint ?? '',
        cpuCores: 1,
        memoryBytes: 2 ** 28,
        diskBytes: 2 ** 30,
        network: joined.network,
        address: joined.address,
        guarded: true,
        tags: { vm_id: id },
      })
    }
    return { ...vm, ...joined }
  }
  const settledVpcOf = (id: string) =>
    vi.waitFor(
      async () => {
        const row = await db.selectFrom('vpcs').select('status').where('id', '=', id).executeTakeFirstOrThrow()
        expect(row.status).toBe('active')
      },
      { interval: 20 },
    )
  /** One that is in no private network. */
  const addPlainVm = async (of: { cloud_id: string; bp_id: string | null } = { cloud_id, bp_id: owner.bp_id }) => {
    const id = uuidv7()
    const vm = { id, ...of, name: `vm-${id.slice(-12)}` }
    await db.transaction().execute((tx) => insertVm(tx, vm, 'running'))
    return vm
  }
  const insertVm = async (
    tx: Parameters<typeof members.leaving>[0],
    vm: { id: string; cloud_id: string; bp_id: string | null; name: string },
    status: 'running' | 'creating' | 'lost',
  ) => {
    await tx
      .insertInto('vms')
      .values({
        ...vm,
        project_id: null,
        description: '',
        type: 'container',
        status,
        error_text: null,
        engine_name: vmName(vm),
        image_fingerprint: '',
        image_name: '',
        flavor_id: null,
        flavor_name: '',
        cpu_cores: 1,
        memory_bytes: 2 ** 28,
        disk_bytes: 2 ** 30,
        network: '',
        observed: null,
        addresses: jsonb([]),
        node: null,
        created_by: null,
        created_by_name: '',
      })
      .execute()
  }
  const inTx = <T>(act: (tx: Parameters<typeof members.leaving>[0]) => Promise<T>): Promise<T> => db.transaction().execute(act)
  const deleteVmRow = (id: string) => inTx((tx) => tx.deleteFrom('vms').where('id', '=', id).execute())
  const goneVpc = (id: string, token = owner.token) =>
    vi.waitFor(async () => expect((await send(app, vpcs.get, { token, params: { id } })).status).toBe(404), { interval: 20 })

  return {
    app,
    admin,
    owner,
    stranger,
    engine,
    cloud_id,
    addCloud,
    members,
    db,
    range,
    outsideRange,
    getVpc,
    settledVpc,
    beginVpc,
    createVpc,
    goneVpc,
    createGroup,
    getGroup,
    createPool,
    allocate,
    getEip,
    settledEip,
    getNat,
    settledNat,
    engineName,
    vmName,
    onEngine,
    addVm,
    addPlainVm,
    inTx,
    deleteVmRow,
  }
}
export type NetworkStage = Awaited<ReturnType<typeof networkStage>>
