import { mayAccess } from '@zhisuan/contract/roles'
import type { RegistryAuth } from '@zhisuan/engines/docker/types'
import { isEngineError } from '@zhisuan/engines/errors'
import { platformScope } from '../../../platform/auth/actor.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import type { PersonOf } from '../../../platform/auth/later.ts'
import { Refusal } from '../../../platform/errors.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { isAgentError } from '../../../platform/tunnel/tunnel.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import { accountFor } from '../imageAuth.ts'
import type { RefuseAlso } from '../imageRights.ts'
import type { PreheatLayer } from '../ims.migrations.ts'
import { platformSubject } from '../registry/registry.connection.ts'
import type { RegistryEndpoints } from '../registry/registry.endpoint.ts'
import { getRegistry } from '../registry/registry.store.ts'
import type { ThirdService } from '../third/third.service.ts'
import type { Tokens } from '../token/tokens.ts'
import { asksOfPreheat, orderCall } from './preheat.rights.ts'
import * as store from './preheat.store.ts'

const lookEveryMs = 2_000
/** A server that is at one says so more often; of one that was killed another takes it over then. */
const claimMs = 30_000
const tellEveryMs = 1_000
/** A pull has one token, and cannot ask for another. */
const tokenSeconds = 3_600
const attemptsMost = 5
/** Docker tells no more of it than that. */
const slowMs = 60_000
/** Of what is said only what the image's own name does not say. */
const isSlow = (said: string, image: string): boolean => /toomanyrequests|too many requests|\b429\b|rate limit/i.test(said.replaceAll(image, ''))

/** What Docker says of a registry that goes away, or is only just coming, while it pulls: also that it was asked without TLS, which Docker tries where TLS did not answer. */
const isCut = (said: string): boolean =>
  /\bEOF\b|connection (reset|refused)|broken pipe|server closed|HTTP request to an HTTPS server|server gave HTTP response|TLS handshake|i\/o timeout|stream error|unexpected HTTP status: 5\d\d/i.test(
    said,
  )

export type PreheatRunner = ReturnType<typeof createPreheatRunner>

/** Brings images to nodes, on the server that a node is connected to. */
export function createPreheatRunner(
  { db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>,
  parts: {
    edges: Pick<EdgeReach, 'reach' | 'connected'>
    refusedByNode: RefusedByNode
    endpoints: RegistryEndpoints
    tokens: Tokens
    third: Pick<ThirdService, 'connectionOf' | 'note' | 'refuseOwn'>
    personOf: PersonOf
    refuseAlso: RefuseAlso
  },
) {
  const running = new Map<string, { preheatId: string; abort: AbortController; ended: Promise<void> }>()
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let looking = false
  let again = false

  /** What the pull is let in by: told to the node's Docker for this one pull. */
  const authFor = async (preheat: store.PreheatRow, image: string, node: { readonly bp_id: string | null }): Promise<RegistryAuth | undefined> => {
    const of = { node: node.bp_id, pull: preheat.bp_id }
    if (preheat.registry_id !== null) {
      const row = await getRegistry(db, preheat.registry_id)
      if (row === undefined || row.status !== 'active') throw new Refusal('registryUnknown')
      const { account, ours } = parts.endpoints.connectionOf(row)
      if (account !== null) {
        const told = accountFor(account, { ...of, owner: null })
        // What is for everybody there is pulled without.
        return told === null ? undefined : { ...told, serverAddress: row.address }
      }
      if (ours === null) return undefined
      const name = image.slice(row.address.length + 1, image.lastIndexOf(':'))
      const { token } = await parts.tokens.sign({
        registryId: ours,
        subject: platformSubject,
        scopes: [{ type: 'repository', name, actions: ['pull'] }],
        seconds: tokenSeconds,
      })
      return { username: '', password: '', token }
    }
    const row = await thirdOf(preheat)
    const account = row === undefined ? null : parts.third.connectionOf(row).account
    if (account === null || row === undefined) return undefined
    const told = accountFor(account, { ...of, owner: row.bp_id })
    // It had none when it was ordered.
    if (told === null) throw new Refusal('registryThirdForeign')
    return { ...told, serverAddress: row.address }
  }
  const thirdOf = async ({ third_registry_id: id }: store.PreheatRow) =>
    id === null ? undefined : db.selectFrom('third_registries').selectAll().where('id', '=', id).executeTakeFirst()

  /** Whoever ordered it has to be allowed to order and to pull it still: a node may be at it long after. */
  const judge = async (preheat: store.PreheatRow, { edge_id, image }: store.TargetRow): Promise<void> => {
    const actor = preheat.ordered_by === null ? null : await parts.personOf(preheat.ordered_by)
    if (actor === null || !mayAccess(orderCall(preheat).access, actor)) throw new Refusal('preheatNoPerson')
    await parts.refuseAlso(actor, asksOfPreheat(preheat, [image], [edge_id])).catch((error: unknown) => {
      throw error instanceof Refusal ? new Refusal('preheatNoPerson', { cause: error }) : error
    })
    const third = await thirdOf(preheat)
    if (third !== undefined) await parts.third.refuseOwn(third.url)
  }

  const pull = async (preheat: store.PreheatRow, target: store.TargetRow, signal: AbortSignal): Promise<'done' | 'there'> => {
    const { docker, row } = await parts.edges.reach(platformScope, target.edge_id)
    const auth = await authFor(preheat, target.image, row)
    const layers = new Map<string, PreheatLayer>()
    let isThere = false
    let told = 0
    const tell = async (): Promise<void> => {
      told = Date.now()
      const all = [...layers.values()]
      const total_bytes = all.length > 0 && all.every((one) => one.total_bytes !== null) ? all.reduce((sum, one) => sum + (one.total_bytes ?? 0), 0) : null
      const isOurs = await store.noteProgress(db, target.id, {
        layers: JSON.stringify(all),
        done_bytes: all.reduce((sum, one) => sum + one.done_bytes, 0),
        total_bytes,
        claimed_until: new Date(now().getTime() + claimMs),
      })
      // By whichever server.
      if (!isOurs) running.get(target.id)?.abort.abort()
    }
    const beat = setInterval(() => void tell().catch(() => undefined), claimMs / 3)
    try {
      for await (const { id, status, currentBytes, totalBytes } of docker.images.pull(target.image, { signal, ...(auth !== undefined && { auth }) })) {
        if (/image is up to date/i.test(status)) isThere = true
        if (id === null || status.startsWith('Pulling from ')) continue
        const before = layers.get(id)
        const total = totalBytes ?? before?.total_bytes ?? null
        const done = /^(Download complete|Pull complete|Already exists|Verifying)/.test(status) ? (total ?? 0) : (currentBytes ?? before?.done_bytes ?? 0)
        // Bytes of what is unpacked are of another size.
        layers.set(id, {
          id,
          status,
          done_bytes: status === 'Extracting' ? (before?.done_bytes ?? 0) : done,
          total_bytes: status === 'Extracting' ? (before?.total_bytes ?? null) : total,
        })
        if (Date.now() - told >= tellEveryMs) await tell()
      }
      await tell()
    } finally {
      clearInterval(beat)
    }
    return isThere ? 'there' : 'done'
  }

  const bring = async (preheat: store.PreheatRow, target: store.TargetRow, signal: AbortSignal): Promise<void> => {
    const end = (changes: Parameters<typeof store.endTarget>[2]): Promise<void> => store.endTarget(db, target, changes, now())
    try {
      const third = await thirdOf(preheat)
      if (third !== undefined && third.slowed_until !== null && third.slowed_until > now()) return await end({ state: 'waiting', next_at: third.slowed_until })
      await judge(preheat, target)
      const state = await pull(preheat, target, signal)
      await end({ state, ended_at: now() })
    } catch (error) {
      // Whoever comes after goes on; or it was cancelled, and says so already.
      if (stopping.signal.aborted) return await end({ state: 'waiting' })
      if (signal.aborted) return
      const said = error instanceof Error ? error.message : String(error)
      if (isSlow(said, target.image)) {
        const next_at = new Date(now().getTime() + slowMs)
        const third = await thirdOf(preheat)
        if (third !== undefined) await parts.third.note(db, third, { health: 'slow', slowed_until: next_at })
        return await end({ state: 'waiting', next_at })
      }
      const isAway =
        isAgentError(error, 'offline', 'unanswered', 'cancelled') ||
        isEngineError(error, 'unanswered', 'cancelled') ||
        (error instanceof Refusal && error.refusal === 'edgeOffline')
      if (isAway) return await end({ state: 'away' })
      const refusal = toRefusal(parts.refusedByNode(error, await nameOf(target.edge_id), target.image))
      // Docker is started anew, or the registry is.
      const mayPass = isEngineError(error, 'unreachable', 'busy') || refusal.refusal === 'registryUnreachable' || isCut(said)
      if (mayPass && target.attempts < attemptsMost)
        return await end({ state: 'waiting', error: refusal.message, next_at: new Date(now().getTime() + 2_000 * 2 ** target.attempts) })
      log.info({ err: error, image: target.image, node: target.edge_id }, 'an image was not brought to a node')
      await end({ state: 'failed', error: refusal.message, ended_at: now() })
    }
  }
  const nameOf = async (id: string): Promise<{ name: string }> => ({
    name: (await db.selectFrom('edges').select('name').where('id', '=', id).executeTakeFirst())?.name ?? '',
  })

  const look = async (): Promise<void> => {
    for (const preheat of await store.duePreheats(db, now())) {
      for (;;) {
        if (stopping.signal.aborted) return
        const at = now()
        const target = await store.claimTarget(db, preheat.id, (id) => parts.edges.connected(id) !== null, at, new Date(at.getTime() + claimMs))
        if (target === null) break
        const abort = new AbortController()
        const ended = bring(preheat, target, AbortSignal.any([abort.signal, stopping.signal]))
          .catch((error: unknown) => log.warn({ err: error, target: target.id }, 'what became of an image could not be written down'))
          .finally(() => {
            running.delete(target.id)
            begin()
          })
        running.set(target.id, { preheatId: preheat.id, abort, ended })
      }
    }
  }
  /** Looks now; who asks meanwhile has it looked at once more. */
  const begin = (): void => {
    if (stopping.signal.aborted) return
    if (looking) {
      again = true
      return
    }
    looking = true
    clearTimeout(timer)
    // Whoever asked for it is not who does it.
    void unrecorded(look)
      .catch((error: unknown) => log.warn({ err: error }, 'looking at what is to be brought to nodes'))
      .finally(() => {
        looking = false
        const now_again = again
        again = false
        if (now_again) begin()
        else if (!stopping.signal.aborted) timer = setTimeout(begin, lookEveryMs).unref()
      })
  }

  return {
    begin,
    letGo(preheatId: string): void {
      for (const one of running.values()) if (one.preheatId === preheatId) one.abort.abort()
    },
    async stop(): Promise<void> {
      clearTimeout(timer)
      stopping.abort()
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
  }
}
