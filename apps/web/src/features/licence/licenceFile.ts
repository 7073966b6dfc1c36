import type { Licence } from '@zhisuan/contract/sys/sys'
import { z } from 'zod'

/**
 * What a licence file says of itself, read here only to show it before it is imported: whether it
 * is genuine, the server decides.
 */
const payload = z.object({
  id: z.string(),
  customer: z.string(),
  /** Null fits every installation. */
  installation_id: z.string().nullable(),
  start_timestamp: z.int(),
  end_timestamp: z.int(),
  nodes: z.int().nullable(),
  cores: z.int().nullable(),
})
export type LicencePayload = z.output<typeof payload>

const begin = '-----BEGIN ZHISUAN LICENCE-----'
const end = '-----END ZHISUAN LICENCE-----'

/** Null for what cannot be one: cut off, or something else altogether. */
export function readLicenceFile(text: string): LicencePayload | null {
  const inner = text.trim()
  if (!inner.startsWith(begin) || !inner.endsWith(end)) return null
  const [body, signature, rest] = inner.slice(begin.length, -end.length).replace(/\s/g, '').split('.')
  if (body === undefined || signature === undefined || signature === '' || rest !== undefined) return null
  try {
    const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
    return payload.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    return null
  }
}

/** One line of what an import would change. */
export interface LicenceChange {
  readonly key: 'customer' | 'id' | 'start' | 'end' | 'nodes' | 'cores'
  readonly before: string | number | null
  readonly after: string | number | null
  readonly changed: boolean
  /** It would be less than now. */
  readonly less: boolean
}

const unlimited = Number.POSITIVE_INFINITY

export function changesOf(licence: Licence, next: LicencePayload): LicenceChange[] {
  const line = (key: LicenceChange['key'], before: string | number | null, after: string | number | null, less = false): LicenceChange => ({
    key,
    before,
    after,
    changed: before !== after,
    less,
  })
  return [
    line('customer', licence.customer, next.customer),
    line('id', licence.kind === 'evaluation' ? null : licence.id, next.id),
    line('start', licence.start_timestamp, next.start_timestamp),
    line('end', licence.end_timestamp, next.end_timestamp, next.end_timestamp < licence.end_timestamp),
    line('nodes', licence.nodes, next.nodes, (next.nodes ?? unlimited) < (licence.nodes ?? unlimited)),
    line('cores', licence.cores, next.cores, (next.cores ?? unlimited) < (licence.cores ?? unlimited)),
  ]
}

/** Why an import would be refused, or be regretted: said before it is tried. */
export type LicenceConcern = 'otherInstallation' | 'expired' | 'notYet' | 'nodesExceeded' | 'coresExceeded'

export function concernsOf(licence: Licence, next: LicencePayload, now: number): LicenceConcern[] {
  const concerns: LicenceConcern[] = []
  if (next.installation_id !== null && next.installation_id !== licence.installation_id) concerns.push('otherInstallation')
  if (next.end_timestamp < now) concerns.push('expired')
  else if (next.start_timestamp > now) concerns.push('notYet')
  if (next.nodes !== null && licence.nodes_used > next.nodes) concerns.push('nodesExceeded')
  if (next.cores !== null && licence.cores_used > next.cores) concerns.push('coresExceeded')
  return concerns
}
