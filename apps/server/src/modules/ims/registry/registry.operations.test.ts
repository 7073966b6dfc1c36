import { afterAll, beforeAll, expect, it } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { createKept } from '../../../platform/kept/kept.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { createTokens } from '../token/tokens.ts'
import { createRegistryEndpoints } from './registry.endpoint.ts'
import { createRegistryOperations } from './registry.operations.ts'
import { getRegistry, insertRegistry } from './registry.store.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

it.each([
  ['active', 'was given another certificate', null],
  ['deactive', 'was given another certificate', null],
  ['deactive', 'could not be given one', new Refusal('registryBusy')],
] as const)('one that was %s is so again after it %s', async (status, _, refusal) => {
  const { platform } = app
  const { db } = platform
  const { kept } = createKept(platform, {
    reach: async () => {
      throw new Refusal('edgeOffline')
    },
    connected: () => null,
    onUp: () => undefined,
    work: async () => {
      throw new Refusal('edgeOffline')
    },
  })
  const endpoints = createRegistryEndpoints(platform, createTokens(platform))
  const { update } = createRegistryOperations(platform, { endpoints, kept, reconcile: async () => undefined })
  const id = uuidv7()
  const connection = { engine: 'distribution', url: `https://${id}.example.com`, certificate_authority: null, account: null, ours: id } as const
  await insertRegistry(db, {
    id,
    name: id,
    description: '',
    engine: 'distribution',
    origin: 'kept',
    status: 'changing',
    region_id: null,
    node_id: null,
    url: connection.url,
    address: new URL(connection.url).host,
    certificate_authority: null,
    username: null,
    ours: true,
    connection: endpoints.seal(id, connection),
    notify_hash: null,
    health: 'unknown',
    health_message: null,
    version: null,
    checked_at: null,
    reconciled_at: null,
    reconcile_error: null,
    collected_at: null,
    push_until: null,
    collecting_until: null,
    tls_kind: 'ours',
    tls_ends_at: null,
    error: null,
    created_by: null,
    created_by_name: '',
  })
  const input = update.input.parse({ connection, tls_kind: 'ours', ends_at: '2027-01-01T00:00:00Z', status })
  const context = { operation_id: uuidv7(), resource_id: id, input, signal: AbortSignal.timeout(10_000), log: platform.log }
  await db.transaction().execute((tx) => update.ended(tx, context, refusal))
  expect(await getRegistry(db, id)).toMatchObject({ status, error: refusal?.message ?? null })
})
