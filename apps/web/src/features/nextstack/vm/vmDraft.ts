import { vmTypes } from '@zhisuan/contract/nextstack/vm'
import { z } from 'zod'

/**
 * What was typed on the page that creates instances, as it stands in the form. Each field that is
 * not what it should be counts as not typed.
 */
const draft = z.object({
  cloud_id: z.uuid().optional().catch(undefined),
  type: z.enum(vmTypes).optional().catch(undefined),
  image_fingerprint: z.string().optional().catch(undefined),
  flavor_id: z.uuid().optional().catch(undefined),
  disk_bytes: z.number().optional().catch(undefined),
  network: z.string().optional().catch(undefined),
  security_group_ids: z.array(z.uuid()).optional().catch(undefined),
  key_pair_ids: z.array(z.uuid()).optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  count: z.number().optional().catch(undefined),
  ssh_public_key: z.string().optional().catch(undefined),
  user_data: z.string().optional().catch(undefined),
})
export type VmDraft = z.output<typeof draft>

/** Somebody else who signs in to the same tab must not find it. */
const stored = z.object({ user_id: z.string(), chosen: z.string().nullable().catch(null), draft })

const key = 'draft:nextstack.vm.create'

/** Whether anything of it was typed, rather than chosen for the person. */
const isWorthKeeping = ({ name, description, ssh_public_key, user_data, image_fingerprint }: VmDraft): boolean =>
  [name, description, ssh_public_key, user_data, image_fingerprint].some((text) => text !== undefined && text !== '')

/** What is a cloud's own: of another one it means nothing. */
const elsewhere = { cloud_id: undefined, image_fingerprint: undefined, flavor_id: undefined, network: undefined, security_group_ids: undefined } as const

/** @param chosen the cloud that was chosen last: where that was after the draft was written, it counts and not the draft's */
export function readDraft(storage: Pick<Storage, 'getItem'>, userId: string, chosen: string | null): VmDraft | null {
  try {
    const found = stored.parse(JSON.parse(storage.getItem(key) ?? 'null'))
    if (found.user_id !== userId || !isWorthKeeping(found.draft)) return null
    const since = chosen !== null && chosen !== found.chosen && chosen !== found.draft.cloud_id
    return since ? { ...found.draft, ...elsewhere } : found.draft
  } catch {
    return null
  }
}

/** Keeps what the schema knows: a password is not in it, so none is ever stored. */
export function writeDraft(storage: Pick<Storage, 'setItem'>, userId: string, chosen: string | null, values: Readonly<Record<string, unknown>>): void {
  try {
    storage.setItem(key, JSON.stringify({ user_id: userId, chosen, draft: draft.parse(values) }))
  } catch {
    // A full or forbidden storage costs the draft, not the form.
  }
}

export const clearDraft = (storage: Pick<Storage, 'removeItem'>): void => storage.removeItem(key)
