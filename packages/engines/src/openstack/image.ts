import { Transform, pipeline, type Readable } from 'node:stream'
import { z } from 'zod'
import type { Query, Session } from './session.ts'

const text = z.string().nullish()
export type ImageVisibility = 'public' | 'private' | 'shared' | 'community'
export type DiskFormat = 'raw' | 'qcow2' | 'iso' | 'vmdk' | 'vhd' | 'vhdx' | 'vdi' | 'aki' | 'ari' | 'ami'

/** Image API v2, "Show image". What an operator or user has written about it stands beside, each in a field of its own. */
export const imageSchema = z
  .object({
    id: z.string(),
    name: text,
    status: z.enum(['queued', 'saving', 'uploading', 'importing', 'active', 'killed', 'deleted', 'pending_delete', 'deactivated']),
    visibility: z.enum(['public', 'private', 'shared', 'community']).nullish(),
    owner: text,
    disk_format: text,
    container_format: text,
    size: z.number().nullish(),
    virtual_size: z.number().nullish(),
    min_disk: z.number().nullish(),
    min_ram: z.number().nullish(),
    protected: z.boolean().nullish(),
    checksum: text,
    os_hash_algo: text,
    os_hash_value: text,
    os_distro: text,
    os_type: text,
    image_type: text,
    instance_uuid: text,
    tags: z.array(z.string()).nullish(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    status: raw.status,
    visibility: raw.visibility ?? 'private',
    projectId: raw.owner ?? null,
    diskFormat: raw.disk_format ?? null,
    sizeBytes: raw.size ?? null,
    virtualSizeBytes: raw.virtual_size ?? null,
    minDiskGib: raw.min_disk ?? 0,
    minMemoryMib: raw.min_ram ?? 0,
    protected: raw.protected === true,
    /** `sha512:…`, of what was uploaded. */
    digest:
      raw.os_hash_algo === null || raw.os_hash_algo === undefined || raw.os_hash_value === null || raw.os_hash_value === undefined
        ? null
        : `${raw.os_hash_algo}:${raw.os_hash_value}`,
    distribution: raw.os_distro ?? null,
    osType: raw.os_type ?? null,
    /** Made from a server, not uploaded. */
    snapshot: raw.image_type === 'snapshot',
    /** The server that it was made from. */
    instanceId: raw.instance_uuid ?? null,
    tags: raw.tags ?? [],
    createdAt: new Date(raw.created_at),
    updatedAt: new Date(raw.updated_at),
  }))
export type Image = z.output<typeof imageSchema>

const member = z
  .object({ member_id: z.string(), status: z.enum(['pending', 'accepted', 'rejected']), updated_at: z.string() })
  .transform((raw) => ({ projectId: raw.member_id, status: raw.status, updatedAt: new Date(raw.updated_at) }))
export type ImageMember = z.output<typeof member>

export interface ImageWish {
  readonly name: string
  readonly diskFormat: DiskFormat
  readonly visibility?: ImageVisibility
  readonly minDiskGib?: number
  readonly minMemoryMib?: number
  readonly tags?: readonly string[]
  /** Further fields, such as `os_distro` or `hw_disk_bus`. */
  readonly properties?: Readonly<Record<string, string>>
}

const at = (id: string, ...more: readonly string[]): string => `/images/${[id, ...more].map(encodeURIComponent).join('/')}`

/** Counts what goes through. */
function counted(content: Readable, tell: (sentBytes: number) => void): Readable {
  let sent = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length
      tell(sent)
      done(null, chunk)
    },
  })
  // Whoever sends it hears of an error where it reads.
  pipeline(content, counter, () => undefined)
  return counter
}

/** Glance (Image API v2, https://docs.openstack.org/api-ref/image/v2/). */
export function createImages(session: Session) {
  const get = (id: string, signal?: AbortSignal): Promise<Image> => session.json('image', imageSchema, { path: at(id), signal })
  const send = async (
    id: string,
    part: 'file' | 'stage',
    content: Readable,
    options: { progress?: (sentBytes: number) => void; signal?: AbortSignal | undefined },
  ): Promise<void> => {
    try {
      // Content can be sent only once: a token that is refused is noticed before.
      await get(id, options.signal)
    } catch (error) {
      content.destroy()
      throw error
    }
    const { progress } = options
    await session.upload('image', {
      method: 'PUT',
      path: at(id, part),
      content: progress === undefined ? content : counted(content, progress),
      signal: options.signal,
    })
  }
  const patch = (id: string, changes: readonly object[], signal?: AbortSignal): Promise<Image> =>
    session.json('image', imageSchema, {
      method: 'PATCH',
      path: at(id),
      body: changes,
      headers: { 'content-type': 'application/openstack-images-v2.1-json-patch' },
      signal,
    })

  return {
    /** @param query filters of "List images": `visibility`, `status`, `name`, `owner`, `member_status` … */
    list: (query: Query = {}, signal?: AbortSignal) => session.pages('image', { path: '/images', key: 'images', schema: imageSchema, query, signal }),
    get,
    /** An entry without content: `queued` until it is uploaded or imported. */
    create: (wish: ImageWish, signal?: AbortSignal): Promise<Image> =>
      session.json('image', imageSchema, {
        method: 'POST',
        path: '/images',
        body: {
          ...wish.properties,
          name: wish.name,
          disk_format: wish.diskFormat,
          container_format: 'bare',
          visibility: wish.visibility ?? 'private',
          ...(wish.minDiskGib !== undefined && { min_disk: wish.minDiskGib }),
          ...(wish.minMemoryMib !== undefined && { min_ram: wish.minMemoryMib }),
          ...(wish.tags !== undefined && { tags: wish.tags }),
        },
        signal,
      }),
    /** Then it is `active`. What broke off leaves it `queued`, to be uploaded again. */
    upload: (id: string, content: Readable, options: { progress?: (sentBytes: number) => void; signal?: AbortSignal } = {}) =>
      send(id, 'file', content, options),
    /** To be taken in by `import` of the way `glance-direct`. */
    stage: (id: string, content: Readable, options: { progress?: (sentBytes: number) => void; signal?: AbortSignal } = {}) =>
      send(id, 'stage', content, options),
    /** Begins to take in what was staged, or what stands at an address that the cloud can reach. */
    import: (id: string, from: 'staged' | { url: string }, signal?: AbortSignal) =>
      session.done('image', {
        method: 'POST',
        path: at(id, 'import'),
        body: { method: from === 'staged' ? { name: 'glance-direct' } : { name: 'web-download', uri: from.url } },
        signal,
      }),
    /** `glance-direct`, `web-download` … */
    async importMethods(signal?: AbortSignal): Promise<string[]> {
      return (await session.json('image', z.object({ 'import-methods': z.object({ value: z.array(z.string()) }) }), { path: '/info/import', signal }))[
        'import-methods'
      ].value
    },
    download: (id: string, signal?: AbortSignal) => session.download('image', { path: at(id, 'file'), signal }),
    /** @param changes.properties further fields, such as `os_distro`; null takes one away that is there */
    update(
      id: string,
      changes: {
        name?: string
        visibility?: ImageVisibility
        protected?: boolean
        minDiskGib?: number
        minMemoryMib?: number
        tags?: readonly string[]
        properties?: Readonly<Record<string, string | null>>
      },
      signal?: AbortSignal,
    ): Promise<Image> {
      const fields = {
        name: changes.name,
        visibility: changes.visibility,
        protected: changes.protected,
        min_disk: changes.minDiskGib,
        min_ram: changes.minMemoryMib,
        tags: changes.tags,
      }
      return patch(
        id,
        [
          ...Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [{ op: 'replace', path: `/${field}`, value }])),
          ...Object.entries(changes.properties ?? {}).map(([field, value]) =>
            value === null ? { op: 'remove', path: `/${field}` } : { op: 'add', path: `/${field}`, value },
          ),
        ],
        signal,
      )
    },
    /** Nobody can use its content any more, or everybody again. */
    setActive: (id: string, active: boolean, signal?: AbortSignal) =>
      session.done('image', { method: 'POST', path: at(id, 'actions', active ? 'reactivate' : 'deactivate'), signal }),
    /** @throws OpenStackError `unauthorized` of a protected one, `busy` of one in use */
    delete: (id: string, signal?: AbortSignal) => session.done('image', { method: 'DELETE', path: at(id), signal }),
    /** Projects that a `shared` image is offered to. */
    members: {
      async list(id: string, signal?: AbortSignal): Promise<ImageMember[]> {
        return (await session.json('image', z.object({ members: z.array(member) }), { path: at(id, 'members'), signal })).members
      },
      add: (id: string, projectId: string, signal?: AbortSignal): Promise<ImageMember> =>
        session.json('image', member, { method: 'POST', path: at(id, 'members'), body: { member: projectId }, signal }),
      /** By the project that it is offered to. */
      answer: (id: string, projectId: string, status: 'accepted' | 'rejected' | 'pending', signal?: AbortSignal): Promise<ImageMember> =>
        session.json('image', member, { method: 'PUT', path: at(id, 'members', projectId), body: { status }, signal }),
      remove: (id: string, projectId: string, signal?: AbortSignal) => session.done('image', { method: 'DELETE', path: at(id, 'members', projectId), signal }),
    },
  }
}
export type Images = ReturnType<typeof createImages>
