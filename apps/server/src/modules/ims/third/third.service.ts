import type { thirdRegistries, ThirdRegistry } from '@zhisuan/contract/ims/preheat'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { isEngineError } from '@zhisuan/engines/errors'
import { createRegistry } from '@zhisuan/engines/registry/client'
import { RegistrySlow } from '@zhisuan/engines/registry/errors'
import type { Registry as Client } from '@zhisuan/engines/registry/types'
import { z } from 'zod'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { workInTurn } from '../../../platform/bytes/inTurn.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { fetchRefusal } from '../../../platform/outbound/follow.ts'
import type { OutboundGuard } from '../../../platform/outbound/guard.ts'
import type { Platform } from '../../../platform/platform.ts'
import { registryBehind } from '../registry/place.ts'
import { explainRegistry, tellRegistry } from '../registry/registry.endpoint.ts'
import * as store from './third.store.ts'

type Calls = typeof thirdRegistries

const connectionShape = z.object({ url: z.string(), account: z.object({ username: z.string(), password: z.string() }).nullable() })
type Connection = z.output<typeof connectionShape>

const tryMs = 15_000
const browseMs = 8_000
const listedMost = 1_000
/** So many an organisation may have: each is looked at again and again. */
const thirdMost = 20
/** So many are looked at at once: one that answers late does not keep all others waiting. */
const looksAtOnce = 8

type Seen = Required<Parameters<typeof store.noteThird>[2]>

export type ThirdService = ReturnType<typeof createThirdRegistries>

/** Registries of third parties: of an organisation, or of the platform for all. */
export function createThirdRegistries({ db, secrets, now, log }: Pick<Platform, 'db' | 'secrets' | 'now' | 'log'>, { guard }: { guard: OutboundGuard }) {
  const placeOf = (id: string): string => `third_registries.connection:${id}`
  const seal = (id: string, connection: Connection): string => secrets.seal(JSON.stringify(connection), placeOf(id))
  const connectionOf = ({ id, connection }: Pick<store.ThirdRow, 'id' | 'connection'>): Connection =>
    connectionShape.parse(JSON.parse(secrets.open(connection, placeOf(id))))
  const open = ({ url, account }: Connection): Client =>
    createRegistry({
      url,
      credentials: account === null ? { kind: 'none' } : { kind: 'account', ...account },
      lookup: guard.lookup,
      mayAsk: guard.checkLiteral,
      timeoutMs: tryMs,
    })

  /** Whether it tells what it has; it may take as long as it likes to tell. */
  const isBrowsable = async (client: Client): Promise<boolean> => {
    try {
      for await (const _ of client.repositories({ signal: AbortSignal.timeout(browseMs) })) return true
      return true
    } catch {
      return false
    }
  }
  /** @throws what keeps us out */
  const look = async (connection: Connection): Promise<Seen> => {
    const client = open(connection)
    try {
      await client.check({ signal: AbortSignal.timeout(tryMs) })
      return { health: 'reachable', health_message: null, slowed_until: null, checked_at: now(), browsable: await isBrowsable(client) }
    } finally {
      await client.close()
    }
  }
  const slowed = (error: RegistrySlow): Date => new Date(now().getTime() + error.retryAfterMs)
  const tryOne = async (connection: Connection): Promise<Seen> => {
    guard.checkLiteral(new URL(connection.url))
    try {
      return await look(connection)
    } catch (error) {
      // It is there, and knows us: it only wants to be asked less.
      if (error instanceof RegistrySlow) return { health: 'slow', health_message: null, slowed_until: slowed(error), checked_at: now(), browsable: false }
      throw fetchRefusal(error) ?? (await explainRegistry(error, { url: 'url', account: 'account' }))
    }
  }

  const shape = (row: store.ShownThird): ThirdRegistry => ({
    id: row.id,
    name: row.name,
    description: row.description,
    address: row.address,
    url: row.url,
    username: row.username,
    health: row.health,
    health_message: row.health_message,
    slowed_until: row.slowed_until !== null && row.slowed_until > now() ? iso(row.slowed_until) : null,
    browsable: row.browsable,
    checked_at: isoOrNull(row.checked_at),
    bp_id: row.bp_id,
    bp_name: row.bp_name,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  /** Who may use it sees no name that is the platform's. */
  const shownTo = (actor: Actor, row: store.ShownThird): ThirdRegistry =>
    row.bp_id === null && !isPlatformKind(actor.kind) ? { ...shape(row), username: null, health_message: null } : shape(row)
  const read = async (actor: Actor, id: string): Promise<store.ShownThird> => found(await store.getThird(db, scopeOf(actor), id))
  const own = async (actor: Actor, id: string): Promise<store.ShownThird> => {
    const row = await read(actor, id)
    if (row.bp_id === null && !isPlatformKind(actor.kind)) throw new Refusal('registryThirdShared')
    return row
  }
  /** What is pulled from a registry of the platform's is pulled by its name, and by what policies say of it. @throws Refusal at the URL */
  const refuseOwn = async (url: string): Promise<void> => {
    if ((await registryBehind(db, url)) !== undefined) throw new Refusal('registryThirdOwn', { field: 'url' })
  }
  const taken = { third_registries_name: ['registryThirdNameTaken', 'name'] } as const
  const addressOf = (url: string): string => {
    const { host } = new URL(url)
    // What Docker Hub is called in names of images.
    return host === 'registry-1.docker.io' ? 'docker.io' : host
  }

  /** Asks one that may have asked us to come later. */
  const asking = async <T>(row: store.ShownThird, ask: (client: Client) => Promise<T>): Promise<T> => {
    if (row.slowed_until !== null && row.slowed_until > now()) throw tooFast(row.slowed_until)
    const client = open(connectionOf(row))
    try {
      return await ask(client)
    } catch (error) {
      if (error instanceof RegistrySlow) {
        const slowed_until = slowed(error)
        await store.noteThird(db, row, { health: 'slow', slowed_until })
        throw tooFast(slowed_until, error)
      }
      if (isEngineError(error, 'unsupported', 'not_found')) throw new Refusal('registryNotBrowsable', { cause: error })
      throw fetchRefusal(error) ?? (await explainRegistry(error, { url: 'url', account: 'account' }))
    } finally {
      await client.close()
    }
  }
  const tooFast = (until: Date, cause?: unknown): Refusal =>
    new Refusal('registrySlow', {
      values: { seconds: Math.max(1, Math.ceil((until.getTime() - now().getTime()) / 1_000)) },
      ...(cause !== undefined && { cause }),
    })
  const listed = (all: readonly string[], keyword: string | undefined, more: boolean) => {
    const wanted = all.filter((one) => one.includes((keyword ?? '').toLowerCase())).toSorted()
    return { items: wanted.slice(0, listedMost), more: more || wanted.length > listedMost }
  }

  return {
    read,
    refuseOwn,
    connectionOf,
    note: store.noteThird,

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listThird(db, scopeOf(actor), query), (row) => shownTo(actor, row)),
    get: async (actor: Actor, id: string): Promise<ThirdRegistry> => shownTo(actor, await read(actor, id)),

    async create(actor: Actor, { name, description, url, account }: BodyOf<Calls['create']>): Promise<ThirdRegistry> {
      refuseOwnerless(scopeOf(actor))
      const id = uuidv7()
      const connection: Connection = { url: url.replace(/\/+$/, ''), account: account ?? null }
      await refuseOwn(connection.url)
      const bp_id = isPlatformKind(actor.kind) ? null : actor.bp_id
      const seen = await tryOne(connection)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          if (bp_id !== null && (await store.countThird(tx, bp_id)) >= thirdMost) throw new Refusal('registryThirdTooMany', { values: { limit: thirdMost } })
          await store.insertThird(tx, {
            id,
            bp_id,
            name,
            description,
            address: addressOf(connection.url),
            url: connection.url,
            username: account?.username ?? null,
            connection: seal(id, connection),
            ...seen,
            ...authoredBy(actor),
          })
        }),
      )
      return shape(await read(actor, id))
    },

    async update(actor: Actor, id: string, { name, description, url, account }: BodyOf<Calls['update']>): Promise<ThirdRegistry> {
      const row = await own(actor, id)
      const before = connectionOf(row)
      const plain = url.replace(/\/+$/, '')
      await refuseOwn(plain)
      // A password goes nowhere but where it was given for.
      const kept = before.url === plain && before.account?.username === account?.username ? before.account?.password : undefined
      const connection: Connection = {
        url: plain,
        account: account === undefined ? null : { username: account.username, password: account.password ?? kept ?? '' },
      }
      const seen = await tryOne(connection)
      await refusing(taken, () =>
        store.updateThird(db, id, {
          name,
          description,
          address: addressOf(plain),
          url: plain,
          username: account?.username ?? null,
          connection: seal(id, connection),
          ...seen,
        }),
      )
      return shape(await read(actor, id))
    },

    async delete(actor: Actor, id: string): Promise<void> {
      await own(actor, id)
      await store.deleteThird(db, id)
    },

    async repositories(actor: Actor, id: string, { keyword }: QueryOf<Calls['repositories']>): Promise<ResponseOf<Calls['repositories']>> {
      const row = await read(actor, id)
      if (!row.browsable) throw new Refusal('registryNotBrowsable')
      return asking(row, async (client) => {
        const all: string[] = []
        for await (const page of client.repositories({ signal: AbortSignal.timeout(tryMs) })) {
          for (const one of page) all.push(one)
          if (all.length > listedMost * 10) return listed(all, keyword, true)
        }
        return listed(all, keyword, false)
      })
    },

    async tags(actor: Actor, id: string, { repository, keyword }: QueryOf<Calls['tags']>): Promise<ResponseOf<Calls['tags']>> {
      return asking(await read(actor, id), async (client) => {
        const { items, more } = await client.tags(repository, { most: listedMost * 10, signal: AbortSignal.timeout(tryMs) })
        return listed(items, keyword, more)
      })
    },

    /** How they are, some at a time. */
    async lookAtAll(): Promise<void> {
      const inTurn = workInTurn(looksAtOnce)
      const lookAt = async (row: store.ThirdRow): Promise<void> => {
        if (row.slowed_until !== null && row.slowed_until > now()) return
        try {
          const { browsable: _, ...seen } = await look(connectionOf(row))
          await store.noteThird(db, row, seen)
        } catch (error) {
          log.info({ err: error, registry: row.id }, 'looking at a registry of a third party')
          const seen =
            error instanceof RegistrySlow
              ? ({ health: 'slow', slowed_until: slowed(error) } as const)
              : ({ health: isEngineError(error, 'unauthorized') ? 'unauthorised' : 'unreachable' } as const)
          await store.noteThird(db, row, { ...seen, health_message: error instanceof RegistrySlow ? null : await tellRegistry(error), checked_at: now() })
        }
      }
      const all = await store.allThird(db)
      await Promise.all(all.map((row) => inTurn(() => lookAt(row))))
    },
  }
}
