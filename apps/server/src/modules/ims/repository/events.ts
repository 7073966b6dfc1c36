import { createHash, timingSafeEqual } from 'node:crypto'
import { registriesPath } from '@zhisuan/contract/ims/registry'
import { acceptedManifests } from '@zhisuan/engines/registry/manifest'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { Refusal } from '../../../platform/errors.ts'
import { unreadable } from '../../../platform/http/bind.ts'
import { createOneAtATime } from '../../../platform/oneAtATime.ts'
import type { Platform } from '../../../platform/platform.ts'
import { platformSubject } from '../registry/registry.connection.ts'
import { getRegistry } from '../registry/registry.store.ts'
import type { RegistryIndex } from './indexing.ts'

/** A registry tells one thing after the other, and nothing more before it was answered: so long it is kept waiting for what takes long. */
const answerMs = 1_000
/** So much may wait to be looked at; a registry tells of the rest again. */
const waitingMost = 10_000
const bodyLimit = 4 * 2 ** 20
/** Of one event there are some fifty values. */
const most = { values: 60_000, keys: 100 }

export const eventsPath = (id: string): string => `${registriesPath}/${id}/events`

/** What a registry tells (CNCF distribution, "Work with notifications"); what else it says is left alone. */
const envelope = z.object({
  events: z
    .array(
      z.object({
        action: z.string(),
        target: z.object({
          mediaType: z.string().default(''),
          digest: z.string().default(''),
          repository: z.string().max(255),
          tag: z.string().max(128).nullish(),
        }),
        actor: z.object({ name: z.string().max(255).nullish() }).nullish(),
      }),
    )
    .max(1_000),
})

/** What registries take as well, and nobody of ours reads: it counts. */
const otherManifests = ['application/vnd.docker.distribution.manifest.v1+json', 'application/vnd.docker.distribution.manifest.v1+prettyjws'] as const

export const notifySecretHash = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** Where registries tell of pushes, pulls and deletions: only what happened, which is then looked at there. */
export function serveEvents(http: FastifyInstance, { db, log, index }: Pick<Platform, 'db' | 'log'> & { index: RegistryIndex }): void {
  /** What is told of one repository is looked at in its order, and what is told of others meanwhile. */
  const oneAtATime = createOneAtATime()
  let waiting = 0
  const queued = async (repository: string, look: () => Promise<void>): Promise<void> => {
    waiting++
    try {
      await oneAtATime(repository, look)
    } finally {
      waiting--
    }
  }
  const manifests = new Set([...acceptedManifests.split(', '), ...otherManifests])
  const isManifest = (mediaType: string): boolean => manifests.has(mediaType)
  void http.register(async (within) => {
    const json = within.getDefaultJsonParser('error', 'error')
    within.addContentTypeParser<string>(/^application\/vnd\.docker\.distribution\.events/, { parseAs: 'string', bodyLimit }, (request, body, done) => {
      const refusal = unreadable(body, most)
      if (refusal === null) void json(request, body, done)
      else done(new Refusal(refusal))
    })
    const known = async (id: string, authorization: string | undefined) => {
      const registry = /^[0-9a-f-]{36}$/.test(id) ? await getRegistry(db, id) : undefined
      const secret = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? ''
      // Whether there is such a registry is nobody's to know who does not know its secret.
      if (registry?.notify_hash == null || !timingSafeEqual(registry.notify_hash, notifySecretHash(secret))) throw new Refusal('tokenInvalid')
      return registry
    }
    type Told = { Params: { id: string } }
    // Before anything is read of what somebody sends whom nobody knows.
    const onRequest = async (request: FastifyRequest<Told>): Promise<void> => void (await known(request.params.id, request.headers.authorization))
    within.post<Told>(`${registriesPath}/:id/events`, { onRequest }, async (request, reply) => {
      const registry = await known(request.params.id, request.headers.authorization)
      const parsed = envelope.safeParse(request.body)
      if (!parsed.success) throw new Refusal('requestInvalid')
      if (waiting >= waitingMost) throw new Refusal('tooMuchAtOnce')
      const looks: Promise<void>[] = []
      for (const { action, target, actor } of parsed.data.events) {
        const { repository, digest } = target
        const tag = target.tag ?? null
        const then = (look: () => Promise<void>): void => void looks.push(queued(`${registry.id} ${repository}`, look))
        // Our own changes are known.
        if (actor?.name === platformSubject) continue
        if (action === 'push' && isManifest(target.mediaType)) then(() => index.pushed(registry, repository, { tag, digest }, actor?.name || null))
        else if (action === 'pull' && isManifest(target.mediaType)) then(() => index.pulled(registry, repository, tag, digest))
        else if (action === 'delete' && digest !== '') then(() => index.deleted(registry, repository, digest, actor?.name || null))
      }
      const all = Promise.all(looks)
      // What goes wrong after it was answered is found when the registry is compared with the index.
      all.catch((error: unknown) => log.warn({ err: error, registry: registry.id }, 'what a registry told was not looked at'))
      await Promise.race([all, sleep(answerMs)])
      return reply.code(200).send({})
    })
  })
}
