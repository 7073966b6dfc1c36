import type { GpuHealth } from '@zhisuan/contract/agent/node'
import type { CardTrouble } from '@zhisuan/contract/market/card'

/**
 * Xid errors that are of the hardware, by NVIDIA's list: double bit errors, failed remapping of rows, NVLink, fallen off the
 * bus, uncontained memory errors, a GSP that does not answer. All others, such as 13 and 31, programs make themselves.
 */
const hardwareXids: ReadonlySet<number> = new Set([48, 64, 74, 79, 92, 95, 119, 120, 140])

export interface Trouble {
  readonly trouble: CardTrouble
  /** Such as the number of the Xid. */
  readonly detail: string
}

/** What is known of the cards of a node by one report of its agent. */
export interface CardReport {
  readonly uuid: string
  readonly health?: GpuHealth | undefined
}

/**
 * Why a card must not be rented out; null where nothing is wrong.
 * @param reported of all cards of its node: of none where the driver does not answer
 * @param clearedAt what the driver told of before was seen to
 */
export function troubleOf(uuid: string, reported: readonly CardReport[], clearedAt: Date | null): Trouble | null {
  if (reported.length === 0) return { trouble: 'driver', detail: '' }
  const one = reported.find((report) => report.uuid === uuid)
  if (one === undefined || one.health?.lost === true) return { trouble: 'lost', detail: '' }
  const { health } = one
  if (health === undefined) return null
  const xid = health.xids.findLast(({ code, at }) => hardwareXids.has(code) && (clearedAt === null || Date.parse(at) > clearedAt.getTime()))
  if (xid !== undefined) return { trouble: 'xid', detail: String(xid.code) }
  if ((health.uncorrected_errors ?? 0) > 0) return { trouble: 'ecc', detail: String(health.uncorrected_errors) }
  if (health.slowed_by_heat === true) return { trouble: 'hot', detail: '' }
  return null
}
