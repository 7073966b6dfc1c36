import type { Secrets } from '../../../platform/secrets.ts'
import { z } from 'zod'

/** What lets somebody's browser into one port of one machine, as long as the session by which it was opened lasts. */
const passSchema = z.object({ id: z.uuid(), kind: z.enum(['ticket', 'entry']), rental_id: z.uuid(), port: z.int(), session_id: z.string(), ends: z.number() })
export type Pass = z.output<typeof passSchema>

const place = 'market.app'

export const sealPass = (secrets: Secrets, pass: Pass): string => Buffer.from(secrets.seal(JSON.stringify(pass), place)).toString('base64url')

/** Null where it is none, of another kind, or over. */
export function openPass(secrets: Secrets, sealed: string, kind: Pass['kind'], now: Date): Pass | null {
  try {
    const pass = passSchema.parse(JSON.parse(secrets.open(Buffer.from(sealed, 'base64url').toString(), place)))
    return pass.kind === kind && pass.ends > now.getTime() ? pass : null
  } catch {
    return null
  }
}

/** An origin of its own for each port of each machine: nothing that runs in one reaches another, nor the console. */
export const hostLabel = (rentalId: string, port: number): string => `${rentalId.replaceAll('-', '')}-${port}`
export function readHostLabel(label: string): { rental_id: string; port: number } | null {
  const [, a, b, c, d, e, port] = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})-(\d{1,5})$/.exec(label) ?? []
  const number = Number(port)
  return a === undefined || number < 1 || number > 65_535 ? null : { rental_id: [a, b, c, d, e].join('-'), port: number }
}
