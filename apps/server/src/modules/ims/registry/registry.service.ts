import { randomBytes } from 'node:crypto'
import { registryCan, type registries, type Registry, type RegistryBasic } from '@zhisuan/contract/ims/registry'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { eventsPath, notifySecretHash } from '../repository/events.ts'
import { tokenIssuer, type Tokens } from '../token/tokens.ts'
import { addressOf, connectionOf } from './registry.connection.ts'
import type { RegistryEndpoints } from './registry.endpoint.ts'
import * as store from './registry.store.ts'

type Calls = typeof registries

export const tokenPath = '/api/ims/v1/docker/token'

export type RegistryService = ReturnType<typeof createRegistryService>

/** @param parts.reconcile compares the index of one with what is there, now */
export function createRegistryService(
  platform: Pick<Platform, 'db' | 'config'>,
  parts: { endpoints: RegistryEndpoints; tokens: Tokens; reconcile: (id: string) => Promise<void> },
) {
  const { db, config } = platform
  const { endpoints, tokens } = parts

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
    token_service: row.ours && certificate !== null ? { realm: new URL(tokenPath, base).href, service: row.id, issuer: tokenIssuer, certificate } : null,
    notifications: row.notify_hash === null ? null : { url: new URL(eventsPath(row.id), base).href, secret },
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
  const refuseTakenAddress = async (address: string, id: string): Promise<void> => {
    const holder = (await store.allRegistries(db)).find((row) => row.address === address && row.id !== id)
    if (holder !== undefined) throw new Refusal('registryAddressTaken', { field: 'connection.url', values: { name: holder.name } })
  }

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
            error: null,
            ...endpoints.healthOf(look),
            ...authoredBy(actor),
          })
          await endpoints.tell(tx, id)
        }),
      )
      return show(id, secret)
    },

    async update(id: string, body: BodyOf<Calls['update']>): Promise<Registry> {
      const before = found(await store.getRegistry(db, id))
      refuseUnless(registryCan.update, before)
      const connection = body.connection === undefined ? undefined : connectionOf(body.connection, id, endpoints.connectionOf(before))
      if (connection !== undefined) await refuseTakenAddress(addressOf(connection), id)
      const look = connection === undefined ? undefined : await endpoints.tryToKeep(connection, body.name)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          refuseUnless(registryCan.update, found(await store.lockRegistry(tx, id)))
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

    async delete(id: string, force: boolean): Promise<void> {
      await db.transaction().execute(async (tx) => {
        refuseUnless(registryCan.delete, found(await store.lockRegistry(tx, id)))
        const { projects, tags } = await store.countProjects(tx, id)
        if (projects > 0 && !force) throw new Refusal('registryNotEmpty', { values: { projects, tags } })
        await tx.deleteFrom('registry_projects').where('registry_id', '=', id).execute()
        await store.deleteRegistry(tx, id)
        await endpoints.tell(tx, id)
      })
    },
  }
}
