import { cloudCan, cloudConnection, type Cloud, type CloudBasic, type CloudConnection, type CloudProduct, type CloudStatus, type clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import { detectLocalHypervisor } from '@zhisuan/engines/open'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, isUniqueViolation, type Sql, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { addressOf, openEngine } from './cloud.engines.ts'
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

/** What lives on clouds: counted before one goes, forgotten when it goes by force. */
export interface CloudContents {
  count(on: Sql, cloudIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Where something else than instances is left, for a removal that is not forced. @throws Refusal */
  refuseRemoval(tx: Tx, cloudId: string): Promise<void>
  forget(tx: Tx, cloudId: string): Promise<void>
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

export type CloudService = ReturnType<typeof createCloudService>

const refreshEveryMs = 15_000
const refreshTimeoutMs = 20_000

export function createCloudService(platform: Platform, licence: LicenceLimits) {
  const { db, secrets, config, log, bus } = platform
  const engines = new Map<string, { sealed: string; engine: ComputeEngine }>()
  const watchers = new Set<() => void>()
  let contents: CloudContents = { count: async () => new Map(), refuseRemoval: async () => undefined, forget: async () => undefined }
  let loop: NodeJS.Timeout | undefined
  const stopping = new AbortController()
  let unsubscribe: () => void = () => undefined

  const placeOf = (id: string) => `clouds.connection:${id}`
  const connectionOf = (row: CloudRow): CloudConnection =>
    cloudConnection.parse(JSON.parse(secrets.open(row.connection, placeOf(row.id))))

  const engineOf = (row: CloudRow): ComputeEngine => {
    const known = engines.get(row.id)
    if (known !== undefined) {
      if (known.sealed === row.connection) return known.engine
      void known.engine.close()
    }
    const engine = openEngine(connectionOf(row), config.DATA_DIR, row.id)
    engines.set(row.id, { sealed: row.connection, engine })
    return engine
  }
  const closeEngine = async (id: string): Promise<void> => {
    const known = engines.get(id)
    engines.delete(id)
    await known?.engine.close()
  }

  type Answer = Observed & { host_name: string }
  const observe = async (engine: ComputeEngine, signal: AbortSignal): Promise<Answer> => {
    const [info, capacity] = await Promise.all([engine.info({ signal }), engine.capacity({ signal })])
    const availability = (type: { available: boolean; reason?: string }) => ({ available: type.available, reason: type.reason ?? null })
    return {
      host_name: info.hostName,
      engine: info.product,
      engine_version: info.version,
      instance_types: { vm: availability(info.instanceTypes.vm), container: availability(info.instanceTypes.container) },
      cpu_cores: capacity.cpuCores,
      memory_bytes: capacity.memoryBytes,
      disk_bytes: capacity.diskBytes,
      nodes: capacity.nodes,
    }
  }

  /** What a row keeps of an engine that answered. */
  const seen = (answer: Answer) => {
    const { host_name: _, ...observed } = answer
    return {
      health: 'reachable' as const,
      health_message: null,
      // The driver wants JSON as text; the type is what is read back.
      observed: jsonb(observed),
      usage: usageOf(observed),
      checked_at: platform.now(),
    }
  }

  /** Asks the engine and records what it says, or how it failed. */
  const refresh = async (row: CloudRow): Promise<CloudRow | undefined> => {
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(refreshTimeoutMs)])
      return await store.recordHealth(db, row, seen(await observe(engineOf(row), signal)))
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

  const show = async (rows: readonly CloudRow[]): Promise<Cloud[]> => {
    const counts = await contents.count(db, rows.map((row) => row.id))
    return rows.map((row) => shape(row, counts.get(row.id) ?? 0))
  }
  const showOne = async (row: CloudRow): Promise<Cloud> => shape(row, (await contents.count(db, [row.id])).get(row.id) ?? 0)

  const register = async (body: BodyOf<Calls['create']>, observed: Answer): Promise<CloudRow> => {
    const id = uuidv7()
    try {
      return await db.transaction().execute(async (tx) => {
        if (body.connection.type !== 'sandbox') await licence.assertFits(tx, { nodes: observed.nodes, cores: observed.cpu_cores.total })
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
          ...seen(observed),
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

  const requireNextstack = (product: CloudProduct): void => {
    if (product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'product' })
  }

  /** Opens a connection that is not kept, asks it everything, closes it. */
  const tryConnection = async (connection: CloudConnection) => {
    const engine = openEngine(connection, config.DATA_DIR, null)
    try {
      return await observe(engine, AbortSignal.timeout(refreshTimeoutMs))
    } finally {
      await engine.close()
    }
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
      requireNextstack(body.product)
      await licence.assertValid()
      return showOne(await register(body, await tryConnection(body.connection)))
    },

    async update(id: string, body: BodyOf<Calls['update']>): Promise<Cloud> {
      const { connection } = body
      const observed = connection === undefined ? undefined : await tryConnection(connection)
      try {
        const row = await db.transaction().execute(async (tx) => {
          const before = found(await store.lockCloud(tx, id))
          if (connection !== undefined && connection.type !== 'sandbox' && observed !== undefined) {
            // What the licence counts of it so far: of a sandbox nothing.
            const had = before.connection_type === 'sandbox' ? null : before.observed
            await licence.assertFits(tx, {
              nodes: observed.nodes - (had?.nodes ?? 0),
              cores: observed.cpu_cores.total - (had?.cpu_cores.total ?? 0),
            })
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
            ...(observed !== undefined && seen(observed)),
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
        found(await store.lockCloud(tx, id))
        const count = (await contents.count(tx, [id])).get(id) ?? 0
        if (count > 0 && !force) throw new Refusal('cloudNotEmpty', { values: { count } })
        if (!force) await contents.refuseRemoval(tx, id)
        await contents.forget(tx, id)
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
      requireNextstack(body.product)
      const answer = await tryConnection(body.connection)
      return {
        engine: answer.engine,
        version: answer.engine_version,
        host_name: answer.host_name,
        nodes: answer.nodes,
        cpu_cores: answer.cpu_cores.total,
        memory_bytes: answer.memory_bytes.total,
        disk_bytes: answer.disk_bytes.total,
        instance_types: answer.instance_types,
      }
    },

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

    holds(of: CloudContents): void {
      contents = of
    },

    /** Told when clouds were registered, changed or removed, by whichever server. */
    onChange(told: () => void): void {
      watchers.add(told)
    },

    async start(): Promise<void> {
      const changed = (id: string) => {
        // The next use opens it anew, as it is now.
        void store.getCloud(db, id).then(async (row) => {
          if (row === undefined) await closeEngine(id)
          for (const told of watchers) told()
        }, () => undefined)
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
    try {
      await register(
        { name: local === null ? firstCloudNames.sandbox : firstCloudNames.local, description: '', labels: [], product: 'nextstack', connection },
        await tryConnection(connection),
      )
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

const isDue = (row: CloudRow, now: Date): boolean =>
  row.checked_at === null || now.getTime() - row.checked_at.getTime() >= refreshEveryMs * 0.8

/** The fuller of processors, memory and disk, 0 to 1. Promising more than there is is full, not fuller. */
export function usageOf(observed: Pick<Observed, 'cpu_cores' | 'memory_bytes' | 'disk_bytes'>): number {
  const parts = [observed.cpu_cores, observed.memory_bytes, observed.disk_bytes].map(({ total, used }) => (total > 0 ? used / total : 0))
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
  capacity:
    row.observed === null
      ? null
      : {
          cpu_cores: row.observed.cpu_cores,
          memory_bytes: row.observed.memory_bytes,
          disk_bytes: row.observed.disk_bytes,
          nodes: row.observed.nodes,
        },
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
