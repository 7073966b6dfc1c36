import { z } from 'zod'
import { byId, defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { reference, sizeBytes } from '../resource.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, plainLine, plainText } from '../validation.ts'
import { digest, projectName, repositoryName, tagName, tagPattern } from './names.ts'
import { registriesPath } from './registry.ts'
import { alsoInProject, subjectInProject, subjectProject } from './rights.ts'

/** `public`: everybody pulls, signed in or not. `private`: who may in its organisation. */
export const projectVisibilities = ['public', 'private'] as const

/** Which tags stay, of each repository that `repositories` means. What no rule keeps goes to the bin. */
export const keepRule = z.object({
  repositories: z.array(tagPattern.or(repositoryName)).min(1).max(20).default(['*']),
  tags: z.array(tagPattern).min(1).max(20).default(['*']),
  /** Of those the newest so many, and all that were pushed or pulled within so many days; null: does not count. */
  newest: z.int().min(1).max(10_000).nullable().default(null),
  days: z.int().min(1).max(3_650).nullable().default(null),
})
export type KeepRule = z.output<typeof keepRule>

const settings = {
  description: description.default(''),
  visibility: z.enum(projectVisibilities).default('private'),
  /** Tags that are never moved nor deleted once they are there. */
  immutable_tags: z.array(tagPattern).max(20).default([]),
  /** None: everything stays. */
  keep_rules: z.array(keepRule).max(10).default([]),
  /** So long what was deleted can be brought back. 0: it goes at once. */
  bin_days: z.int().min(0).max(90).default(7),
} as const

export const registryProject = z.object({
  id: z.uuid(),
  registry_id: z.uuid(),
  name: z.string(),
  ...settings,
  description: z.string(),
  visibility: z.enum(projectVisibilities),
  immutable_tags: z.array(z.string()),
  keep_rules: z.array(keepRule),
  bin_days: z.int(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  /** Null: no limit of its own. */
  quota_bytes: z.number().nullable(),
  used_bytes: z.number(),
  repository_count: z.int(),
  tag_count: z.int(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type RegistryProject = z.output<typeof registryProject>

const projectsPath = `${registriesPath}/{id}/projects`
export const byProject = byId.extend({ pid: z.uuid() })

export const registryProjects = {
  list: defineCall({
    id: 'ims.project.list',
    method: 'GET',
    path: projectsPath,
    summary: 'Projects of a registry: one’s own, and public ones where that is asked for',
    access: tenants,
    params: byId,
    query: listQuery(['name', 'created_at', 'used_bytes'], { keyword, visibility: z.enum(projectVisibilities).optional(), everybody: flag.default(false) }),
    response: listOf(registryProject),
  }),
  create: defineCall({
    id: 'ims.project.create',
    also: ({ body }) => ((body?.keep_rules.length ?? 0) > 0 ? [{ action: 'ims.tag.delete' }] : []),
    method: 'POST',
    path: projectsPath,
    summary: 'Make a project',
    access: tenants,
    params: byId,
    status: 201,
    body: z.object({ name: projectName, ...settings }),
    response: registryProject,
  }),
  update: defineCall({
    id: 'ims.project.update',
    subjectId: subjectProject,
    also: ({ params, body }) => ((body?.keep_rules.length ?? 0) > 0 ? [alsoInProject('ims.tag.delete', params)] : []),
    method: 'PUT',
    path: `${projectsPath}/{pid}`,
    summary: 'Change a project; its name stays. Whose it is, and how much it may hold, only the platform’s administrators say',
    access: tenants,
    params: byProject,
    body: z.object({ ...settings, bp_id: z.uuid().nullable().optional(), quota_bytes: sizeBytes.nullable().optional() }),
    response: registryProject,
  }),
  delete: defineCall({
    id: 'ims.project.delete',
    subjectId: subjectProject,
    also: ({ params }) => [alsoInProject('ims.repository.delete', params), alsoInProject('ims.tag.delete', params)],
    method: 'DELETE',
    path: `${projectsPath}/{pid}`,
    summary: 'Delete a project; with repositories in it only by force, and then for good',
    access: tenants,
    params: byProject,
    query: z.object({ force: flag.default(false) }),
    response: empty,
  }),
  keepPreview: defineCall({
    id: 'ims.project.keepPreview',
    subjectId: subjectProject,
    // It names tags.
    also: ({ params }) => [alsoInProject('ims.tag.list', params)],
    method: 'POST',
    path: `${projectsPath}/{pid}/keep-rules/preview`,
    summary: 'What these rules would send to the bin now, the first thousand, and how much that is',
    access: tenants,
    params: byProject,
    audit: false,
    body: z.object({ keep_rules: z.array(keepRule).max(10) }),
    response: z.object({
      tag_count: z.int(),
      kept_count: z.int(),
      size_bytes: z.number(),
      items: z.array(z.object({ repository: z.string(), tag: z.string(), pushed_at: moment })),
    }),
  }),
} as const

/** What an image is for. */
export const platform = z.object({ os: z.string(), architecture: z.string(), variant: z.string().nullable(), digest, size_bytes: z.number() })

/** `image`: what containers are made of, for one platform or several. `chart`: of Helm. `artifact`: whatever else, by its media type. */
export const artifactKinds = ['image', 'chart', 'artifact'] as const

export const imageTag = z.object({
  name: z.string(),
  digest: z.string(),
  kind: z.enum(artifactKinds),
  /** Of the manifest, or of what the artifact says that it is. */
  media_type: z.string(),
  /** Of all that it refers to, together. */
  size_bytes: z.number(),
  /** Those of an index are one thing; of a chart none. */
  platforms: z.array(platform),
  /** Of a chart: its own version and that of what it installs. */
  chart: z.object({ version: z.string(), app_version: z.string().nullable() }).nullable(),
  immutable: z.boolean(),
  pushed_by: z.string().nullable(),
  pushed_at: moment,
  pulled_at: moment.nullable(),
})
export type ImageTag = z.output<typeof imageTag>

export const repository = z.object({
  /** Within its project. */
  name: z.string(),
  description: z.string(),
  project: reference,
  registry: reference,
  /** With which it is pulled: address, project and name. */
  image: z.string(),
  tag_count: z.int(),
  used_bytes: z.number(),
  pull_count: z.int(),
  pushed_at: moment.nullable(),
  pulled_at: moment.nullable(),
  created_at: moment,
})
export type Repository = z.output<typeof repository>

const platformPart = z.string().max(32).regex(plainLine, fieldTexts.controlCharacters).optional()

const byRepository = byProject.extend({ name: repositoryName })
const byTag = byRepository.extend({ tag: tagName })
const repositoriesPath = `${projectsPath}/{pid}/repositories`
const repositoryFilters = listQuery(['name', 'pushed_at', 'pulled_at', 'used_bytes'], { keyword })

export const repositories = {
  all: defineCall({
    id: 'ims.repository.all',
    method: 'GET',
    path: `${registriesPath}/{id}/repos`,
    summary: 'Repositories of all projects that one may pull from',
    access: tenants,
    params: byId,
    query: repositoryFilters,
    response: listOf(repository),
  }),
  list: defineCall({
    id: 'ims.repository.list',
    subjectId: subjectInProject,
    method: 'GET',
    path: repositoriesPath,
    summary: 'Repositories of a project',
    access: tenants,
    params: byProject,
    query: repositoryFilters,
    response: listOf(repository),
  }),
  get: defineCall({
    id: 'ims.repository.get',
    subjectId: subjectInProject,
    method: 'GET',
    path: `${repositoriesPath}/{name}`,
    summary: 'One repository, with how its size became what it is',
    access: tenants,
    params: byRepository,
    response: repository.extend({ sizes: z.array(z.object({ at: moment, used_bytes: z.number(), tag_count: z.int() })) }),
  }),
  update: defineCall({
    id: 'ims.repository.update',
    subjectId: subjectInProject,
    method: 'PUT',
    path: `${repositoriesPath}/{name}`,
    summary: 'Change what is told of it: Markdown, without raw HTML',
    access: tenants,
    params: byRepository,
    body: z.object({ description: z.string().max(20_000).regex(plainText, fieldTexts.controlCharacters) }),
    response: repository,
  }),
  delete: defineCall({
    outside: true,
    id: 'ims.repository.delete',
    subjectId: subjectInProject,
    also: ({ params }) => [alsoInProject('ims.tag.delete', params)],
    method: 'DELETE',
    path: `${repositoriesPath}/{name}`,
    summary: 'Send all its tags to the bin; a repository without any goes',
    access: tenants,
    params: byRepository,
    response: empty,
  }),
  tags: defineCall({
    id: 'ims.tag.list',
    subjectId: subjectInProject,
    method: 'GET',
    path: `${repositoriesPath}/{name}/tags`,
    summary: 'Tags of a repository',
    access: tenants,
    params: byRepository,
    query: listQuery(['name', 'pushed_at', 'pulled_at', 'size_bytes'], { keyword, digest: digest.optional() }),
    response: listOf(imageTag),
  }),
  deleteTag: defineCall({
    outside: true,
    id: 'ims.tag.delete',
    subjectId: subjectInProject,
    method: 'DELETE',
    path: `${repositoriesPath}/{name}/tags/{tag}`,
    summary: 'Send a tag to the bin; other tags of the same digest stay',
    access: tenants,
    params: byTag,
    response: empty,
  }),
  buildHistory: defineCall({
    id: 'ims.repository.buildHistory',
    subjectId: subjectInProject,
    also: ({ params }) => [alsoInProject('ims.repository.pull', params)],
    method: 'GET',
    path: `${repositoriesPath}/{name}/build-history`,
    summary: 'How an image was built: a line for each step, with the layer that it made',
    access: tenants,
    params: byRepository,
    query: z.object({ tag: tagName, os: platformPart, architecture: platformPart, variant: platformPart }),
    response: z.object({
      digest,
      created_at: moment.nullable(),
      author: z.string().nullable(),
      command: z.array(z.string()),
      entrypoint: z.array(z.string()),
      environment: z.array(z.string()),
      exposed_ports: z.array(z.string()),
      labels: z.record(z.string(), z.string()),
      items: z.array(
        z.object({ created_at: moment.nullable(), created_by: z.string(), comment: z.string(), digest: z.string().nullable(), size_bytes: z.number() }),
      ),
    }),
  }),
} as const

/** What was deleted and can be brought back. */
export const binnedTag = z.object({
  id: z.uuid(),
  repository: z.string(),
  name: z.string(),
  digest: z.string(),
  size_bytes: z.number(),
  deleted_by: z.string(),
  deleted_at: moment,
  /** When it goes for good. */
  ends_at: moment,
})
export type BinnedTag = z.output<typeof binnedTag>
const byBinned = byProject.extend({ bin_id: z.uuid() })

export const tagBin = {
  list: defineCall({
    id: 'ims.tagBin.list',
    subjectId: subjectInProject,
    method: 'GET',
    path: `${projectsPath}/{pid}/bin`,
    summary: 'Tags that were deleted and can be brought back',
    access: tenants,
    params: byProject,
    query: listQuery(['name', 'deleted_at', 'ends_at'], { keyword }),
    response: listOf(binnedTag),
  }),
  restore: defineCall({
    outside: true,
    id: 'ims.tagBin.restore',
    subjectId: subjectInProject,
    also: ({ params }) => [alsoInProject('ims.repository.push', params)],
    method: 'POST',
    path: `${projectsPath}/{pid}/bin/{bin_id}`,
    summary: 'Bring a tag back, with its digest. 409 where a tag has that name meanwhile',
    access: tenants,
    params: byBinned,
    response: imageTag,
  }),
  delete: defineCall({
    outside: true,
    id: 'ims.tagBin.delete',
    subjectId: subjectInProject,
    also: ({ params }) => [alsoInProject('ims.tag.delete', params)],
    method: 'DELETE',
    path: `${projectsPath}/{pid}/bin/{bin_id}`,
    summary: 'Delete it for good',
    access: tenants,
    params: byBinned,
    response: empty,
  }),
} as const

const registryToken = z.object({
  /** For `Authorization: Bearer` at the registry. */
  token: z.string(),
  expires_at: moment,
})

/**
 * What programs get by `docker login`, asked for by a call: so that policies have actions to name, and scripts need no
 * password for the registries. The registry's own way to a token asks for the same rights.
 */
export const repositoryAccess = {
  pull: defineCall({
    id: 'ims.repository.pull',
    subjectId: subjectInProject,
    method: 'POST',
    path: `${repositoriesPath}/{name}/pull-tokens`,
    summary: 'A token that pulls from a repository, for some minutes',
    access: tenants,
    params: byRepository,
    audit: false,
    response: registryToken,
  }),
  push: defineCall({
    id: 'ims.repository.push',
    subjectId: subjectInProject,
    also: ({ params }) => [alsoInProject('ims.repository.pull', params)],
    method: 'POST',
    path: `${repositoriesPath}/{name}/push-tokens`,
    summary: 'A token that pushes to a repository, and pulls from it, for some minutes',
    access: tenants,
    params: byRepository,
    response: registryToken,
  }),
} as const
