import {
  cloudCan,
  connectionsOf,
  isOpenStack,
  openStackSettings,
  type CapacityRange,
  type CapacitySample,
  type Cloud,
  type CloudBasic,
  type CloudConnection,
  type CloudDetail,
  type CloudProduct,
  type clouds,
} from '@zhisuan/contract/cmp/cloud'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { detectLocalHypervisor } from '@zhisuan/engines/open'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { createEndpoints } from '../../../platform/endpoints.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { handleJob } from '../../../platform/jobs.ts'
import type { CloudContents } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import { cloudKind, seenFirst, type CloudLook } from './cloud.endpoint.ts'
import { addressOf, type openEngine } from './cloud.engines.ts'
import { withSecrets } from './cloud.openstack.ts'
import { sampleCapacityJob, takeSamples } from './cloud.samples.ts'
import { basic, known, licensed, nothing, shape, withoutInternals, type KnownCloud } from './cloud.shape.ts'
import * as store from './cloud.store.ts'
import type { CloudRow, Observed } from './cloud.store.ts'

type Calls = typeof clouds

/** What the licence module does for us. */
export interface LicenceLimits {
  /** @throws Refusal 92001 */
  assertValid(): Promise<void> | void
  /** Under a lock until the transaction ends. @throws Refusal 8805, 8809 */
  assertFits(tx: Tx, added: { nodes: number; cores: number }): Promise<void>
}

export type CloudService = ReturnType<typeof createCloudService>

export function createCloudService(platform: Platform, others: { licence: LicenceLimits; openEngine?: typeof openEngine }) {
  const { db, config, log } = platform
  const { licence } = others
  const endpoints = createEndpoints(platform, cloudKind(db, config.DATA_DIR, others.openEngine))
  const contents = (): CloudContents[] => platform.modules().flatMap(({ contentsOfCloud = [] }) => contentsOfCloud)

  /** @throws Refusal notFound for a cloud of the other family: its pages do not know it */
  const engineOf = (row: CloudRow): ComputeEngine => {
    const opened = endpoints.opened(row)
    if (opened.family !== 'nextstack') throw new Refusal('notFound')
    return opened.engine
  }
  const openStackOf = (row: CloudRow): OpenStack => {
    const opened = endpoints.opened(row)
    if (opened.family !== 'compute') throw new Refusal('notFound')
    return opened.engine
  }
  /** How an OpenStack is reached, without the secrets: the contract's shape leaves them out. */
  const settingsOf = (row: CloudRow): CloudDetail['settings'] => {
    if (row.product === 'nextstack') return null
    const connection = endpoints.connectionOf(row)
    return isOpenStack(connection) ? openStackSettings.parse(connection) : null
  }

  /** What our records know, and of clouds that are their own record what runs there. */
  const countInstances = async (on: Sql, rows: readonly CloudRow[]): Promise<(row: CloudRow) => number> => {
    const counts = await Promise.all(
      contents().map((one) =>
        one.count(
          on,
          rows.map((row) => row.id),
        ),
      ),
    )
    return (row) => {
      const known = counts.flatMap((count) => count.get(row.id) ?? [])
      return known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : (row.observed?.capacity?.running_instances ?? 0)
    }
  }
  const show = async (rows: readonly CloudRow[]): Promise<Cloud[]> => {
    const instances = await countInstances(db, rows)
    return rows.map((row) => shape(row, instances(row)))
  }
  const showOne = async (row: CloudRow): Promise<Cloud> => shape(row, (await countInstances(db, [row]))(row))

  const register = async (body: BodyOf<Calls['create']>, look: CloudLook): Promise<CloudRow> => {
    const id = uuidv7()
    return refusing(taken(body.connection), () =>
      db.transaction().execute(async (tx) => {
        if (body.connection.type !== 'sandbox') await licence.assertFits(tx, licensed(look.observed))
        const row = await store.insertCloud(tx, {
          id,
          name: body.name,
          description: body.description,
          product: body.product,
          connection_type: body.connection.type,
          address: addressOf(body.connection),
          connection: endpoints.seal(id, body.connection),
          labels: body.labels,
          status: 'active',
          ...seenFirst(look, endpoints.healthOf(look)),
        })
        await endpoints.tell(tx, id)
        return row
      }),
    )
  }

  const taken = (connection: CloudConnection | undefined) => ({
    clouds_name: ['cloudNameTaken', 'name'] as const,
    clouds_address: async (cause: unknown) => {
      const holder = (await store.allClouds(db)).find((row) => connection !== undefined && row.address === addressOf(connection))
      return new Refusal('cloudIdentityTaken', { values: { name: holder?.name ?? '' }, cause })
    },
  })

  const requireConnection = (product: CloudProduct, type: CloudConnection['type']): void => {
    if (!connectionsOf(product).includes(type)) throw new Refusal('connectionMismatch', { field: 'connection.type' })
  }

  return {
    async list(actor: Actor, query: QueryOf<Calls['list']>) {
      const platformLevel = isPlatformKind(actor.kind)
      const { total, rows } = await store.listClouds(db, query, { offline: platformLevel })
      const shown = await show(rows)
      return { total, clouds: platformLevel ? shown : shown.map(withoutInternals) }
    },

    async basicInfo(actor: Actor): Promise<{ total: number; clouds: CloudBasic[] }> {
      const rows = (await store.allClouds(db)).filter((row) => isPlatformKind(actor.kind) || row.status !== 'offline')
      return { total: rows.length, clouds: rows.map((row) => basic(row)) }
    },

    async create(body: BodyOf<Calls['create']>): Promise<Cloud> {
      requireConnection(body.product, body.connection.type)
      await licence.assertValid()
      return showOne(await register(body, await endpoints.tryToKeep(body.connection, body.name)))
    },

    async get(id: string): Promise<CloudDetail> {
      const row = found(await store.getCloud(db, id))
      return { ...(await showOne(row)), services: row.services, settings: settingsOf(row) }
    },

    async capacity(id: string, range: CapacityRange): Promise<{ items: CapacitySample[] }> {
      found(await store.getCloud(db, id))
      return { items: await store.capacitySamples(db, id, range, platform.now()) }
    },

    async update(id: string, body: BodyOf<Calls['update']>): Promise<Cloud> {
      const kept = found(await store.getCloud(db, id))
      if (body.connection !== undefined) requireConnection(kept.product, body.connection.type)
      const connection = body.connection === undefined ? undefined : withSecrets(body.connection, endpoints.connectionOf(kept))
      const tried = connection === undefined ? undefined : await endpoints.tryToKeep(connection, body.name)
      return refusing(taken(connection), async () => {
        const row = await db.transaction().execute(async (tx) => {
          const before = found(await store.lockCloud(tx, id))
          if (connection !== undefined && connection.type !== 'sandbox' && tried !== undefined) {
            // What the licence counts of it so far: of a sandbox nothing.
            const had = before.connection_type === 'sandbox' ? nothing : licensed(before.observed)
            const has = licensed(tried.observed)
            await licence.assertFits(tx, { nodes: has.nodes - had.nodes, cores: has.cores - had.cores })
          }
          const after = await store.updateCloud(tx, id, {
            name: body.name,
            description: body.description,
            labels: body.labels,
            ...(connection !== undefined && {
              connection_type: connection.type,
              address: addressOf(connection),
              connection: endpoints.seal(id, connection),
            }),
            ...(tried !== undefined && seenFirst(tried, endpoints.healthOf(tried))),
          })
          await endpoints.tell(tx, id)
          return found(after)
        })
        return showOne(row)
      })
    },

    async remove(id: string, force: boolean): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockCloud(tx, id))
        const count = (await countInstances(tx, [row]))(row)
        if (count > 0 && !force) throw new Refusal('cloudNotEmpty', { values: { count } })
        if (!force) for (const one of contents()) await one.refuseRemoval(tx, id)
        for (const one of contents()) await one.forget(tx, id)
        await store.updateCloud(tx, id, { deleted_at: platform.now(), connection: '' })
        await endpoints.tell(tx, id)
      })
    },

    async act(id: string, action: BodyOf<Calls['action']>['action']): Promise<Cloud> {
      if (action === 'refresh') return showOne(found(await endpoints.refresh(found(await store.getCloud(db, id)))))
      const row = await db.transaction().execute(async (tx) => {
        const before = found(await store.lockCloud(tx, id))
        const allowed = { active: cloudCan.activate, maintenance: cloudCan.maintain, offline: cloudCan.takeOffline }[action]
        refuseUnless(allowed, before)
        const after = found(await store.updateCloud(tx, id, { status: action }))
        await endpoints.tell(tx, id)
        return after
      })
      return showOne(row)
    },

    async test(body: BodyOf<Calls['test']>) {
      requireConnection(body.product, body.connection.type)
      const kept = body.cloud_id === undefined ? undefined : found(await store.getCloud(db, body.cloud_id))
      const connection = withSecrets(body.connection, kept === undefined ? undefined : endpoints.connectionOf(kept))
      const host = isOpenStack(connection) ? new URL(connection.auth_url).host : ''
      // It has no name before it is kept.
      const { observed, services, access, host_name } = await endpoints.try(connection, kept?.name ?? host)
      const { engine, engine_version: version, capacity, instance_types } = observed
      return {
        engine,
        version,
        host_name: host_name ?? host,
        capacity,
        instance_types,
        services,
        access: access === null ? null : { ...access, roles: [...access.roles], regions: [...access.regions] },
      }
    },

    jobHandler: handleJob(sampleCapacityJob, () => takeSamples(db, platform.now(), countInstances)),

    // For other modules.

    /** @throws Refusal notFound */
    async engine(id: string): Promise<ComputeEngine> {
      return engineOf(found(await store.getCloud(db, id)))
    },

    /** To read from: a cloud that tenants may see. @throws Refusal notFound, 12006 */
    async forReading(id: string): Promise<ComputeEngine> {
      const row = found(await store.getCloud(db, id))
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return engineOf(row)
    },

    /** The OpenStack behind a cloud, by the credentials of its registration, which see all of it. @throws Refusal notFound, 12006 */
    async openStack(id: string): Promise<OpenStack> {
      const row = found(await store.getCloud(db, id))
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return openStackOf(row)
    },

    /** The same, to change something on. @throws Refusal notFound, 12005, 12006 */
    async openStackForChange(id: string): Promise<OpenStack> {
      const row = found(await store.getCloud(db, id))
      if (row.status === 'maintenance') throw new Refusal('cloudMaintenance')
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return openStackOf(row)
    },

    /**
     * To change something on, until the transaction ends.
     * @throws Refusal notFound, 12005, 12006
     */
    async forChange(tx: Tx, id: string): Promise<KnownCloud & { instance_types: Observed['instance_types'] | null }> {
      const row = found(await store.shareCloud(tx, id))
      if (row.status === 'maintenance') throw new Refusal('cloudMaintenance')
      if (row.status === 'offline') throw new Refusal('cloudOffline')
      return { ...known(row), instance_types: row.observed?.instance_types ?? null }
    },

    async all(): Promise<KnownCloud[]> {
      return (await store.allClouds(db)).map(known)
    },

    /** Told when clouds were registered, changed or removed, by whichever server. */
    onChange: endpoints.onChange,

    async start(): Promise<void> {
      await registerLocalCloud()
      endpoints.start()
    },

    stop: endpoints.stop,
  }

  /** At the very first start: this host's hypervisor, or the sandbox for a first look. */
  async function registerLocalCloud(): Promise<void> {
    if (config.LOCAL_CLOUD === 'none' || (await store.anyCloudEver(db))) return
    const local = config.LOCAL_CLOUD === 'auto' ? await detectLocalHypervisor() : null
    const connection: CloudConnection = local === null ? { type: 'sandbox' } : { type: 'lxd-socket', socket_path: local.socketPath }
    const name = local === null ? firstCloudNames.sandbox : firstCloudNames.local
    try {
      await register({ name, description: '', labels: [], product: 'nextstack', connection }, await endpoints.tryToKeep(connection, name))
    } catch (error) {
      // Another server was faster, or the engine fell silent: an administrator can register it.
      log.warn({ err: error }, 'the first cloud was not registered')
    }
  }
}

/** Names of what the first start registers; data that an administrator renames, not messages. */
const firstCloudNames = { local: '本机', sandbox: '体验云' }
