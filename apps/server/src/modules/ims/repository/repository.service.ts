import type { BinnedTag, ImageTag, registryProjects, Repository, repositories, tagBin } from '@zhisuan/contract/ims/project'
import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { alsoInProject } from '@zhisuan/contract/ims/rights'
import { isEngineError } from '@zhisuan/engines/errors'
import { isImageConfig, parseImageConfig, parseManifest } from '@zhisuan/engines/registry/manifest'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { deniedOn, deniesSome } from '../../../platform/auth/rules.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Asking, RefuseAlso } from '../imageRights.ts'
import { notKept } from '../project/keep.ts'
import * as projects from '../project/project.store.ts'
import { getRegistry, noteCollectable, notePush } from '../registry/registry.store.ts'
import type { RegistryIndex } from './indexing.ts'
import { isMeantByAny } from './patterns.ts'
import * as store from './repository.store.ts'

type Calls = typeof repositories
type Bin = typeof tagBin

const dayMs = 24 * 3_600_000
/** So many are taken out of the bin in one go. */
const endedAtOnce = 200
const previewMost = 1_000
/** What we write ourselves is there by then. */
const writeMs = 30_000

export type RepositoryService = ReturnType<typeof createRepositories>

/** Repositories and tags: read from the index, changed at the registry. */
export function createRepositories(
  { db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>,
  { index, refuseAlso }: { index: RegistryIndex; refuseAlso: RefuseAlso },
) {
  const read = async (actor: Actor, at: store.RepositoryAt): Promise<store.ShownRepository> => found(await store.readRepository(db, scopeOf(actor), at))
  const own = async (actor: Actor, at: store.RepositoryAt): Promise<store.ShownRepository> => found(await store.ownRepository(db, scopeOf(actor), at))
  const nameOf = (row: Pick<store.ShownRepository, 'project_name' | 'name'>): string => `${row.project_name}/${row.name}`
  const clientOf = async (registryId: string) => index.clientOf(found(await getRegistry(db, registryId)))
  /** To change something there: not while space is freed, which would take what is just being written for what nothing leads to. @throws Refusal */
  const writerOf = async (registryId: string) => {
    const at = now()
    if (!(await unrecorded(() => notePush(db, registryId, at, new Date(at.getTime() + writeMs))))) throw new Refusal('registryCollecting')
    return clientOf(registryId)
  }
  /** What the registry says is for operators; people hear that it does not answer. */
  const asking = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask()
    } catch (error) {
      throw isEngineError(error) ? new Refusal('registryBusy', { cause: error }) : error
    }
  }
  const immutableTagsOf = async (projectId: string): Promise<readonly string[]> =>
    (await db.selectFrom('registry_projects').select('immutable_tags').where('id', '=', projectId).executeTakeFirst())?.immutable_tags ?? []
  const binDaysOf = async (projectId: string): Promise<number> =>
    (await db.selectFrom('registry_projects').select('bin_days').where('id', '=', projectId).executeTakeFirst())?.bin_days ?? 0

  const recount = async (tx: Tx, repositoryId: string): Promise<void> => {
    await store.countRepository(tx, repositoryId)
    await store.removeEmptyRepository(tx, repositoryId)
  }

  /** The name goes from the registry, what it led to stays there as long as the bin has it. */
  const toBin = async (repository: store.ShownRepository, tag: store.TagRow, by: string): Promise<void> => {
    const days = await binDaysOf(repository.project_id)
    const deleted_at = now()
    const client = await writerOf(repository.registry_id)
    // Pushed since, and nobody has told of it yet: what is deleted is not what somebody saw.
    const there = await asking(() => client.head(nameOf(repository), tag.name))
    if (there !== null && there !== tag.digest) throw new Refusal('changedMeanwhile')
    await db.transaction().execute(async (tx) => {
      found(await store.lockRepository(tx, repository.id))
      const row = found(await store.getTag(tx, repository.id, tag.name))
      // Somebody pushed it anew meanwhile.
      if (row.digest !== tag.digest) throw new Refusal('changedMeanwhile')
      await store.binTag(tx, row.id, { deleted_at, deleted_by: by, ends_at: new Date(deleted_at.getTime() + days * dayMs) })
      await store.countRepository(tx, repository.id)
    })
    const takeBack = (): Promise<void> =>
      db.transaction().execute(async (tx) => {
        if ((await store.lockRepository(tx, repository.id)) === undefined) return
        // Told of the push by now: then its name is taken, and what it led to before rests.
        if ((await store.getTag(tx, repository.id, tag.name)) === undefined) await store.unbinTag(tx, tag.id)
        else await store.untagged(tx, tag.id, now())
        await store.countRepository(tx, repository.id)
      })
    try {
      if (!(await index.untag(client, nameOf(repository), tag.name, tag.digest))) {
        await takeBack()
        throw new Refusal('changedMeanwhile')
      }
      await store.untagged(db, tag.id, now())
    } catch (error) {
      // What became of it is seen when the registry is compared with the index; nothing was done where nobody heard of it.
      if (!(error instanceof Refusal) && !isEngineError(error, 'unanswered')) await takeBack()
      throw isEngineError(error) ? new Refusal('registryBusy', { cause: error }) : error
    }
    if (days === 0) await purge(tag.id)
  }

  /** Out of the bin, for good: what nothing leads to any more goes from the registry, and then from the index. */
  const purge = async (id: string): Promise<void> => {
    const row = await store.tagById(db, id)
    if (row === undefined || row.deleted_at === null) return
    const at = await db
      .selectFrom('registry_repositories as r')
      .innerJoin('registry_projects as p', 'p.id', 'r.project_id')
      .where('r.id', '=', row.repository_id)
      .select(['r.name', 'p.name as project_name', 'p.registry_id'])
      .executeTakeFirst()
    if (at === undefined) return
    const client = await writerOf(at.registry_id)
    if (row.untagged_at === null) await asking(async () => index.untag(client, nameOf(at), row.name, row.digest))
    await db.transaction().execute(async (tx) => {
      if ((await store.lockRepository(tx, row.repository_id)) === undefined) return
      await store.forgetTags(tx, [id])
      await asking(() => index.drop(tx, client, { registryId: at.registry_id, repositoryId: row.repository_id, name: nameOf(at) }, [row.digest]))
      await recount(tx, row.repository_id)
    })
  }

  /** What was pushed without a name goes with the others. */
  const restLoose = async (repository: store.ShownRepository, by: string): Promise<void> => {
    const days = await binDaysOf(repository.project_id)
    const deleted_at = now()
    const made = await db.transaction().execute(async (tx) => {
      if ((await store.lockRepository(tx, repository.id)) === undefined) return []
      const rows = (await store.looseManifests(tx, repository.id)).map(({ digest, size_bytes, pushed_by, created_at }) => ({
        id: uuidv7(),
        repository_id: repository.id,
        name: digest,
        digest,
        size_bytes,
        pushed_by,
        pushed_at: created_at,
        pulled_at: null,
        deleted_at,
        deleted_by: by,
        ends_at: new Date(deleted_at.getTime() + days * dayMs),
        untagged_at: deleted_at,
      }))
      for (const row of rows) await store.insertTag(tx, row)
      await recount(tx, repository.id)
      return rows
    })
    if (days === 0) for (const { id } of made) await purge(id)
  }

  const refuseImmutable = async (projectId: string, tags: readonly { name: string }[]): Promise<void> => {
    const patterns = await immutableTagsOf(projectId)
    const held = tags.find(({ name }) => isMeantByAny(patterns, name))
    if (held !== undefined) throw new Refusal('registryTagImmutable', { values: { tag: held.name } })
  }

  return {
    purge,

    /** What has been in the bin for its days. */
    async purgeEnded(): Promise<void> {
      for (const { id } of await store.endedBins(db, now(), endedAtOnce))
        await purge(id).catch((error: unknown) => log.warn({ err: error, tag: id }, 'a tag whose time in the bin is over could not be deleted'))
    },

    /** What the rules of projects leave goes to their bins, but what must not be deleted. */
    async applyRules(): Promise<void> {
      await index.restLoose()
      for (const project of await store.projectsWithRules(db)) {
        for (const tag of notKept(project.keep_rules, await store.tagsOfProject(db, project.id), now())) {
          if (isMeantByAny(project.immutable_tags, tag.name)) continue
          const repository = await store.repositoryById(db, tag.repository_id)
          if (repository !== undefined)
            await toBin(repository, tag, '').catch((error: unknown) => log.warn({ err: error, tag: tag.id }, 'a tag that no rule keeps could not be deleted'))
        }
      }
    },

    async keepPreview(
      { actor, context }: Asking,
      at: projects.ProjectAt,
      { keep_rules }: BodyOf<typeof registryProjects.keepPreview>,
    ): Promise<ResponseOf<typeof registryProjects.keepPreview>> {
      const project = found(await projects.showProject(db, scopeOf(actor), at))
      const all = await store.tagsOfProject(db, project.id)
      const left = notKept(keep_rules, all, now()).filter(({ name }) => !isMeantByAny(project.immutable_tags, name))
      // What somebody may not list is not listed by the way.
      const asks = deniesSome(actor.rules, 'ims.tag.list')
      const mayList = (repository: string): boolean =>
        !asks || deniedOn(actor, 'ims.tag.list', { kind: 'ims.tag', id: `${project.id}/${repository}` }, context) === null
      return {
        tag_count: left.length,
        kept_count: all.length - left.length,
        size_bytes: [...new Map(left.map(({ digest, size_bytes }) => [digest, size_bytes])).values()].reduce((sum, one) => sum + one, 0),
        items: left
          .filter(({ repository }) => mayList(repository))
          .slice(0, previewMost)
          .map(({ repository, name, pushed_at }) => ({ repository, tag: name, pushed_at: iso(pushed_at) })),
      }
    },

    async all(actor: Actor, id: string, query: QueryOf<Calls['all']>) {
      found(await getRegistry(db, id))
      return shapedPage(store.listRepositories(db, scopeOf(actor), { id }, query), shape)
    },

    async list(actor: Actor, at: ParamsOf<Calls['list']>, query: QueryOf<Calls['list']>) {
      found(await projects.readProject(db, scopeOf(actor), at))
      return shapedPage(store.listRepositories(db, scopeOf(actor), at, query), shape)
    },

    async get(actor: Actor, at: store.RepositoryAt): Promise<ResponseOf<Calls['get']>> {
      const row = await read(actor, at)
      const sizes = await store.sizesOf(db, row.id)
      return { ...shape(row), sizes: sizes.map((one) => ({ ...one, at: iso(one.at) })) }
    },

    async update(actor: Actor, at: store.RepositoryAt, { description }: BodyOf<Calls['update']>): Promise<Repository> {
      const row = await own(actor, at)
      await store.describeRepository(db, row.id, description)
      return shape({ ...row, description })
    },

    async tags(actor: Actor, at: store.RepositoryAt, query: QueryOf<Calls['tags']>) {
      const row = await read(actor, at)
      const patterns = await immutableTagsOf(row.project_id)
      return shapedPage(store.listTags(db, row.id, query), (tag) => shapeTag(tag, patterns))
    },

    async deleteTag(actor: Actor, { tag, ...at }: ParamsOf<Calls['deleteTag']>): Promise<void> {
      const row = await own(actor, at)
      const one = found(await store.getTag(db, row.id, tag))
      await refuseImmutable(row.project_id, [one])
      await toBin(row, one, actor.name)
    },

    async delete(actor: Actor, at: store.RepositoryAt): Promise<void> {
      const row = await own(actor, at)
      const tags = await store.tagsOf(db, row.id)
      await refuseImmutable(row.project_id, tags)
      for (const tag of tags) await toBin(row, tag, actor.name)
      await restLoose(row, actor.name)
    },

    /** All that a project has in its registry, for good. */
    async empty(project: projects.ProjectRow): Promise<void> {
      const client = await writerOf(project.registry_id)
      const manifests = await db
        .selectFrom('registry_manifests as m')
        .innerJoin('registry_repositories as r', 'r.id', 'm.repository_id')
        .where('r.project_id', '=', project.id)
        .select(['r.name', 'm.digest', 'm.children', 'm.size_bytes'])
        .execute()
      // Indexes first: a registry may refuse to delete what one still has.
      for (const { name, digest } of manifests.toSorted((one, other) => other.children.length - one.children.length))
        await asking(() => client.deleteManifest(`${project.name}/${name}`, digest))
      // What the index does not know would be whoever's has a project of that name next.
      for (const name of new Set(manifests.map((one) => one.name)))
        await asking(async () => {
          for (const tag of (await client.tags(`${project.name}/${name}`)).items) {
            const digest = await client.head(`${project.name}/${name}`, tag)
            if (digest !== null) await client.deleteManifest(`${project.name}/${name}`, digest)
          }
        })
      const freed = manifests.reduce((sum, one) => sum + (one.children.length === 0 ? one.size_bytes : 0), 0)
      await noteCollectable(db, project.registry_id, freed)
    },

    async buildHistory(actor: Actor, at: store.RepositoryAt, query: QueryOf<Calls['buildHistory']>): Promise<ResponseOf<Calls['buildHistory']>> {
      const row = await read(actor, at)
      const tag = found(await store.getTag(db, row.id, query.tag))
      const wanted = tag.platforms.find(
        (one) =>
          (query.os === undefined || one.os === query.os) &&
          (query.architecture === undefined || one.architecture === query.architecture) &&
          (query.variant === undefined || one.variant === query.variant),
      )
      if (wanted === undefined) throw new Refusal('registryPlatformUnknown', { field: 'architecture' })
      return asking(async () => {
        const client = await clientOf(row.registry_id)
        const manifest = found(await client.manifest(nameOf(row), wanted.digest))
        const content = parseManifest(manifest.bytes)
        if (content.kind !== 'manifest' || !isImageConfig(content.config.mediaType)) throw new Refusal('registryPlatformUnknown', { field: 'architecture' })
        const config = parseImageConfig(found(await client.blob(nameOf(row), content.config.digest)))
        const layers = [...content.layers]
        return {
          digest: wanted.digest,
          created_at: isoOrNull(config.createdAt),
          author: config.author,
          command: [...config.command],
          entrypoint: [...config.entrypoint],
          environment: [...config.environment],
          exposed_ports: [...config.exposedPorts],
          labels: { ...config.labels },
          items: config.history.map((step) => {
            const layer = step.emptyLayer ? undefined : layers.shift()
            return {
              created_at: isoOrNull(step.createdAt),
              created_by: step.createdBy,
              comment: step.comment,
              digest: layer?.digest ?? null,
              size_bytes: layer?.sizeBytes ?? 0,
            }
          }),
        }
      })
    },

    /** May be pushed to, also where nothing is yet. @throws Refusal where the project is not the actor's */
    async pushable(actor: Actor, at: store.RepositoryAt): Promise<string> {
      const project = found(await projects.showProject(db, scopeOf(actor), at))
      return `${project.name}/${at.name}`
    },
    async pullable(actor: Actor, at: store.RepositoryAt): Promise<string> {
      return nameOf(await read(actor, at))
    },

    async bin(actor: Actor, at: ParamsOf<Bin['list']>, query: QueryOf<Bin['list']>) {
      found(await projects.showProject(db, scopeOf(actor), at))
      return shapedPage(store.listBin(db, at.pid, query), shapeBinned)
    },

    async restore({ actor, context }: Asking, { bin_id, ...at }: ParamsOf<Bin['restore']>): Promise<ImageTag> {
      const project = found(await projects.showProject(db, scopeOf(actor), at))
      const row = found(await store.getBinned(db, at.pid, bin_id))
      // Which repository it is of is not said in the call.
      await refuseAlso(actor, [alsoInProject('ims.repository.push', { pid: at.pid, name: row.repository })], context)
      if ((await store.getTag(db, row.repository_id, row.name)) !== undefined) throw new Refusal('registryTagTaken', { values: { tag: row.name } })
      const name = `${project.name}/${row.repository}`
      const nameless = row.name === row.digest
      const gone = (cause?: unknown) => new Refusal('registryContentGone', { values: { digest: row.digest.slice(0, 19) }, cause })
      const client = await writerOf(at.id)
      await asking(async () => {
        const kept = await store.getManifest(db, row.repository_id, row.digest)
        const manifest = (await client.manifest(name, row.digest)) ?? (kept?.content == null ? null : { mediaType: kept.media_type, bytes: kept.content })
        if (manifest === null) throw gone()
        // Somebody pushed under its name, and the index has not heard of it yet.
        const there = nameless ? null : await client.head(name, row.name)
        if (there !== null && there !== row.digest) throw new Refusal('registryTagTaken', { values: { tag: row.name } })
        await client.putManifest(name, row.name, manifest).catch((error: unknown) => {
          // Of what it refers to something is gone.
          throw isEngineError(error, 'invalid') ? gone(error) : error
        })
      })
      const shown = shapeTag({ ...found(await store.tagById(db, row.id)) }, project.immutable_tags)
      await refusing({ registry_tags_name: () => new Refusal('registryTagTaken', { values: { tag: row.name } }) }, () =>
        db.transaction().execute(async (tx) => {
          found(await store.lockRepository(tx, row.repository_id))
          // Told of the push before we were: then it is there already.
          const there = await store.getTag(tx, row.repository_id, row.name)
          if (nameless || there?.digest === row.digest) await store.forgetTags(tx, [row.id])
          else await store.unbinTag(tx, row.id)
          await store.countRepository(tx, row.repository_id)
        }),
      )
      return shown
    },

    async deleteBinned({ actor, context }: Asking, { bin_id, ...at }: ParamsOf<Bin['delete']>): Promise<void> {
      found(await projects.showProject(db, scopeOf(actor), at))
      const row = found(await store.getBinned(db, at.pid, bin_id))
      await refuseAlso(actor, [alsoInProject('ims.tag.delete', { pid: at.pid, name: row.repository })], context)
      await purge(row.id)
    },
  }
}

const shape = (row: store.ShownRepository): Repository => ({
  name: row.name,
  description: row.description,
  project: { id: row.project_id, name: row.project_name },
  registry: { id: row.registry_id, name: row.registry_name },
  image: `${row.address}/${row.project_name}/${row.name}`,
  tag_count: row.tag_count,
  used_bytes: row.used_bytes,
  pull_count: row.pull_count,
  pushed_at: isoOrNull(row.pushed_at),
  pulled_at: isoOrNull(row.pulled_at),
  created_at: iso(row.created_at),
})

const shapeTag = (row: store.ShownTag, immutable: readonly string[]): ImageTag => ({
  name: row.name,
  digest: row.digest,
  kind: row.kind,
  media_type: row.kind === 'image' || row.artifact_type === '' ? row.media_type : row.artifact_type,
  size_bytes: row.size_bytes,
  platforms: row.platforms,
  chart: row.chart,
  immutable: isMeantByAny(immutable, row.name),
  pushed_by: row.pushed_by,
  pushed_at: iso(row.pushed_at),
  pulled_at: isoOrNull(row.pulled_at),
})

const shapeBinned = (row: store.BinnedRow): BinnedTag => ({
  id: row.id,
  repository: row.repository,
  name: row.name,
  digest: row.digest,
  size_bytes: row.size_bytes,
  deleted_by: row.deleted_by ?? '',
  deleted_at: iso(row.deleted_at ?? row.pushed_at),
  ends_at: iso(row.ends_at ?? row.pushed_at),
})
