import { z } from 'zod'
import { sourceTypes, type InstanceTyped } from './instanceForm.ts'

const id = z.string().nullable().optional().catch(undefined)
const text = z.string().optional().catch(undefined)
const disk = z.object({
  size_bytes: z.number().nullable().optional(),
  volume_type: z.string().nullable().optional(),
  delete_on_termination: z.boolean().optional(),
})

/** What was typed on the page that creates instances. Each field that is not what it should be counts as not typed. */
const draft = z.object({
  source: z
    .object({
      type: z.enum(sourceTypes).optional(),
      image_id: id,
      volume_id: id,
      snapshot_id: id,
      on_volume: z.boolean().optional(),
      disk: disk.optional(),
      delete_on_termination: z.boolean().optional(),
    })
    .optional()
    .catch(undefined),
  flavor_id: id,
  disks: z.array(disk).optional().catch(undefined),
  networks: z
    .array(z.object({ network_id: id, address: text }))
    .optional()
    .catch(undefined),
  security_group_ids: z.array(z.string()).optional().catch(undefined),
  key_pair_id: id,
  user_data: text,
  server_group_id: id,
  zone: id,
  project_id: id,
  metadata: z
    .array(z.object({ key: text, value: text }))
    .optional()
    .catch(undefined),
  tags: z.array(z.string()).optional().catch(undefined),
  name: text,
  description: text,
  count: z.number().nullable().optional().catch(undefined),
})

/** Somebody else who signs in to the same tab must not find it, nor is it for another cloud: ids are a cloud's own. */
const stored = z.object({ user_id: z.string(), cloud_id: z.string(), draft })

const key = 'draft:compute.instance.create'

/** Whether anything of it was typed, rather than chosen for the person. */
const isWorthKeeping = ({ name, description, user_data, source, flavor_id, tags = [], metadata = [] }: z.output<typeof draft>): boolean =>
  [name, description, user_data, source?.image_id, source?.volume_id, source?.snapshot_id, flavor_id].some(
    (one) => one !== undefined && one !== null && one !== '',
  ) ||
  tags.length > 0 ||
  metadata.length > 0

export function readDraft(storage: Pick<Storage, 'getItem'>, userId: string, cloudId: string): InstanceTyped | null {
  try {
    const found = stored.parse(JSON.parse(storage.getItem(key) ?? 'null'))
    // JSON has no undefined, so that what is absent is absent.
    return found.user_id === userId && found.cloud_id === cloudId && isWorthKeeping(found.draft)
      ? (JSON.parse(JSON.stringify(found.draft)) as InstanceTyped)
      : null
  } catch {
    return null
  }
}

/** Keeps what the schema knows: a password is not in it, so none is ever stored. */
export function writeDraft(storage: Pick<Storage, 'setItem'>, userId: string, cloudId: string, values: InstanceTyped): void {
  try {
    storage.setItem(key, JSON.stringify({ user_id: userId, cloud_id: cloudId, draft: draft.parse(values) }))
  } catch {
    // A full or forbidden storage costs the draft, not the form.
  }
}

export const clearDraft = (storage: Pick<Storage, 'removeItem'>): void => storage.removeItem(key)
