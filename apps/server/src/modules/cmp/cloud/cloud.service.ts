import {
  cloudCan,
  cloudConnection,
  connectionsOf,
  isOpenStack,
  openStackSettings,
  type CapacityRange,
  type CapacitySample,
  type Cloud,
  type CloudBasic,
  type CloudCapacity,
  type CloudConnection,
  type CloudDetail,
  type CloudProduct,
  type CloudServiceState,
  type CloudStatus,
  type clouds,
} from '@zhisuan/contract/cmp/cloud'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { createLook, type Look, type Looked } from '@zhisuan/engines/openstack/look'
import { detectLocalHypervisor } from '@zhisuan/engines/open'
import { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, isUniqueViolation, type Sql, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { CloudContents } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import { addressOf, openEngine as openRealEngine, openOpenStack, type OpenedOpenStack } from './cloud.engines.ts'
import { healthOf, observedOf, refuseIncomplete, servicesOf, tryOpenStack, withSecrets } from './cloud.openstack.ts'
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

/** A cloud as other modules know it. */
export interface KnownCloud {
  id: string
  name: string
  product: CloudProduct
  status: CloudStatus
  sandbox: boolean
  /** On the server's own host. */
  local: boolean
}

/** The engine of a cloud, by its family. */
type OpenedEngine =
  | { readonly family: 'nextstack'; readonly engine: ComputeEngine }
  | { readonly family: 'compute'; readonly engine: OpenedOpenStack; readonly look: Look }

export type CloudService = ReturnType<typeof createCloudService>

export const sampleCapacityJob = defineJob({ name: 'cmp.cloud.sample', input: z.object({}), concurrency: 1, schedule: '*/5 * * * *' })
const sampleEveryMs = 300_000
/** A little longer than the longest range that is shown. */
const samplesKeptMs = 30 * 24 * 3_600_000 + 3_600_000
const refreshEveryMs = 15_000
const refreshTimeoutMs = 20_000

export function createCloudService(platform: Platform, others: { licence: LicenceLimits; openEngine?: typeof openRealEngine }) {
  const { db, secrets, config, log, bus } = platform
  const { licence, openEngine = openRealEngine } = others
  const engines = new Map<string, { sealed: string; opened: OpenedEngine }>()
  const watchers = new Set<() => void>()
  const contents = (): CloudContents[] => platform.modules().flatMap(({ contentsOfCloud = [] }) => contentsOfCloud)
  let loop: NodeJS.Timeout | undefined
  const stopping = new AbortController()
  let unsubscribe: () => void = () => undefined

  const placeOf = (id: string) => `clouds.connection:${id}`
  const connectionOf = (row: CloudRow): CloudConnection => cloudConnection.parse(JSON.parse(secrets.open(row.connection, placeOf(row.id))))

  const openedOf = (row: CloudRow): OpenedEngine => {
    // An OpenStack's errors tell the cloud's name, so another name is another engine.
    const sealed = `${row.connection} ${row.name}`
    const known = engines.get(row.id)
    if (known !== undefined) {
      if (known.sealed === sealed) return known.opened
      void known.opened.engine.close()
    }
    const connection = connectionOf(row)
    const opened = open(connection, row)
    engines.set(row.id, { sealed, opened })
    return opened
  }
  const open = (connection: CloudConnection, row: CloudRow): OpenedEngine => {
    if (!isOpenStack(connection)) return { family: 'nextstack', engine: openEngine(connection, config.DATA_DIR, row.id) }
    const engine = openOpenStack(connection, row.name)
    return { family: 'compute', engine, look: createLook(engine) }
  }
  /** @throws Refusal notFound for a cloud of the other family: its pages do not know it */
  const engineOf = (row: CloudRow): ComputeEngine => {
    const opened = openedOf(row)
    if (opened.family !== 'nextstack') throw new Refusal('notFound')
    return opened.engine
  }
  const openStackOf = (row: CloudRow): OpenStack => {
    const opened = openedOf(row)
    if (opened.family !== 'compute') throw new Refusal('notFound')
    return opened.engine
  }
  /** How an OpenStack is reached, without the secrets: the contract's shape leaves them out. */
  const settingsOf = (row: CloudRow): CloudDetail['settings'] => {
    if (row.product === 'nextstack') return null
    const connection = connectionOf(row)
    return isOpenStack(connection) ? openStackSettings.parse(connection) : null
  }
  const closeEngine = async (id: string): Promise<void> => {
    const known = engines.get(id)
    engines.delete(id)
    await known?.opened.engine.close()
  }

  const observe = async (engine: ComputeEngine, signal: AbortSignal): Promise<{ host_name: string; observed: Observed }> => {
    const [info, capacity] = await Promise.all([engine.info({ signal }), engine.capacity({ signal })])
    const whole = (of: { total: number; used: number }) => ({ ...of, physical: of.total })
    const availability = (type: { available: boolean; reason?: string }) => ({ available: type.available, reason: type.reason ?? null })
    return {
      host_name: info.hostName,
      observed: {
        engine: info.product,
        engine_version: info.version,
        instance_types: { vm: availability(info.instanceTypes.vm), container: availability(info.instanceTypes.container) },
        capacity: {
          cpu_cores: whole(capacity.cpuCores),
          memory_bytes: whole(capacity.memoryBytes),
          disk_bytes: whole(capacity.diskBytes),
          nodes: capacity.nodes,
          running_instances: null,
        },
      },
    }
  }

  /** What a row keeps of an engine that answered. */
  const seen = (observed: Observed, services: CloudServiceState[] = []) => ({
    ...healthOf(services),
    // The driver wants JSON as text; the type is what is read back.
    observed: jsonb(observed),
    services: jsonb(services),
    usage: observed.capacity === null ? null : usageOf(observed.capacity),
    checked_at: platform.now(),
  })
  const ask = async (row: CloudRow) => {
    const opened = openedOf(row)
    if (opened.family === 'nextstack')
      return seen((await observe(opened.engine, AbortSignal.any([stopping.signal, AbortSignal.timeout(refreshTimeoutMs)]))).observed)
    const looked = await opened.look(refreshTimeoutMs, stopping.signal)
    return seen(observedOf(looked, row.observed), servicesOf(looked))
  }

  /** Asks the engine and records what it says, or how it failed. */
  const refresh = async (row: CloudRow): Promise<CloudRow | undefined> => {
    try {
      return await store.recordHealth(db, row, await ask(row))
    } catch (error) {
      if (stopping.signal.aborted) return row
      // What was stored stays: the last known capacity is better than none.
      return store.recordHealth(db, row, {
        health: isEngineError(error, 'unauthorized') ? 'unauthorised' : 'unreachable',
        health_message: error instanceof Error ? error.message.slice(0, 500) : 'unknown',
        checked_at: platform.now(),
      })
    }
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

  const register = async (body: BodyOf<Calls['create']>, answer: ReturnType<typeof seen>, observed: Observed): Promise<CloudRow> => {
    const id = uuidv7()
    try {
      return await db.transaction().execute(async (tx) => {
        if (body.connection.type !== 'sandbox') await licence.assertFits(tx, licensed(observed))
        const row = await store.insertCloud(tx, {
          id,
          name: body.name,
          description: body.description,
          product: body.product,
          connection_type: body.connection.type,
          address: addressOf(body.connection),
          connection: secrets.seal(JSON.stringify(body.connection), placeOf(id)),
          labels: body.labels,
          status: 'active',
          ...answer,
          deleted_at: null,
        })
        await bus.publish(tx, 'cloud', id)
        return row
      })
    } catch (error) {
      throw await explainUnique(error, body.connection)
    }
  }

  const explainUnique = async (error: unknown, connection: CloudConnection | undefined): Promise<unknown> => {
    if (isUniqueViolation(error, 'clouds_name')) return new Refusal('cloudNameTaken', { field: 'name', cause: error })
    if (isUniqueViolation(error, 'clouds_address') && connection !== undefined) {
      const holder = (await store.allClouds(db)).find((row) => row.address === addressOf(connection))
      return new Refusal('cloudIdentityTaken', { values: { name: holder?.name ?? '' }, cause: error })
    }
    return error
  }

  const requireConnection = (product: CloudProduct, type: CloudConnection['type']): void => {
    if (!connectionsOf(product).includes(type)) throw new Refusal('connectionMismatch', { field: 'connection.type' })
  }

  /** Opens a connection that is not kept, asks it everything, closes it. */
  const tryConnection = async (
    connection: CloudConnection,
    name: string,
  ): Promise<{ host_name: string; observed: Observed; services: CloudServiceState[]; access: Looked['access'] | null }> => {
    if (isOpenStack(connection)) {
      const looked = await tryOpenStack(connection, name)
      return { host_name: new URL(connection.auth_url).host, observed: observedOf(looked, null), services: servicesOf(looked), access: looked.access }
    }
    const engine = openEngine(connection, config.DATA_DIR, null)
    try {
      return { ...(await observe(engine, AbortSignal.timeout(refreshTimeoutMs))), services: [], access: null }
    } finally {
      await engine.close()
    }
  }
  /** The same, for one that is to be kept. @throws Refusal 93027 */
  const tryToKeep = async (connection: CloudConnection, name: string) => {
    const { observed, services } = await tryConnection(connection, name)
    refuseIncomplete(services, name)
    return { observed, answer: seen(observed, services) }
  }

  const takeSamples = async (): Promise<void> => {
    const now = platform.now().getTime()
    const at = new Date(now - (now % sampleEveryMs))
    // What was known before a cloud fell silent says nothing of now.
    const fresh = (await store.allClouds(db)).filter(
      (row) => row.status !== 'offline' && isAnswering(row) && row.checked_at !== null && now - row.checked_at.getTime() < sampleEveryMs,
    )
    const instances = await countInstances(db, fresh)
    await store.insertSamples(
      db,
      fresh.flatMap((row) => (row.observed?.capacity == null ? [] : [sampleOf(row, row.observed.capacity, at, instances(row))])),
    )
    await store.forgetSamples(db, new Date(now - samplesKeptMs))
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
      const { observed, answer } = await tryToKeep(body.connection, body.name)
      return showOne(await register(body, answer, observed))
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
      const connection = body.connection === undefined ? undefined : withSecrets(body.connection, connectionOf(kept))
      const tried = connection === undefined ? undefined : await tryToKeep(connection, body.name)
      try {
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
              connection: secrets.seal(JSON.stringify(connection), placeOf(id)),
            }),
            ...tried?.answer,
          })
          await bus.publish(tx, 'cloud', id)
          return found(after)
        })
        return await showOne(row)
      } catch (error) {
        throw await explainUnique(error, connection)
      }
    },

    async remove(id: string, force: boolean): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockCloud(tx, id))
        const count = (await countInstances(tx, [row]))(row)
        if (count > 0 && !force) throw new Refusal('cloudNotEmpty', { values: { count } })
        if (!force) for (const one of contents()) await one.refuseRemoval(tx, id)
        for (const one of contents()) await one.forget(tx, id)
        await store.updateCloud(tx, id, { deleted_at: platform.now(), connection: '' })
        await bus.publish(tx, 'cloud', id)
      })
    },

    async act(id: string, action: BodyOf<Calls['action']>['action']): Promise<Cloud> {
      if (action === 'refresh') return showOne(found(await refresh(found(await store.getCloud(db, id)))))
      const row = await db.transaction().execute(async (tx) => {
        const before = found(await store.lockCloud(tx, id))
        const allowed = { active: cloudCan.activate, maintenance: cloudCan.maintain, offline: cloudCan.takeOffline }[action]
        refuseUnless(allowed, before)
        const after = found(await store.updateCloud(tx, id, { status: action }))
        await bus.publish(tx, 'cloud', id)
        return after
      })
      return showOne(row)
    },

    async test(body: BodyOf<Calls['test']>) {
      requireConnection(body.product, body.connection.type)
      const kept = body.cloud_id === undefined ? undefined : found(await store.getCloud(db, body.cloud_id))
      const connection = withSecrets(body.connection, kept === undefined ? undefined : connectionOf(kept))
      // It has no name before it is kept.
      const { observed, host_name, services, access } = await tryConnection(
        connection,
        kept?.name ?? (isOpenStack(connection) ? new URL(connection.auth_url).host : ''),
      )
      const { engine, engine_version: version, capacity, instance_types } = observed
      return {
        engine,
        version,
        host_name,
        capacity,
        instance_types,
        services,
        access: access === null ? null : { ...access, roles: [...access.roles], regions: [...access.regions] },
      }
    },

    jobHandler: handleJob(sampleCapacityJob, takeSamples),

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
    onChange(told: () => void): void {
      watchers.add(told)
    },

    async start(): Promise<void> {
      const changed = (id: string) => {
        // The next use opens it anew, as it is now.
        void store.getCloud(db, id).then(
          async (row) => {
            if (row === undefined) await closeEngine(id)
            for (const told of watchers) told()
          },
          () => undefined,
        )
      }
      unsubscribe = bus.subscribe('cloud', changed, () => watchers.forEach((told) => told()))
      await registerLocalCloud()
      const refreshAll = async () => {
        try {
          const due = (await store.allClouds(db)).filter((row) => row.status !== 'offline' && isDue(row, platform.now()))
          // At once: one that keeps us waiting does not make the others look old.
          await Promise.all(due.map(refresh))
        } catch (error) {
          log.error({ err: error }, 'refreshing clouds')
        }
        if (!stopping.signal.aborted) loop = setTimeout(() => void refreshAll(), refreshEveryMs).unref()
      }
      void refreshAll()
    },

    async stop(): Promise<void> {
      clearTimeout(loop)
      stopping.abort()
      unsubscribe()
      await Promise.all([...engines.keys()].map(closeEngine))
    },
  }

  /** At the very first start: this host's hypervisor, or the sandbox for a first look. */
  async function registerLocalCloud(): Promise<void> {
    if (config.LOCAL_CLOUD === 'none' || (await store.anyCloudEver(db))) return
    const local = config.LOCAL_CLOUD === 'auto' ? await detectLocalHypervisor() : null
    const connection: CloudConnection = local === null ? { type: 'sandbox' } : { type: 'lxd-socket', socket_path: local.socketPath }
    const name = local === null ? firstCloudNames.sandbox : firstCloudNames.local
    try {
      const { observed, answer } = await tryToKeep(connection, name)
      await register({ name, description: '', labels: [], product: 'nextstack', connection }, answer, observed)
    } catch (error) {
      // Another server was faster, or the engine fell silent: an administrator can register it.
      log.warn({ err: error }, 'the first cloud was not registered')
    }
  }
}

/** Names of what the first start registers; data that an administrator renames, not messages. */
const firstCloudNames = { local: '本机', sandbox: '体验云' }

const known = (row: CloudRow): KnownCloud => ({
  id: row.id,
  name: row.name,
  product: row.product,
  status: row.status,
  sandbox: row.connection_type === 'sandbox',
  local: row.connection_type === 'lxd-socket',
})

const isDue = (row: CloudRow, now: Date): boolean => row.checked_at === null || now.getTime() - row.checked_at.getTime() >= refreshEveryMs * 0.8

const isAnswering = ({ health }: CloudRow): boolean => health === 'reachable' || health === 'degraded'

const nothing = { nodes: 0, cores: 0 }
/** What the licence counts: what hosts have, however much of it is promised. */
const licensed = (observed: Observed | null): { nodes: number; cores: number } =>
  observed?.capacity == null ? nothing : { nodes: observed.capacity.nodes, cores: observed.capacity.cpu_cores.physical }

const sampleOf = (row: CloudRow, { cpu_cores, memory_bytes, disk_bytes, nodes }: CloudCapacity, at: Date, instances: number) => ({
  cloud_id: row.id,
  at,
  cpu_total: cpu_cores.total,
  cpu_used: cpu_cores.used,
  memory_total: memory_bytes.total,
  memory_used: memory_bytes.used,
  disk_total: disk_bytes.total,
  disk_used: disk_bytes.used,
  nodes,
  instances,
})

/** The fuller of processors, memory and disk, 0 to 1. Promising more than there is is full, not fuller. */
export function usageOf(capacity: Record<'cpu_cores' | 'memory_bytes' | 'disk_bytes', { total: number; used: number }>): number {
  const parts = [capacity.cpu_cores, capacity.memory_bytes, capacity.disk_bytes].map(({ total, used }) => (total > 0 ? used / total : 0))
  return Math.min(1, Math.max(0, ...parts))
}

const unknownType = { available: false, reason: null }

function basic(row: CloudRow): CloudBasic {
  const types = row.observed?.instance_types ?? { vm: unknownType, container: unknownType }
  return {
    cloud_id: row.id,
    name: row.name,
    product: row.product,
    engine: row.observed?.engine ?? null,
    sandbox: row.connection_type === 'sandbox',
    status: row.status,
    health: row.health,
    usage: row.usage,
    labels: row.labels,
    instance_types: types,
  }
}

const shape = (row: CloudRow, instances: number): Cloud => ({
  ...basic(row),
  description: row.description,
  connection: { type: row.connection_type, address: row.address },
  engine_version: row.observed?.engine_version ?? null,
  capacity: row.observed?.capacity ?? null,
  instance_count: instances,
  health_message: row.health_message,
  checked_at: isoOrNull(row.checked_at),
  created_at: iso(row.created_at),
})

/** What a tenant may not know: where the engine is, how big, whose else it is. */
const withoutInternals = (cloud: Cloud): Cloud => ({
  ...cloud,
  description: '',
  connection: { type: cloud.connection.type, address: '' },
  engine_version: null,
  capacity: null,
  instance_count: 0,
  health_message: null,
})
