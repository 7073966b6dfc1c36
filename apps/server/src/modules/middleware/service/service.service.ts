import { randomBytes } from 'node:crypto'
import { addressesOf } from '@zhisuan/contract/agent/node'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import {
  hasDatabases,
  serviceCan,
  serviceDeployment,
  serviceUsers,
  serviceUsualPorts,
  type databaseServices,
  type DatabaseService,
  type serviceAccounts,
  type ServiceAccount,
  type ServiceDatabase,
  type serviceDatabases,
} from '@zhisuan/contract/middleware/service'
import { isEngineError } from '@zhisuan/engines/errors'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Kept, KeptNodes } from '../../../platform/kept/kept.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Session } from './session.ts'
import { wantedService } from './program.ts'
import type { ServiceOperations } from './service.operations.ts'
import { createAskService, placeOfSecret } from './service.sessions.ts'
import * as store from './service.store.ts'
import type { ServiceRow, ShownService } from './service.store.ts'

type Services = typeof databaseServices

/** A page is not kept waiting by a program that does not answer. */
const figuresMs = 4_000
const reasonLimit = 300

/** Asks whoever wants what is dangerous to prove that it is they. @throws Refusal 91125 */
export type Prove = (actor: Actor, password: string | undefined) => Promise<void>

export type ServiceService = ReturnType<typeof createServiceService>

export function createServiceService(
  { db, secrets, operations: runs }: Pick<Platform, 'db' | 'operations' | 'secrets'>,
  { kept, operations, connected, reach, prove }: { kept: Kept; operations: ServiceOperations; prove: Prove } & Pick<KeptNodes, 'connected' | 'reach'>,
) {
  const ask = createAskService({ db, secrets })
  const shape = (row: ShownService): DatabaseService => ({
    id: row.id,
    name: row.name,
    description: row.description,
    type: row.type,
    deployment: serviceDeployment,
    status: row.status,
    health: row.health,
    health_message: row.health_message,
    node: { id: row.node_id, name: row.node_name },
    addresses: row.node_facts === null ? [] : addressesOf(row.node_facts),
    port: row.port,
    listens: row.listens,
    username: serviceUsers[row.type],
    memory_mb: row.memory_mb,
    connections_most: row.connections_most,
    version: row.version,
    error: row.error,
    operation_id: row.operation_id,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const row = async (id: string): Promise<ShownService> => found(await store.showService(db, id))
  const show = async (id: string): Promise<DatabaseService> => shape(await row(id))
  const locked = async (tx: Tx, id: string): Promise<ServiceRow> => found(await store.lockService(tx, id))
  const passwordOf = ({ id, secret }: Pick<ServiceRow, 'id' | 'secret'>): string => secrets.open(secret, placeOfSecret('secret', id))
  const freshPassword = (): string => randomBytes(18).toString('base64url')
  const taken = (nodeId: string, port: number) => ({
    database_services_name: ['databaseServiceNameTaken', 'name'] as const,
    database_services_port: async (cause: unknown) =>
      new Refusal('databaseServicePortTaken', {
        field: 'port',
        values: { port, name: (await store.serviceAtPort(db, nodeId, port))?.name ?? '' },
        cause,
      }),
  })

  /** Begins something that needs nothing but its steps. */
  const begin = async (actor: Actor, id: string, action: 'start' | 'stop' | 'restart'): Promise<DatabaseService> => {
    await db.transaction().execute(async (tx) => {
      refuseUnless(serviceCan[action], await locked(tx, id))
      await store.updateService(tx, id, { status: 'changing', error: null })
      const definition: OperationDefinition<Record<string, never>> = operations[action]
      await runs.begin(tx, definition, { resource_id: id, bp_id: null, actor, input: {} })
    })
    return show(id)
  }

  /** Asks the program itself for its databases and accounts. @throws Refusal 404, 90010, 97413–97415, and what keeps a node from being reached */
  const manage = async <T>(id: string, act: (session: Session) => Promise<T>): Promise<T> => {
    const service = await row(id)
    if (!hasDatabases(service.type)) throw new Refusal('databaseServicePlain')
    refuseUnless(serviceCan.manage, service)
    return asked(service, act)
  }
  const asked = async <T>(service: ShownService, act: (session: Session) => Promise<T>): Promise<T> => {
    const { tunnel } = await reach(service.node_id)
    const { name } = service
    try {
      return await ask(tunnel, service, act)
    } catch (error) {
      if (isEngineError(error, 'unreachable', 'unanswered', 'cancelled', 'unauthorized'))
        throw new Refusal('databaseServiceSilent', { values: { name }, detail: error.message, cause: error })
      if (isEngineError(error, 'failed'))
        throw new Refusal('databaseServiceRefused', { values: { name, reason: error.message.slice(0, reasonLimit) }, cause: error })
      throw error
    }
  }
  /** What is said of a name that is taken, or that is not there. */
  const naming = async <T>(act: () => Promise<T>, conflict: () => Refusal, missing: (name: string) => Refusal): Promise<T> => {
    try {
      return await act()
    } catch (error) {
      if (isEngineError(error, 'conflict')) throw conflict()
      if (isEngineError(error, 'not_found')) throw missing(error.message)
      throw error
    }
  }
  /** Once it is known which password it has. @throws Refusal 404, 97413, and what keeps a node from being reached */
  const known = async (id: string): Promise<ShownService> => {
    const service = await row(id)
    if (service.secret_next === null || service.status !== 'active') return service
    await asked(service, async () => undefined)
    return row(id)
  }
  const whole = async <T>(rows: Promise<T[]>): Promise<{ total: number; items: T[] }> => {
    const items = await rows
    return { total: items.length, items }
  }
  const gone = (): Refusal => new Refusal('notFound')

  return {
    list: (query: QueryOf<Services['list']>): Promise<ResponseOf<Services['list']>> => shapedPage(store.listServices(db, query), shape),
    get: show,
    async log(id: string, lines: number): Promise<ResponseOf<Services['log']>> {
      await row(id)
      return { text: await kept.lastLines(id, lines) }
    },

    /** @throws Refusal 95004, 97410, 97411, 97412 */
    async create(actor: Actor, body: BodyOf<Services['create']>): Promise<DatabaseService> {
      const node = await db.selectFrom('edges').select(['bp_id', 'binding']).where('id', '=', body.node_id).executeTakeFirst()
      if (node === undefined || node.binding !== 'bound') throw new Refusal('edgeUnknown', { field: 'node_id' })
      // Whoever has a node reads all that is kept on it.
      if (node.bp_id !== null) throw new Refusal('databaseServiceNodeForeign', { field: 'node_id' })
      const id = uuidv7()
      const { password = freshPassword(), port = serviceUsualPorts[body.type], ...rest } = body
      const { name, description, type, node_id, listens, memory_mb, connections_most } = rest
      await refusing(taken(node_id, port), () =>
        db.transaction().execute(async (tx) => {
          await store.insertService(tx, {
            id,
            bp_id: null,
            name,
            description,
            type,
            status: 'installing',
            node_id,
            port,
            listens,
            memory_mb,
            connections_most,
            secret: secrets.seal(password, placeOfSecret('secret', id)),
            secret_next: null,
            health: 'unknown',
            health_message: null,
            version: null,
            error: null,
            ...authoredBy(actor),
          })
          await kept.want(tx, { id, node_id, owner: { kind: 'middleware.service', id }, wanted: wantedService({ ...rest, port }, password) })
          await runs.begin(tx, operations.create, { resource_id: id, bp_id: null, actor, input: {} })
        }),
      )
      return show(id)
    },

    /** @throws Refusal 404, 90010, 90011, 97410 */
    async update(actor: Actor, id: string, body: BodyOf<Services['update']>): Promise<DatabaseService> {
      const before = await row(id)
      await refusing(taken(before.node_id, before.port), () =>
        db.transaction().execute(async (tx) => {
          const now = await locked(tx, id)
          refuseUnless(serviceCan.update, now)
          const { name = now.name, description = now.description, memory_mb = now.memory_mb, connections_most = now.connections_most } = body
          await store.updateService(tx, id, { name, description })
          if (memory_mb === now.memory_mb && connections_most === now.connections_most) return
          await kept.change(tx, id, wantedService({ ...now, memory_mb, connections_most }, passwordOf(now)))
          await store.updateService(tx, id, { status: 'changing', error: null })
          await runs.begin(tx, operations.update, { resource_id: id, bp_id: null, actor, input: { memory_mb, connections_most } })
        }),
      )
      return show(id)
    },

    /** @throws Refusal 404, 90010, 90011 */
    start: (actor: Actor, id: string) => begin(actor, id, 'start'),
    stop: (actor: Actor, id: string) => begin(actor, id, 'stop'),
    restart: (actor: Actor, id: string) => begin(actor, id, 'restart'),

    /** @throws Refusal 404, 90010, 90011, 97413 */
    async password(actor: Actor, id: string, { password = freshPassword() }: BodyOf<Services['password']>): Promise<DatabaseService> {
      await known(id)
      await db.transaction().execute(async (tx) => {
        refuseUnless(serviceCan.password, await locked(tx, id))
        await store.updateService(tx, id, { status: 'changing', error: null, secret_next: secrets.seal(password, placeOfSecret('secret_next', id)) })
        await runs.begin(tx, operations.password, { resource_id: id, bp_id: null, actor, input: { password } })
      })
      return show(id)
    },

    /** @throws Refusal 404, 91125 */
    async credential(actor: Actor, id: string, password: string | undefined): Promise<ResponseOf<Services['credential']>> {
      await row(id)
      await prove(actor, password)
      const service = await known(id)
      return { username: serviceUsers[service.type], password: passwordOf(service) }
    },

    async figures(id: string): Promise<ResponseOf<Services['figures']>> {
      const service = await row(id)
      const tunnel = connected(service.node_id)
      if (tunnel === null || service.status !== 'active') return { figures: null }
      try {
        const signal = AbortSignal.timeout(figuresMs)
        return { figures: await ask(tunnel, service, (session) => session.figures(), signal) }
      } catch (error) {
        if (!isEngineError(error)) throw error
        return { figures: null }
      }
    },

    /** @throws Refusal 404, 90010, 90011 */
    async remove(actor: Actor, id: string): Promise<DatabaseService> {
      await db.transaction().execute(async (tx) => {
        refuseUnless(serviceCan.delete, await locked(tx, id))
        await kept.leave(tx, id)
        await store.updateService(tx, id, { status: 'removing', error: null })
        await runs.begin(tx, operations.remove, { resource_id: id, bp_id: null, actor, input: {} })
      })
      return show(id)
    },

    databases: (id: string): Promise<ResponseOf<(typeof serviceDatabases)['list']>> => whole(manage(id, (session) => session.databases())),
    /** @throws Refusal 404, 90010, 97413–97416 */
    async createDatabase(id: string, name: string): Promise<ServiceDatabase> {
      const taken = () => new Refusal('serviceDatabaseTaken', { field: 'name', values: { name } })
      await naming(() => manage(id, (session) => session.createDatabase(name)), taken, gone)
      return { name, size_bytes: null }
    },
    dropDatabase: (id: string, name: string): Promise<void> => naming(() => manage(id, (session) => session.dropDatabase(name)), gone, gone),
    accounts: (id: string): Promise<ResponseOf<(typeof serviceAccounts)['list']>> => whole(manage(id, (session) => session.accounts())),
    /** @throws Refusal 404, 90010, 97413–97415, 97417, 97418 */
    async createAccount(id: string, account: BodyOf<(typeof serviceAccounts)['create']>): Promise<ServiceAccount> {
      await naming(
        () => manage(id, (session) => session.createAccount(account)),
        () => new Refusal('serviceAccountTaken', { field: 'name', values: { name: account.name } }),
        (name) => new Refusal('serviceDatabaseUnknown', { field: 'databases', values: { name } }),
      )
      return { name: account.name, databases: account.databases }
    },
    dropAccount: (id: string, name: string): Promise<void> => naming(() => manage(id, (session) => session.dropAccount(name)), gone, gone),
  }
}
