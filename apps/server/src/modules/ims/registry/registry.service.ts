import { randomBytes } from 'node:crypto'
import { registryCan, type registries, type Registry, type RegistryBasic, type RegistryStatus, type RegistryTls } from '@zhisuan/contract/ims/registry'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Kept } from '../../../platform/kept/kept.ts'
import type { Platform } from '../../../platform/platform.ts'
import { eventsPath, notifySecretHash } from '../repository/events.ts'
import { tokenIssuer, type Tokens } from '../token/tokens.ts'
import { readGiven, renewBeforeMs, type RegistryAuthority, type ServerCertificate } from './authority.ts'
import { wantedRegistry, withCertificate } from './program.ts'
import { addressOf, connectionOf, type KeptConnection } from './registry.connection.ts'
import type { RegistryEndpoints } from './registry.endpoint.ts'
import type { RegistryOperations } from './registry.operations.ts'
import * as store from './registry.store.ts'

type Calls = typeof registries

const collectable: readonly RegistryStatus[] = registryCan.collect
const changeable: readonly RegistryStatus[] = registryCan.update
const collectEveryMs = 20 * 3_600_000

export const tokenPath = '/api/ims/v1/docker/token'

export type RegistryService = ReturnType<typeof createRegistryService>

/** @param parts.reconcile compares the index of one with what is there, now */
export function createRegistryService(
  platform: Pick<Platform, 'db' | 'config' | 'log' | 'now' | 'operations'>,
  parts: {
    endpoints: RegistryEndpoints
    tokens: Tokens
    reconcile: (id: string) => Promise<void>
    kept: Kept
    authority: RegistryAuthority
    operations: RegistryOperations
  },
) {
  const { db, config, now } = platform
  const { endpoints, tokens, kept, authority, operations } = parts

  const basic = (row: store.ShownRegistry): RegistryBasic => ({
    id: row.id,
    name: row.name,
    description: row.description,
    engine: row.engine,
    status: row.status,
    health: row.health,
    address: row.address,
    insecure: row.url.startsWith('http:'),
    certificate_authority: row.certificate_authority,
    region: row.region_id === null ? null : { id: row.region_id, name: row.region_name ?? '' },
  })
  const base = config.PUBLIC_URL ?? `http://localhost:${config.PORT}`
  const shape = (row: store.ShownRegistry, certificate: string | null, secret: string | null = null): Registry => ({
    ...basic(row),
    origin: row.origin,
    url: row.url,
    node: row.node_id === null ? null : { id: row.node_id, name: row.node_name ?? '' },
    username: row.username,
    version: row.version,
    health_message: row.health_message,
    checked_at: isoOrNull(row.checked_at),
    reconciled_at: isoOrNull(row.reconciled_at),
    reconcile_error: row.reconcile_error,
    project_count: row.project_count,
    repository_count: row.repository_count,
    tag_count: row.tag_count,
    used_bytes: row.used_bytes,
    collectable_bytes: row.collectable_bytes,
    collected_at: isoOrNull(row.collected_at),
    collecting_until: row.collecting_until !== null && row.collecting_until > now() ? iso(row.collecting_until) : null,
    tls: row.tls_kind === null || row.tls_ends_at === null ? null : { kind: row.tls_kind, ends_at: iso(row.tls_ends_at) },
    // One that the platform runs was told all of it.
    token_service:
      row.origin === 'registered' && row.ours && certificate !== null
        ? { realm: new URL(tokenPath, base).href, service: row.id, issuer: tokenIssuer, certificate }
        : null,
    notifications: row.notify_hash === null || row.origin === 'kept' ? null : { url: new URL(eventsPath(row.id), base).href, secret },
    error: row.error,
    operation_id: row.operation_id,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const show = async (id: string, secret?: string): Promise<Registry> => shape(found(await store.showRegistry(db, id)), await tokens.certificate(), secret)
  const taken = {
    registries_name: ['registryNameTaken', 'name'] as const,
    registries_address: async (cause: unknown) => new Refusal('registryAddressTaken', { field: 'connection.url', values: { name: '' }, cause }),
  }
  const refuseTakenAddress = async (address: string, id: string, field = 'connection.url'): Promise<void> => {
    const holder = (await store.allRegistries(db)).find((row) => row.address === address && row.id !== id)
    if (holder !== undefined) throw new Refusal('registryAddressTaken', { field, values: { name: holder.name } })
  }

  const certificateFor = async (tls: RegistryTls, host: string, field: string): Promise<ServerCertificate> =>
    tls.kind === 'ours' ? authority.issue(host) : readGiven(tls, host, now(), field)

  /** One that a node of the platform runs from now on. */
  const make = async (actor: Actor, body: BodyOf<Calls['create']>, place: NonNullable<BodyOf<Calls['create']>['place']>): Promise<Registry> => {
    const id = uuidv7()
    const node = await db.selectFrom('edges').select(['bp_id', 'binding']).where('id', '=', place.node_id).executeTakeFirst()
    if (node === undefined || node.binding !== 'bound') throw new Refusal('edgeUnknown', { field: 'place.node_id' })
    // Whoever has a node reads all that lies on it.
    if (node.bp_id !== null) throw new Refusal('registryNodeForeign', { field: 'place.node_id' })
    const certificate = await certificateFor(place.tls, place.host, 'place.tls')
    const connection: KeptConnection = {
      engine: 'distribution',
      url: `https://${place.host}:${place.port}`,
      certificate_authority: certificate.authority,
      account: null,
      ours: id,
    }
    await refuseTakenAddress(addressOf(connection), id, 'place.host')
    const secret = randomBytes(32).toString('base64url')
    const wanted = wantedRegistry({
      host: place.host,
      port: place.port,
      certificate,
      tokens: { realm: new URL(tokenPath, base).href, service: id, issuer: tokenIssuer, certificate: await tokens.certificate() },
      notifications: { url: new URL(eventsPath(id), base).href, secret },
    })
    await refusing(taken, () =>
      db.transaction().execute(async (tx) => {
        await store.insertRegistry(tx, {
          id,
          name: body.name,
          description: body.description,
          engine: connection.engine,
          origin: 'kept',
          status: 'installing',
          region_id: body.region_id,
          node_id: place.node_id,
          url: connection.url,
          address: addressOf(connection),
          certificate_authority: connection.certificate_authority,
          username: null,
          ours: true,
          connection: endpoints.seal(id, connection),
          notify_hash: notifySecretHash(secret),
          version: null,
          reconciled_at: null,
          reconcile_error: null,
          collected_at: null,
          push_until: null,
          collecting_until: null,
          tls_kind: place.tls.kind,
          tls_ends_at: certificate.endsAt,
          error: null,
          health: 'unknown',
          health_message: null,
          checked_at: null,
          ...authoredBy(actor),
        })
        await kept.want(tx, { id, node_id: place.node_id, owner: { kind: 'ims.registry', id }, wanted })
        await platform.operations.begin(tx, operations.create, { resource_id: id, bp_id: null, actor, input: {} })
        await endpoints.tell(tx, id)
      }),
    )
    return show(id)
  }

  /** Has the program run with another certificate. */
  const certify = async (tx: Tx, row: store.RegistryRow, certificate: ServerCertificate, kind: RegistryTls['kind'], actor: Actor | null): Promise<void> => {
    const { status } = row
    if (status !== 'active' && status !== 'deactive') throw new Refusal('stateForbids')
    await kept.change(tx, row.id, withCertificate(await kept.wanted(tx, row.id), certificate))
    await store.updateRegistry(tx, row.id, { status: 'changing' })
    await platform.operations.begin(tx, operations.update, {
      resource_id: row.id,
      bp_id: null,
      actor,
      input: {
        connection: { ...endpoints.connectionOf(row), certificate_authority: certificate.authority },
        tls_kind: kind,
        ends_at: certificate.endsAt.toISOString(),
        status,
      },
    })
  }
  const hostOf = ({ url }: Pick<store.RegistryRow, 'url'>): string => new URL(url).hostname
  const collect = async (tx: Tx, id: string, actor: Actor | null): Promise<void> => {
    await platform.operations.begin(tx, operations.collect, { resource_id: id, bp_id: null, actor, input: { program_id: uuidv7() } })
  }
  /** Nobody has a token to push by. */
  const isQuiet = ({ push_until }: store.RegistryRow): boolean => push_until === null || push_until <= now()

  return {
    list: async (query: QueryOf<Calls['list']>) => {
      const certificate = await tokens.certificate()
      return shapedPage(store.listRegistries(db, query), (row) => shape(row, certificate))
    },

    async regions(): Promise<ResponseOf<Calls['regions']>> {
      const groups = Map.groupBy(await store.usableRegistries(db), ({ region_id }) => region_id)
      const items = [...groups].map(([id, rows]) => ({ region: id === null ? null : { id, name: rows[0]?.region_name ?? '' }, registries: rows.map(basic) }))
      const nameOf = ({ region }: (typeof items)[number]): string => region?.name ?? ''
      return { items: items.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), 'zh')) }
    },

    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      if (isPlatformKind(actor.kind)) return show(id)
      const row = found(await store.showRegistry(db, id))
      // What is not in use is none of theirs.
      if (row.status !== 'active') throw new Refusal('notFound')
      return basic(row)
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<Registry> {
      if (body.place !== undefined) return make(actor, body, body.place)
      if (body.connection === undefined) throw new Refusal('requestInvalid', { field: 'connection' })
      const id = uuidv7()
      const connection = connectionOf(body.connection, id)
      await refuseTakenAddress(addressOf(connection), id)
      const look = await endpoints.tryToKeep(connection, body.name)
      const secret = randomBytes(32).toString('base64url')
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await store.insertRegistry(tx, {
            id,
            name: body.name,
            description: body.description,
            engine: connection.engine,
            origin: 'registered',
            status: 'active',
            region_id: body.region_id,
            node_id: null,
            url: connection.url,
            address: addressOf(connection),
            certificate_authority: connection.certificate_authority,
            username: connection.account?.username ?? null,
            ours: connection.ours !== null,
            connection: endpoints.seal(id, connection),
            notify_hash: notifySecretHash(secret),
            version: null,
            reconciled_at: null,
            reconcile_error: null,
            collected_at: null,
            push_until: null,
            collecting_until: null,
            tls_kind: null,
            tls_ends_at: null,
            error: null,
            ...endpoints.healthOf(look),
            ...authoredBy(actor),
          })
          await endpoints.tell(tx, id)
        }),
      )
      return show(id, secret)
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Registry> {
      const before = found(await store.getRegistry(db, id))
      refuseUnless(registryCan.update, before)
      if (before.origin === 'kept' && body.connection !== undefined) throw new Refusal('registryIsKept', { field: 'connection' })
      if (before.origin === 'registered' && body.tls !== undefined) throw new Refusal('registryNotKept', { field: 'tls' })
      const certificate = body.tls === undefined ? undefined : await certificateFor(body.tls, hostOf(before), 'tls')
      const connection = body.connection === undefined ? undefined : connectionOf(body.connection, id, endpoints.connectionOf(before))
      if (connection !== undefined) await refuseTakenAddress(addressOf(connection), id)
      const look = connection === undefined ? undefined : await endpoints.tryToKeep(connection, body.name)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          const row = found(await store.lockRegistry(tx, id))
          refuseUnless(registryCan.update, row)
          if (certificate !== undefined && body.tls !== undefined) await certify(tx, row, certificate, body.tls.kind, actor)
          await store.updateRegistry(tx, id, {
            name: body.name,
            description: body.description,
            region_id: body.region_id,
            ...(connection !== undefined && {
              engine: connection.engine,
              url: connection.url,
              address: addressOf(connection),
              certificate_authority: connection.certificate_authority,
              username: connection.account?.username ?? null,
              ours: connection.ours !== null,
              connection: endpoints.seal(id, connection),
            }),
            ...(look !== undefined && endpoints.healthOf(look)),
          })
          await endpoints.tell(tx, id)
        }),
      )
      return show(id)
    },

    /** What the program on its node has written last. */
    async log(id: string, lines: number): Promise<ResponseOf<Calls['log']>> {
      const { origin } = found(await store.getRegistry(db, id))
      if (origin !== 'kept') throw new Refusal('registryNotKept')
      return { text: await kept.lastLines(id, lines) }
    },

    /** Another account, or another password of the same; tried before it is kept. */
    async password(id: string, body: BodyOf<Calls['password']>): Promise<Registry> {
      const before = found(await store.getRegistry(db, id))
      refuseUnless(registryCan.update, before)
      const kept = endpoints.connectionOf(before)
      if (kept.account === null) throw new Refusal('registryPasswordNone')
      const connection = { ...kept, account: { username: body.username ?? kept.account.username, password: body.password } }
      const look = await endpoints.tryToKeep(connection, before.name)
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockRegistry(tx, id))
        if (row.connection !== before.connection) throw new Refusal('changedMeanwhile')
        await store.updateRegistry(tx, id, {
          username: connection.account.username,
          connection: endpoints.seal(id, connection),
          ...endpoints.healthOf(look),
        })
        await endpoints.tell(tx, id)
      })
      return show(id)
    },

    async act(id: string, action: QueryOf<Calls['action']>['action']): Promise<Registry> {
      if (action === 'reconcile') {
        refuseUnless(registryCan.reconcile, found(await store.getRegistry(db, id)))
        // Of others, too, who ask at the same time: what it finds is nobody's change.
        await unrecorded(() => parts.reconcile(id))
        return show(id)
      }
      await db.transaction().execute(async (tx) => {
        refuseUnless(action === 'active' ? registryCan.activate : registryCan.deactivate, found(await store.lockRegistry(tx, id)))
        await store.updateRegistry(tx, id, { status: action })
        await endpoints.tell(tx, id)
      })
      return show(id)
    },

    /** Frees space now. @throws Refusal where somebody may be pushing */
    async collect(actor: Actor, id: string): Promise<Registry> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockRegistry(tx, id))
        if (row.origin !== 'kept') throw new Refusal('registryNotKept')
        refuseUnless(registryCan.collect, row)
        if (!isQuiet(row)) throw await operations.notQuiet(id)
        await collect(tx, id, actor)
      })
      return show(id)
    },

    /** The same of all that have something to free, once a day, at a quiet moment. */
    async collectAll(): Promise<void> {
      for (const { id, origin, status, collectable_bytes, collected_at, push_until } of await store.allRegistries(db)) {
        const isDue = collected_at === null || collected_at.getTime() < now().getTime() - collectEveryMs
        // Who has a token to push by may leave parts there that no manifest names: nobody tells of them.
        const pushedTo = push_until !== null && (collected_at === null || push_until > collected_at)
        if (origin !== 'kept' || !collectable.includes(status) || (collectable_bytes === 0 && !pushedTo) || !isDue) continue
        await db
          .transaction()
          .execute(async (tx) => {
            const row = found(await store.lockRegistry(tx, id))
            if (isQuiet(row)) await collect(tx, id, null)
          })
          .catch((error: unknown) => platform.log.info({ err: error, registry: id }, 'space of a registry is freed later'))
      }
    },

    /** Certificates of our authority that end soon. */
    async renewCertificates(): Promise<void> {
      for (const { id, status, tls_kind, tls_ends_at, url } of await store.allRegistries(db)) {
        if (tls_kind !== 'ours' || !changeable.includes(status) || tls_ends_at === null || tls_ends_at.getTime() > now().getTime() + renewBeforeMs) continue
        const certificate = await authority.issue(hostOf({ url }))
        await db
          .transaction()
          .execute(async (tx) => certify(tx, found(await store.lockRegistry(tx, id)), certificate, 'ours', null))
          .catch((error: unknown) => platform.log.warn({ err: error, registry: id }, 'a certificate that ends soon could not be made anew'))
      }
    },

    async delete(actor: Actor, id: string, force: boolean): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockRegistry(tx, id))
        refuseUnless(registryCan.delete, row)
        const { projects, tags } = await store.countProjects(tx, id)
        if (projects > 0 && !force) throw new Refusal('registryNotEmpty', { values: { projects, tags } })
        const isAway =
          row.node_id === null || (await tx.selectFrom('edges').select('status').where('id', '=', row.node_id).executeTakeFirst())?.status !== 'online'
        if (row.origin === 'kept' && (!force || !isAway)) {
          await kept.leave(tx, id)
          await store.updateRegistry(tx, id, { status: 'removing', error: null })
          await platform.operations.begin(tx, operations.remove, { resource_id: id, bp_id: null, actor, input: {} })
        } else {
          // Its node is away: should it come back, the program goes then.
          if (row.origin === 'kept') await kept.abandon(tx, id)
          await store.forgetRegistry(tx, id)
        }
        await endpoints.tell(tx, id)
      })
    },
  }
}
