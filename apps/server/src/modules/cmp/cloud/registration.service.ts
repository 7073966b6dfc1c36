import { cloudCan, connectionsOf, isOpenStack, type Cloud, type CloudConnection, type CloudProduct, type clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyOf } from '@zhisuan/contract/define'
import type { Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { contentsOfClouds, countInstances } from './cloud.contents.ts'
import { seenFirst, type CloudEndpoints } from './cloud.endpoint.ts'
import { addressOf } from './cloud.engines.ts'
import { withSecrets } from './cloud.openstack.ts'
import { licensed, nothing } from './cloud.shape.ts'
import * as store from './cloud.store.ts'
import { tellHealth } from './cloud.told.ts'
import type { CloudRow } from './cloud.store.ts'
import { showCloud } from './cloud.views.ts'

type Calls = typeof clouds

/** What the licence module does for us. */
export interface LicenceLimits {
  /** @throws Refusal 92001 */
  assertValid(): Promise<void> | void
  /** Under a lock until the transaction ends. @throws Refusal 8805, 8809 */
  assertFits(tx: Tx, added: { nodes: number; cores: number }): Promise<void>
}

export type CloudRegistrations = ReturnType<typeof createCloudRegistrations>

/** Clouds as administrators register, change and remove them, as far as the licence goes. */
export function createCloudRegistrations(
  platform: Pick<Platform, 'db' | 'now' | 'modules'>,
  { endpoints, licence, tell }: { endpoints: CloudEndpoints; licence: LicenceLimits; tell: Tell },
) {
  const { db } = platform

  const register = async (body: BodyOf<Calls['create']>): Promise<CloudRow> => {
    const look = await endpoints.tryToKeep(body.connection, body.name)
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
    register,

    async create(body: BodyOf<Calls['create']>): Promise<Cloud> {
      requireConnection(body.product, body.connection.type)
      await licence.assertValid()
      return showCloud(platform, await register(body))
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
          const updated = await store.updateCloud(tx, id, {
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
          const after = found(updated)
          await tellHealth(tx, tell, before, after)
          return after
        })
        return showCloud(platform, row)
      })
    },

    async remove(id: string, force: boolean): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockCloud(tx, id))
        const count = (await countInstances(platform, tx, [row]))(row)
        if (count > 0 && !force) throw new Refusal('cloudNotEmpty', { values: { count } })
        if (!force) for (const one of contentsOfClouds(platform)) await one.refuseRemoval(tx, id)
        for (const one of contentsOfClouds(platform)) await one.forget(tx, id)
        await store.updateCloud(tx, id, { deleted_at: platform.now(), connection: '' })
        await endpoints.tell(tx, id)
      })
    },

    async act(id: string, action: BodyOf<Calls['action']>['action']): Promise<Cloud> {
      if (action === 'refresh') return showCloud(platform, found(await endpoints.refresh(found(await store.getCloud(db, id)))))
      const row = await db.transaction().execute(async (tx) => {
        const before = found(await store.lockCloud(tx, id))
        const allowed = { active: cloudCan.activate, maintenance: cloudCan.maintain, offline: cloudCan.takeOffline }[action]
        refuseUnless(allowed, before)
        const after = found(await store.updateCloud(tx, id, { status: action }))
        await endpoints.tell(tx, id)
        return after
      })
      return showCloud(platform, row)
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
  }
}
