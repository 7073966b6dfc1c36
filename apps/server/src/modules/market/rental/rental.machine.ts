import type { ContainerSpec } from '@zhisuan/contract/cis/container'
import { workspacePath, type RentalFault, type RentalStatus } from '@zhisuan/contract/market/rental'
import type { OfferRow } from '../market.tables.ts'
import { hourly } from '../offer/offer.terms.ts'

/** What somebody who rents one says of the machine itself. */
export type Wish = Pick<ContainerSpec, 'image' | 'command' | 'env'> & { readonly keep_running: boolean }

/** Ends when it is told to, and never by itself. */
const stayAwake = ['/bin/sh', '-c', 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done']

/** Its disk, as its organisation's volumes on the node are called. */
export const diskName = (rentalId: string): string => `rental-${rentalId}`

/** A machine of an offer as a container: without ports and directories of its host, and with its share of it and no more. */
export const specOf = (rentalId: string, wish: Wish, offer: Pick<OfferRow, 'milli_cpus_per_card' | 'memory_bytes_per_card'>, count: number) => ({
  image: wish.image,
  command: wish.command,
  entrypoint: wish.keep_running && wish.command.length === 0 ? stayAwake : [],
  env: wish.env,
  working_dir: null,
  ports: [],
  mounts: [{ type: 'volume' as const, name: diskName(rentalId), path: workspacePath, read_only: false }],
  restart: 'unless-stopped' as const,
  cpu_limit: (offer.milli_cpus_per_card * count) / 1_000,
  memory_limit_bytes: offer.memory_bytes_per_card * count,
  gpus: count,
  health: null,
})

type Prices = Parameters<typeof hourly>[0]

/** What it costs for an hour as it is, in minor units, beside what is paid in advance: as its table tells of its use. */
export function costNow(
  of: { status: RentalStatus; fault: RentalFault | null; running_at: Date | null; prepaid_until: Date | null; count: number },
  prices: Prices,
): bigint {
  if (of.fault !== null || of.running_at === null || of.prepaid_until !== null) return 0n
  const { running, stopped } = hourly(prices, of.count)
  if (of.status === 'running') return running
  return of.status === 'stopping' || of.status === 'stopped' || of.status === 'starting' ? stopped : 0n
}

/** Until a moment, in minor units: whole parts of seconds, rounded down. */
export const spentAt = (of: { charged: string; charged_until: Date; hourly: string }, now: Date): bigint =>
  BigInt(of.charged) + (BigInt(of.hourly) * BigInt(Math.max(0, now.getTime() - of.charged_until.getTime()))) / 3_600_000n
