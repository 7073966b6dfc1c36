import { setTimeout as sleep } from 'node:timers/promises'
import { fillText } from '@zhisuan/contract/errors'
import { digest as digestShape } from '@zhisuan/contract/ims/names'
import { sizeText } from '@zhisuan/contract/resource'
import { messageTexts } from '@zhisuan/contract/texts'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import { mediaTypes } from '@zhisuan/engines/registry/manifest'
import type { Manifest, Registry as Client } from '@zhisuan/engines/registry/types'
import { isConnectionError } from '../../../platform/db/connections.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { insertProject } from '../project/project.store.ts'
import { tellRegistry, type RegistryEndpoints } from '../registry/registry.endpoint.ts'
import * as registries from '../registry/registry.store.ts'
import type { RegistryRow } from '../registry/registry.store.ts'
import { partsOf } from '../token/scopes.ts'
import { describeManifest, describeUnknown, isPlaceholder, placeholderType, type Described } from './described.ts'
import { isMeantByAny } from './patterns.ts'
import * as store from './repository.store.ts'

/** What there is to look at. */
interface Place {
  readonly registry: RegistryRow
  readonly client: Client
  readonly project: store.IndexedProject
  readonly repository: string
}
const nameOf = ({ project, repository }: Pick<Place, 'repository'> & { readonly project: { readonly name: string } }): string => `${project.name}/${repository}`

/** Who is known to have done what is looked at. */
interface By {
  readonly pushed?: string | null
  readonly deleted?: string | null
}

/** What has no name, in one look. */
const looseAtOnce = 200
/** Tags that are asked about at once. */
const atOnce = 16
/** So often it is looked anew where somebody else changed the index of it meanwhile. */
const triesMost = 8
const dayMs = 24 * 3_600_000
/** A project’s name is nobody else’s for so long: pulls of nodes have tokens for an hour, and registries take them a minute longer. */
export const leftMs = 3_660_000 + 60_000
const reconcileMs = 20 * 60_000
const isThereMs = 15_000
const beginTries = 20
const beginEveryMs = 5_000

const isDigest = (text: string): boolean => digestShape.safeParse(text).success
/** Whether nobody changed the index of a tag since it was read. */
const isSame = (now: store.TagRow | undefined, before: store.TagRow | undefined): boolean =>
  now?.id === before?.id && now?.digest === before?.digest && now?.pushed_at.getTime() === before?.pushed_at.getTime()
/** Some at a time. */
const each = async (all: readonly string[], act: (one: string) => Promise<void>): Promise<void> => {
  let at = 0
  const next = async (): Promise<void> => {
    for (let one = all[at++]; one !== undefined; one = all[at++]) await act(one)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}
/** What nobody can read is none. */
const isOurPlaceholder = (manifest: Manifest): boolean => {
  try {
    return isPlaceholder(manifest)
  } catch (error) {
    if (isEngineError(error, 'bad_answer')) return false
    throw error
  }
}
/** What nobody can read is left alone. */
const ifUnderstood = async (act: () => Promise<void>): Promise<void> =>
  act().catch((error: unknown) => {
    if (!isEngineError(error, 'bad_answer')) throw error
  })

export type RegistryIndex = ReturnType<typeof createIndex>

/**
 * What registries hold, as our tables have it: lists of thousands of tags that a registry would answer whole and unsorted.
 * The registry is the record. What it tells is looked at there, and what it did not tell is found by comparing.
 */
export function createIndex({ db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>, { endpoints, tell }: { endpoints: RegistryEndpoints; tell: Tell }) {
  const running = new Map<string, Promise<void>>()
  const stopping = new AbortController()

  const binned = (project: Pick<store.IndexedProject, 'bin_days'>, by: string | null) => {
    const at = now()
    return { deleted_at: at, deleted_by: by ?? '', ends_at: new Date(at.getTime() + project.bin_days * dayMs), untagged_at: at }
  }

  /**
   * Out of the registry and of the index, of these whatever nothing leads to any more. Within a transaction that holds the repository.
   * @param client null: only out of the index, of a registry that others keep
   */
  const drop = async (
    tx: Tx,
    client: Client | null,
    of: { registryId: string; repositoryId: string; name: string },
    digests: readonly string[],
  ): Promise<void> => {
    for (const digest of digests) {
      if (!(await store.isLoose(tx, of.repositoryId, digest))) continue
      // Where the transaction is undone, what is gone is found so by the next comparison.
      await client?.deleteManifest(of.name, digest)
      const gone = await store.getManifest(tx, of.repositoryId, digest)
      // Of an index that of its parts is.
      if (client !== null && gone?.children.length === 0) await registries.noteCollectable(tx, of.registryId, gone.size_bytes)
      await store.forgetManifest(tx, of.repositoryId, digest)
      if (gone !== undefined) await drop(tx, client, of, gone.children)
    }
  }

  const dropOf = (tx: Tx, place: Place, repositoryId: string, digest: string): Promise<void> =>
    drop(tx, place.registry.ours ? place.client : null, { registryId: place.registry.id, repositoryId, name: nameOf(place) }, [digest])

  /** What nothing leads to rests in the bin, under its digest; where the project has none it goes. Within a transaction that holds the repository. */
  const rest = async (tx: Tx, place: Place, repositoryId: string, name: string, digest: string, by: string | null): Promise<void> => {
    if (!(await store.isLoose(tx, repositoryId, digest))) return
    const manifest = await store.getManifest(tx, repositoryId, digest)
    if (manifest === undefined) return
    if (place.project.bin_days === 0 || !place.registry.ours) return dropOf(tx, place, repositoryId, digest)
    await store.insertTag(tx, {
      id: uuidv7(),
      repository_id: repositoryId,
      name,
      digest,
      size_bytes: manifest.size_bytes,
      pushed_by: manifest.pushed_by,
      pushed_at: manifest.created_at,
      pulled_at: null,
      ...binned(place.project, by),
    })
  }

  /** Puts what somebody deleted by the registry's own way back, without a name. @returns false where its parts are gone */
  const putBack = async ({ client, registry, ...place }: Place, reference: string, manifest: store.ManifestRow | undefined): Promise<boolean> => {
    // What others keep, others may delete.
    if (!registry.ours || manifest?.content == null) return false
    try {
      await client.putManifest(nameOf(place), reference, { mediaType: manifest.media_type, bytes: manifest.content })
      return true
    } catch (error) {
      if (isEngineError(error, 'invalid', 'not_found')) return false
      throw error
    }
  }

  /** A tag is no longer there: it rests in the bin where what it led to can be had again, and is forgotten where not. */
  const leave = async (place: Place, repositoryId: string, before: store.TagRow, by: string | null): Promise<boolean> => {
    const rests = place.project.bin_days > 0 && (await putBack(place, before.digest, await store.getManifest(db, repositoryId, before.digest)))
    return db.transaction().execute(async (tx) => {
      if ((await store.lockRepository(tx, repositoryId)) === undefined) return true
      const row = await store.getTag(tx, repositoryId, before.name)
      if (!isSame(row, before)) return false
      if (rests) {
        await store.binTag(tx, before.id, binned(place.project, by))
        await store.untagged(tx, before.id, now())
      } else {
        await store.forgetTags(tx, [before.id])
        await dropOf(tx, place, repositoryId, before.digest)
      }
      await store.countRepository(tx, repositoryId)
      await store.removeEmptyRepository(tx, repositoryId)
      return true
    })
  }

  /**
   * Takes a name away and leaves what it led to, with its other names: puts something else under it, and deletes that.
   * What somebody has pushed under it since stays.
   * @param digest what it led to
   * @returns false where the name leads to something else by now
   */
  const untag = async (client: Client, name: string, tag: string, digest: string): Promise<boolean> => {
    const there = await client.manifest(name, tag)
    if (there === null) return true
    if (there.digest !== digest && !isOurPlaceholder(there)) return false
    const config = Buffer.from('{}')
    const empty = { mediaType: mediaTypes.ociEmpty, digest: await client.putBlob(name, config), size: config.length }
    const bytes = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.ociManifest,
        artifactType: placeholderType,
        config: empty,
        layers: [empty],
        // Of each name another one, and of one always the same: what was killed halfway is taken away by who ends it.
        annotations: { 'zhisuan.tag': tag },
      }),
    )
    await client.deleteManifest(name, await client.putManifest(name, tag, { mediaType: mediaTypes.ociManifest, bytes }))
    return true
  }

  const record = async (tx: Tx, place: Place, manifests: readonly Described[], by: string | null): Promise<string> => {
    const id = await store.putRepository(tx, {
      id: uuidv7(),
      project_id: place.project.id,
      bp_id: place.project.bp_id,
      name: place.repository,
      pushed_at: null,
      pulled_at: null,
    })
    for (const { row, blobs } of manifests)
      await store.putManifest(
        tx,
        { ...row, repository_id: id, platforms: jsonb(row.platforms), chart: row.chart === null ? null : jsonb(row.chart), pushed_by: by },
        blobs,
      )
    return id
  }
  /** Who has pushed more than there was room for is told so, once a day; the next token is refused. */
  const tellOver = async (tx: Tx, { project }: Place): Promise<void> => {
    const row = await tx.selectFrom('registry_projects').select(['bp_id', 'name', 'used_bytes', 'quota_bytes']).where('id', '=', project.id).executeTakeFirst()
    if (row?.quota_bytes == null || row.bp_id === null || row.used_bytes <= row.quota_bytes) return
    await tell(tx, {
      kind: 'ims.projectOver',
      bp_id: row.bp_id,
      text: fillText(messageTexts.registryProjectOver, { name: row.name, used: sizeText(row.used_bytes), limit: sizeText(row.quota_bytes) }),
      about: { kind: 'ims.project', id: project.id, name: row.name },
      key: `${project.id} ${row.quota_bytes} ${now().toISOString().slice(0, 10)}`,
    })
  }

  /** @returns false where the index of it was changed meanwhile: what was seen may be older than that */
  const lookOnce = async (place: Place, tag: string, signal: AbortSignal, by: By): Promise<boolean> => {
    const { client, project } = place
    const name = nameOf(place)
    const pushed = by.pushed ?? null
    const known = await repositoryIdOf(project.id, place.repository)
    const before = known === null ? undefined : await store.getTag(db, known, tag)
    const waiting = known === null ? undefined : await store.unfinished(db, known, tag)
    let manifest = await client.manifest(name, tag, { signal })
    if (manifest !== null && isPlaceholder(manifest)) {
      // A deletion that was not finished.
      await client.deleteManifest(name, manifest.digest, { signal })
      manifest = null
    }
    if (waiting !== undefined && pushed === null && (manifest === null || manifest.digest === waiting.digest)) {
      if (manifest !== null) await untag(client, name, tag, waiting.digest)
      await store.untagged(db, waiting.id, now())
      manifest = null
    }
    // The name is another's by now: it is not the bin's to take away.
    if (waiting !== undefined && manifest !== null && manifest.digest !== waiting.digest) await store.untagged(db, waiting.id, now())
    const immutable = before !== undefined && isMeantByAny(project.immutable_tags, tag)
    if (manifest === null) {
      if (known === null || before === undefined) return true
      if (immutable && (await putBack(place, tag, await store.getManifest(db, known, before.digest)))) {
        log.warn({ registry: place.registry.id, name, tag, by: by.deleted }, 'a tag that must not be deleted was put back')
        return true
      }
      return leave(place, known, before, by.deleted ?? null)
    }
    if (before?.digest === manifest.digest && pushed === null) return true
    const [described, ...children] = await describeManifest(
      client,
      name,
      manifest,
      signal,
      known === null ? undefined : (digest) => store.describedBefore(db, known, digest),
    )
    if (described === undefined) return true
    const moved = before !== undefined && before.digest !== manifest.digest
    if (moved && immutable && known !== null) {
      // It is never moved: what it led to is put back under it.
      const former = await client.manifest(name, before.digest, { signal })
      if (former !== null) await client.putManifest(name, tag, former, { signal })
      if (former !== null || (await putBack(place, tag, await store.getManifest(db, known, before.digest)))) {
        log.warn({ registry: place.registry.id, name, tag, by: pushed }, 'a tag that must not move was put back')
        // What came instead takes up room until its days are over.
        await db.transaction().execute(async (tx) => {
          const id = await record(tx, place, [...children, described], pushed)
          await rest(tx, place, id, described.row.digest, described.row.digest, pushed)
          await store.countRepository(tx, id)
        })
        return true
      }
    }
    return db.transaction().execute(async (tx) => {
      const id = await record(tx, place, [...children, described], pushed)
      const tagged = await store.getTag(tx, id, tag)
      if (!isSame(tagged, before)) return false
      const to = { digest: described.row.digest, size_bytes: described.row.size_bytes, pushed_by: pushed, pushed_at: now() }
      // What is there again rests no longer.
      await store.forgetBinned(tx, id, tag, to.digest)
      if (tagged === undefined)
        await store.insertTag(tx, {
          id: uuidv7(),
          repository_id: id,
          name: tag,
          ...to,
          pulled_at: null,
          deleted_at: null,
          deleted_by: null,
          ends_at: null,
          untagged_at: null,
        })
      else {
        await store.moveTag(tx, tagged.id, { ...to, pushed_by: pushed ?? tagged.pushed_by })
        if (moved) await rest(tx, place, id, tag, tagged.digest, pushed)
      }
      await store.countRepository(tx, id)
      if (pushed !== null) await tellOver(tx, place)
      return true
    })
  }

  /** Makes the index of one tag what is there now. */
  const lookAt = async (place: Place, tag: string, signal: AbortSignal, by: By = {}): Promise<void> => {
    for (let left = triesMost; left > 0; left--) if (await lookOnce(place, tag, signal, by)) return
    throw new EngineError('busy', `${nameOf(place)}:${tag} changes all the time`)
  }

  /**
   * Makes known what has no name, and what nobody of us understands: it takes up room all the same.
   * @param overtaken the name that it had until something else came under it; it rests under that, as what is moved away does
   */
  const lookAtContent = async (place: Place, reference: string, signal: AbortSignal, by: string | null, overtaken: string | null = null): Promise<void> => {
    const manifest = await place.client.manifest(nameOf(place), reference, { signal })
    if (manifest === null || isPlaceholder(manifest)) return
    const described = await describeManifest(place.client, nameOf(place), manifest, signal).catch((error: unknown) => {
      if (!isEngineError(error, 'bad_answer')) throw error
      return [describeUnknown(manifest)]
    })
    await db.transaction().execute(async (tx) => {
      const id = await record(tx, place, described.toReversed(), by)
      if (overtaken !== null) await rest(tx, place, id, overtaken, manifest.digest, by)
      await store.countRepository(tx, id)
      if (by !== null) await tellOver(tx, place)
    })
  }

  const repositoryIdOf = async (projectId: string, name: string): Promise<string | null> =>
    (await db.selectFrom('registry_repositories').select('id').where('project_id', '=', projectId).where('name', '=', name).executeTakeFirst())?.id ?? null

  const clientOf = (registry: RegistryRow): Client => endpoints.opened(registry)

  /** As `lookAt`; one that nobody understands keeps neither the others nor what is told after it from being known. */
  const lookIfKnown = async (place: Place, tag: string, signal: AbortSignal, by: By = {}): Promise<void> => {
    try {
      await lookAt(place, tag, signal, by)
    } catch (error) {
      if (!isEngineError(error, 'bad_answer')) throw error
      log.warn({ err: error, name: nameOf(place), tag }, 'a tag that leads to no manifest that we know')
      await ifUnderstood(() => lookAtContent(place, tag, signal, by.pushed ?? null))
    }
  }

  /** What is known by its digest and gone there: put back without a name where it is wanted, and out of the index where not. */
  const lookAtDigest = async (place: Place, id: string, digest: string, signal: AbortSignal, by: string | null): Promise<void> => {
    const manifest = await store.getManifest(db, id, digest)
    if (manifest === undefined || (await place.client.head(nameOf(place), digest, { signal })) !== null) return
    const wanted = place.project.bin_days > 0 || !(await store.isLoose(db, id, digest))
    const there = wanted && (await putBack(place, digest, manifest))
    await db.transaction().execute(async (tx) => {
      if ((await store.lockRepository(tx, id)) === undefined) return
      if (there) await rest(tx, place, id, digest, digest, by)
      else await dropOf(tx, place, id, digest)
      await store.countRepository(tx, id)
      await store.removeEmptyRepository(tx, id)
    })
  }

  /** All tags of one repository, those that are known and those that are there; and what is known of it without a name. */
  const compareRepository = async (place: Place, signal: AbortSignal): Promise<void> => {
    const { items } = await place.client.tags(nameOf(place), { signal })
    const id = await repositoryIdOf(place.project.id, place.repository)
    const known = new Map((id === null ? [] : await store.tagsOf(db, id)).map((row) => [row.name, row.digest]))
    await each([...new Set([...items, ...known.keys()])], async (tag) => {
      signal.throwIfAborted()
      if (known.has(tag) && (await place.client.head(nameOf(place), tag, { signal })) === known.get(tag)) return
      await lookIfKnown(place, tag, signal)
    })
    if (id !== null)
      await each(await store.namelessDigests(db, id), async (digest) => {
        signal.throwIfAborted()
        await lookAtDigest(place, id, digest, signal, null)
      })
  }

  /** What is left there of a project that was deleted goes as well. @returns whether there was something */
  const clear = async (client: Client, name: string, signal: AbortSignal): Promise<boolean> => {
    const { items } = await client.tags(name, { signal })
    for (const tag of items) {
      const digest = await client.head(name, tag, { signal })
      if (digest !== null) await client.deleteManifest(name, digest, { signal })
    }
    return items.length > 0
  }

  const compare = async (registry: RegistryRow, signal: AbortSignal): Promise<void> => {
    const client = clientOf(registry)
    const begunAt = now()
    const projects = new Map((await store.projectsOf(db, registry.id)).map((project) => [project.name, project]))
    const left = new Map((await store.repositoriesOf(db, registry.id)).map((row) => [`${row.project_name}/${row.name}`, row]))
    const deserted = new Map((await store.leftProjects(db, registry.id)).map(({ name }) => [name, false]))
    const projectNamed = async (name: string, repository: string): Promise<store.IndexedProject | null> => {
      const known = projects.get(name)
      if (known !== undefined) return known
      // Made, or deleted, since we began.
      const fresh = (await store.projectsOf(db, registry.id)).find((project) => project.name === name)
      if (fresh === undefined) {
        if (deserted.has(name) || (await store.leftProjects(db, registry.id)).some((one) => one.name === name)) {
          if (registry.ours && (await clear(client, `${name}/${repository}`, signal))) deserted.set(name, true)
          return null
        }
        // Registries go on telling of repositories that have nothing any more.
        if ((await client.tags(`${name}/${repository}`, { most: 1, signal })).items.length === 0) return null
      }
      // It was there before us: for the platform's administrators.
      const project = fresh ?? { id: uuidv7(), name, bp_id: null, immutable_tags: [], bin_days: 7 }
      if (fresh === undefined)
        await insertProject(db, {
          ...project,
          registry_id: registry.id,
          description: '',
          visibility: 'private',
          keep_rules: jsonb([]),
          quota_bytes: null,
          created_by: null,
          created_by_name: '',
        })
      projects.set(name, project)
      return project
    }
    for await (const page of client.repositories({ signal })) {
      for (const name of page) {
        const parts = partsOf(name)
        // What is in no project is nobody's of ours.
        if (parts === null) continue
        left.delete(name)
        const project = await projectNamed(parts.project, parts.repository)
        if (project !== null) await compareRepository({ registry, client, project, repository: parts.repository }, signal)
      }
    }
    // What the catalogue does not tell of any more.
    for (const { name, project_name } of left.values()) {
      const project = projects.get(project_name)
      if (project !== undefined) await compareRepository({ registry, client, project, repository: name }, signal)
    }
    for (const [name, found] of deserted) if (!found) await store.forgetLeft(db, registry.id, name, new Date(begunAt.getTime() - leftMs))
  }

  const reconcile = async (id: string): Promise<void> => {
    const registry = await registries.getRegistry(db, id)
    if (registry === undefined || registry.status !== 'active') return
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(reconcileMs)])
    try {
      await compare(registry, signal)
      await registries.recordRegistry(db, registry, { reconciled_at: now(), reconcile_error: null })
    } catch (error) {
      if (stopping.signal.aborted) return
      log.warn({ err: error, registry: id }, 'comparing a registry with its index')
      await registries.recordRegistry(db, registry, { reconcile_error: await tellRegistry(error) })
      throw error
    }
  }

  const placeOf = async (registry: RegistryRow, name: string): Promise<Place | null> => {
    const parts = partsOf(name)
    const project = parts === null ? undefined : (await store.projectsOf(db, registry.id)).find((one) => one.name === parts.project)
    return parts === null || project === undefined ? null : { registry, client: clientOf(registry), project, repository: parts.repository }
  }

  const reconcileOnce = (id: string): Promise<void> => {
    const begun = running.get(id)
    if (begun !== undefined) return begun
    const one = reconcile(id).finally(() => running.delete(id))
    running.set(id, one)
    return one
  }
  /** @returns those that could not be compared */
  const reconcileAll = async (of?: readonly string[]): Promise<string[]> => {
    const failed: string[] = []
    for (const { id, status } of await registries.allRegistries(db))
      if (status === 'active' && (of === undefined || of.includes(id))) await reconcileOnce(id).catch(() => failed.push(id))
    return failed
  }

  return {
    untag,
    drop,
    clientOf,

    /** One at a time; who asks meanwhile waits for that one. @throws EngineError where it does not answer */
    reconcile: reconcileOnce,

    /** All of them, each by itself. */
    reconcileAll,

    /** Finds out what happened while no server was there. A registry that is not there yet either is waited for. */
    begin(): void {
      const loop = async (): Promise<void> => {
        let left = await reconcileAll()
        for (let tries = 0; tries < beginTries && left.length > 0; tries++) {
          await sleep(beginEveryMs, undefined, { signal: stopping.signal, ref: false })
          left = await reconcileAll(left)
        }
      }
      void loop().catch((error: unknown) => {
        if (!stopping.signal.aborted && !isConnectionError(error)) log.warn({ err: error }, 'comparing registries with their indexes')
      })
    },

    /** Looks at what somebody said that was pushed. Names that are none of ours are left alone. */
    async pushed(registry: RegistryRow, name: string, { tag, digest }: { tag: string | null; digest: string }, by: string | null): Promise<void> {
      const place = await placeOf(registry, name)
      if (place === null) return
      if (tag !== null) {
        await lookIfKnown(place, tag, stopping.signal, { pushed: by })
        // Something else was pushed under its name before it was looked at: no name leads to it, and it is there.
        const id = await repositoryIdOf(place.project.id, place.repository)
        if (id !== null && isDigest(digest) && (await store.getManifest(db, id, digest)) === undefined)
          await ifUnderstood(() => lookAtContent(place, digest, stopping.signal, by, tag))
      } else if (isDigest(digest)) await ifUnderstood(() => lookAtContent(place, digest, stopping.signal, by))
    },

    /** What was pushed without a name, and still has none after the days that a project keeps what was deleted, rests in its bin as well. */
    async restLoose(): Promise<void> {
      for (const { registry_id, repository_id, project_name, name, digest } of await store.looseSince(db, now(), looseAtOnce)) {
        const registry = await registries.getRegistry(db, registry_id)
        const place = registry?.status === 'active' && registry.ours ? await placeOf(registry, `${project_name}/${name}`) : null
        if (place === null) continue
        await db
          .transaction()
          .execute(async (tx) => {
            if ((await store.lockRepository(tx, repository_id)) === undefined) return
            await rest(tx, place, repository_id, digest, digest, null)
            await store.countRepository(tx, repository_id)
          })
          .catch((error: unknown) => log.warn({ err: error, digest }, 'what has no name was not put into the bin'))
      }
    },

    /** Notes a pull. */
    async pulled(registry: RegistryRow, name: string, tag: string | null, digest: string): Promise<void> {
      const place = await placeOf(registry, name)
      const id = place === null ? null : await repositoryIdOf(place.project.id, place.repository)
      if (id !== null) await store.notePull(db, id, tag, digest, now())
    },

    /** Something was deleted there: whichever tags led to it are looked at, and what is still wanted is put back without a name. */
    async deleted(registry: RegistryRow, name: string, digest: string, by: string | null): Promise<void> {
      const place = await placeOf(registry, name)
      const id = place === null ? null : await repositoryIdOf(place.project.id, place.repository)
      if (place === null || id === null || !isDigest(digest)) return
      for (const { name: tag } of (await store.tagsOf(db, id)).filter((row) => row.digest === digest))
        await lookIfKnown(place, tag, stopping.signal, { deleted: by })
      await lookAtDigest(place, id, digest, stopping.signal, by)
    },

    /**
     * Whether something is there already that would become the project's, in a registry that others fill, too.
     * @throws EngineError where it does not answer
     */
    async isThere(registry: RegistryRow, project: string): Promise<boolean> {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(isThereMs)])
      const client = clientOf(registry)
      for await (const page of client.repositories({ signal }))
        for (const name of page) if (name.startsWith(`${project}/`) && (await client.tags(name, { most: 1, signal })).items.length > 0) return true
      return false
    },

    stop(): void {
      stopping.abort(new EngineError('cancelled', 'the server stops'))
    },
  }
}
