import { cloudConnection, type CloudConnection } from '@zhisuan/contract/cmp/cloud'
import type { Call, ResponseOf } from '@zhisuan/contract/define'
import { emptyProject } from '@zhisuan/engines/openstack/clear'
import { createOpenStack, type OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { administrator, registration } from '@zhisuan/engines/openstack/local'
import { ownName } from '@zhisuan/engines/openstack/testing'
import { expect } from 'vitest'
import { addressOf } from '../modules/cmp/cloud/cloud.engines.ts'
import { insertCloud } from '../modules/cmp/cloud/cloud.store.ts'
import { uuidv7 } from '../platform/ids.ts'
import type { TestApp } from './app.ts'
import { send, type AnyInput } from './call.ts'

/** Makes the OpenStack of this host known to the server, as a registration would. @returns the cloud's id */
export const knowOpenStack = (app: TestApp, changes: Partial<CloudConnection> = {}): Promise<string> => knowCloud(app, { ...registration(), ...changes })

/** Makes any OpenStack known to the server. @param wish what would be typed in to register it @returns the cloud's id */
export async function knowCloud(app: TestApp, wish: object): Promise<string> {
  const connection = cloudConnection.parse(wish)
  const id = uuidv7()
  const { db, secrets } = app.platform
  await db.transaction().execute((tx) =>
    insertCloud(tx, {
      id,
      name: `测试云 ${id.slice(-6)}`,
      description: '',
      product: 'openstack',
      connection_type: connection.type,
      address: `${addressOf(connection)}#${id}`,
      connection: secrets.seal(JSON.stringify(connection), `clouds.connection:${id}`),
      labels: [],
      status: 'active',
      health: 'reachable',
      health_message: null,
      usage: null,
      observed: null,
      checked_at: null,
      deleted_at: null,
    }),
  )
  return id
}

/** The cloud itself, as its administrator: for what somebody does on it behind our back. */
export const directly = () => createOpenStack(administrator())

/** All of a list that comes in lines. */
export async function lines<C extends Call>(app: TestApp, call: C, input: AnyInput): Promise<ResponseOf<C>[]> {
  const answer = await send(app, call, input)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return String(answer.body)
    .trim()
    .split('\n')
    .map((line) => call.response.parse(JSON.parse(line)) as ResponseOf<C>)
}

/** The items of it, which has to be whole and without failures. */
export async function items<C extends Call>(
  app: TestApp,
  call: C,
  input: AnyInput,
): Promise<NonNullable<Extract<ResponseOf<C>, { items?: unknown }>['items']>> {
  const told = (await lines(app, call, input)) as { items?: unknown[]; failed?: unknown; done?: true }[]
  expect(told.flatMap(({ failed }) => (failed === undefined ? [] : [failed]))).toEqual([])
  expect(told.at(-1)).toEqual({ done: true })
  // What the call's declaration says of them.
  return told.flatMap(({ items: some = [] }) => some) as never
}

/**
 * Takes away the Keystone projects that a test's organisations got, with whatever they hold: also what a test that
 * failed has left.
 */
export async function forgetProjects(app: TestApp, cloudId: string): Promise<void> {
  const cloud = directly()
  try {
    const rows = await app.platform.db.selectFrom('keystone_projects').select('keystone_id').where('cloud_id', '=', cloudId).execute()
    for (const { keystone_id } of rows) {
      await emptyProject(cloud, keystone_id)
      await cloud.identity.projects.delete(keystone_id)
    }
  } finally {
    await cloud.close()
  }
}

const outsideName = 'outside'
const hourMs = 3600_000

/**
 * An external network of a test's own, which has to be deleted by it. What hangs on those that runs broke off over an
 * hour ago goes first, and they with it: everybody on the cloud sees them.
 */
export async function makeOutside(administrator: OpenStack, wish: { cidr: string; start: string; end: string }): Promise<string> {
  const { network } = administrator
  for (const left of await all(network.networks.list({ 'router:external': true }))) {
    const madeAt = left.name.startsWith(`zs-${outsideName}-`) ? Date.parse(left.description) : Number.NaN
    if (!(Date.now() - madeAt > hourMs)) continue
    for (const { id } of await all(network.floatingIps.list({ floating_network_id: left.id }))) await network.floatingIps.delete(id)
    for (const { deviceId } of await all(network.ports.list({ network_id: left.id, device_owner: 'network:router_gateway' })))
      await network.routers.update(deviceId ?? '', { routes: [], gateway: null })
    await network.networks.delete(left.id)
  }
  const { id } = await network.networks.create({ name: ownName(outsideName), description: new Date().toISOString(), external: true })
  try {
    await network.subnets.create({ networkId: id, cidr: wish.cidr, version: 4, dhcp: false, pools: [{ start: wish.start, end: wish.end }] })
  } catch (error) {
    await network.networks.delete(id)
    throw error
  }
  return id
}
