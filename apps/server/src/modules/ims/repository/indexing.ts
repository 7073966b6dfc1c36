import { randomUUID } from 'node:crypto'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import { mediaTypes } from '@zhisuan/engines/registry/manifest'
import type { Registry as Client } from '@zhisuan/engines/registry/types'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { insertProject } from '../project/project.store.ts'
import type { RegistryEndpoints } from '../registry/registry.endpoint.ts'
import * as registries from '../registry/registry.store.ts'
import type { RegistryRow } from '../registry/registry.store.ts'
import { partsOf } from '../token/scopes.ts'
import { describeManifest, isPlaceholder, placeholderType } from './described.ts'
import { isMeantByAny } from './patterns.ts'
import * as store from './repository.store.ts'

/** What there is to look at. */
interface Place {
  readonly registry: RegistryRow
  readonly client: Client
  readonly project: { readonly id: string; readonly name: string; readonly bp_id: string | null; readonly immutable_tags: readonly string[] }
  readonly repository: string
}
const nameOf = ({ project, repository }: Pick<Place, 'repository'> & { readonly project: { readonly name: string } }): string => `${project.name}/${repository}`

/** Tags that are asked about at once. */
const atOnce = 16
const reconcileMs = 20 * 60_000

export type RegistryIndex = ReturnType<typeof createIndex>

/**
 * What registries hold, as our tables have it: lists of thousands of tags that a registry would answer whole and unsorted.
 * The registry is the record. What it tells is looked at there, and what it did not tell is found by comparing.
 */
export function createIndex({ db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>, { endpoints }: { endpoints: RegistryEndpoints }) {
  const running = new Map<string, Promise<void>>()
  const stopping = new AbortController()

  const forget = async (repositoryId: string, tag: string): Promise<void> =>
    db.transaction().execute(async (tx) => {
      if ((await store.lockRepository(tx, repositoryId)) === undefined) return
      const row = await store.getTag(tx, repositoryId, tag)
      if (row === undefined) return
      await store.forgetTags(tx, [row.id])
      await store.countRepository(tx, repositoryId)
      await store.removeEmptyRepository(tx, repositoryId)
    })

  /** Takes a name away and leaves what it led to, with its other names: puts something else under it, and deletes that. */
  const untag = async (client: Client, name: string, tag: string): Promise<void> => {
    const config = Buffer.from('{}')
    const digest = await client.putBlob(name, config)
    const empty = { mediaType: mediaTypes.ociEmpty, digest, size: config.length }
    const bytes = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.ociManifest,
        artifactType: placeholderType,
        config: empty,
        layers: [empty],
        annotations: { 'zhisuan.once': randomUUID() },
      }),
    )
    await client.deleteManifest(name, await client.putManifest(name, tag, { mediaType: mediaTypes.ociManifest, bytes }))
  }

  /**
   * Makes the index of one tag what is there now.
   * @param by who pushed it, where that was told
   */
  const lookAt = async (place: Place, tag: string, signal: AbortSignal, by: string | null = null): Promise<void> => {
    const { client, project } = place
    const name = nameOf(place)
    const known = await repositoryIdOf(project.id, place.repository)
    let manifest = await client.manifest(name, tag, { signal })
    if (manifest !== null && isPlaceholder(manifest)) {
      // A deletion that was not finished.
      await client.deleteManifest(name, manifest.digest, { signal })
      manifest = null
    }
    const waiting = known === null ? undefined : await store.unfinished(db, known, tag)
    if (waiting !== undefined && by === null && (manifest === null || manifest.digest === waiting.digest)) {
      if (manifest !== null) await untag(client, name, tag)
      await store.untagged(db, waiting.id, now())
      manifest = null
    }
    if (manifest === null) {
      if (known !== null) await forget(known, tag)
      return
    }
    const before = known === null ? undefined : await store.getTag(db, known, tag)
    if (before?.digest === manifest.digest && by === null) return
    if (before !== undefined && before.digest !== manifest.digest && isMeantByAny(project.immutable_tags, tag)) {
      // It is never moved: what it led to is put back under it.
      const former = await client.manifest(name, before.digest, { signal })
      if (former !== null) {
        await client.putManifest(name, tag, former, { signal })
        log.warn({ registry: place.registry.id, name, tag, by }, 'a tag that must not move was put back')
        return
      }
    }
    const [described, ...children] = await describeManifest(client, name, manifest, signal)
    if (described === undefined) return
    await db.transaction().execute(async (tx) => {
      const id = await store.putRepository(tx, {
        id: uuidv7(),
        project_id: project.id,
        bp_id: project.bp_id,
        name: place.repository,
        pushed_at: null,
        pulled_at: null,
      })
      for (const { row, blobs } of [...children, described])
        await store.putManifest(
          tx,
          { ...row, repository_id: id, platforms: jsonb(row.platforms), chart: row.chart === null ? null : jsonb(row.chart), pushed_by: by },
          blobs,
        )
      const to = { digest: described.row.digest, size_bytes: described.row.size_bytes, pushed_by: by, pushed_at: now() }
      const tagged = await store.getTag(tx, id, tag)
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
      else await store.moveTag(tx, tagged.id, { ...to, pushed_by: by ?? tagged.pushed_by })
      await store.countRepository(tx, id)
    })
  }

  const repositoryIdOf = async (projectId: string, name: string): Promise<string | null> =>
    (await db.selectFrom('registry_repositories').select('id').where('project_id', '=', projectId).where('name', '=', name).executeTakeFirst())?.id ?? null

  const clientOf = (registry: RegistryRow): Client => endpoints.opened(registry)

  /** As `lookAt`; one that nobody understands keeps neither the others nor what is told after it from being known. */
  const lookIfKnown = async (place: Place, tag: string, signal: AbortSignal, by: string | null = null): Promise<void> => {
    try {
      await lookAt(place, tag, signal, by)
    } catch (error) {
      if (!isEngineError(error, 'bad_answer')) throw error
      log.warn({ err: error, name: nameOf(place), tag }, 'a tag that leads to no manifest that we know')
    }
  }

  /** All tags of one repository, those that are known and those that are there. */
  const compareRepository = async (place: Place, signal: AbortSignal): Promise<void> => {
    const { items } = await place.client.tags(nameOf(place), { signal })
    const id = await repositoryIdOf(place.project.id, place.repository)
    const known = new Map((id === null ? [] : await store.tagsOf(db, id)).map((row) => [row.name, row.digest]))
    const names = [...new Set([...items, ...known.keys()])]
    let at = 0
    const next = async (): Promise<void> => {
      for (let tag = names[at++]; tag !== undefined; tag = names[at++]) {
        signal.throwIfAborted()
        if (known.has(tag) && (await place.client.head(nameOf(place), tag, { signal })) === known.get(tag)) continue
        await lookIfKnown(place, tag, signal)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, next))
  }

  const compare = async (registry: RegistryRow, signal: AbortSignal): Promise<void> => {
    const client = clientOf(registry)
    const projects = new Map((await store.projectsOf(db, registry.id)).map((project) => [project.name, project]))
    const left = new Map((await store.repositoriesOf(db, registry.id)).map((row) => [`${row.project_name}/${row.name}`, row]))
    for await (const page of client.repositories({ signal })) {
      for (const name of page) {
        const parts = partsOf(name)
        // What is in no project is nobody's of ours.
        if (parts === null) continue
        let project = projects.get(parts.project)
        if (project === undefined) {
          // It was there before us: for the platform's administrators.
          const made = { id: uuidv7(), name: parts.project, bp_id: null, immutable_tags: [] }
          await insertProject(db, {
            ...made,
            registry_id: registry.id,
            description: '',
            visibility: 'private',
            keep_rules: jsonb([]),
            bin_days: 7,
            quota_bytes: null,
            created_by: null,
            created_by_name: '',
          })
          project = made
          projects.set(parts.project, made)
        }
        left.delete(name)
        await compareRepository({ registry, client, project, repository: parts.repository }, signal)
      }
    }
    // What the catalogue does not tell of any more.
    for (const { name, project_name } of left.values()) {
      const project = projects.get(project_name)
      if (project !== undefined) await compareRepository({ registry, client, project, repository: name }, signal)
    }
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
      await registries.recordRegistry(db, registry, { reconcile_error: error instanceof Error ? error.message.slice(0, 500) : 'unknown' })
      throw error
    }
  }

  return {
    untag,
    clientOf,

    /** One at a time; who asks meanwhile waits for that one. @throws EngineError where it does not answer */
    reconcile(id: string): Promise<void> {
      const now_running = running.get(id)
      if (now_running !== undefined) return now_running
      const one = reconcile(id).finally(() => running.delete(id))
      running.set(id, one)
      return one
    },

    /** All of them, each by itself. */
    async reconcileAll(): Promise<void> {
      for (const { id, status } of await registries.allRegistries(db)) if (status === 'active') await this.reconcile(id).catch(() => undefined)
    },

    /** Looks at a tag that somebody said something about. Names that are none of ours are left alone. */
    async look(registry: RegistryRow, name: string, tag: string, by: string | null): Promise<void> {
      const parts = partsOf(name)
      if (parts === null) return
      const project = (await store.projectsOf(db, registry.id)).find((one) => one.name === parts.project)
      if (project === undefined) return
      await lookIfKnown({ registry, client: clientOf(registry), project, repository: parts.repository }, tag, stopping.signal, by)
    },

    /** Notes a pull. */
    async pulled(registry: RegistryRow, name: string, tag: string | null, digest: string): Promise<void> {
      const parts = partsOf(name)
      const project = parts === null ? undefined : (await store.projectsOf(db, registry.id)).find((one) => one.name === parts.project)
      const id = parts === null || project === undefined ? null : await repositoryIdOf(project.id, parts.repository)
      if (id !== null) await store.notePull(db, id, tag, digest, now())
    },

    /** Something was deleted there: whichever tags led to it are looked at. */
    async deleted(registry: RegistryRow, name: string, digest: string): Promise<void> {
      const parts = partsOf(name)
      const project = parts === null ? undefined : (await store.projectsOf(db, registry.id)).find((one) => one.name === parts.project)
      if (parts === null || project === undefined) return
      const id = await repositoryIdOf(project.id, parts.repository)
      const tags = id === null ? [] : (await store.tagsOf(db, id)).filter((row) => row.digest === digest)
      for (const { name: tag } of tags) await lookIfKnown({ registry, client: clientOf(registry), project, repository: parts.repository }, tag, stopping.signal)
    },

    stop(): void {
      stopping.abort(new EngineError('cancelled', 'the server stops'))
    },
  }
}
