import type { CardHealth, CardTrouble, NodeCheck } from '@zhisuan/contract/market/card'
import type { OfferMode, OfferStatus } from '@zhisuan/contract/market/offer'
import type { RentalFault, RentalStatus, StopReason } from '@zhisuan/contract/market/rental'
import type { ProviderStatus } from '@zhisuan/contract/market/provider'
import type { ColumnType, Generated, Selectable } from 'kysely'

interface Authored {
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface ProviderTable extends Authored {
  id: string
  bp_id: string | null
  name: string
  contact: string
  description: string
  status: Generated<ProviderStatus>
  reason: Generated<string | null>
  verified_at: ColumnType<Date | null, Date | undefined, Date | null>
}
export interface Check {
  readonly check: NodeCheck
  readonly passed: boolean
  readonly value: string
}
interface NodeTable {
  /** The node's. */
  id: string
  bp_id: string | null
  name: string
  listed: Generated<boolean>
  tested_at: Date | null
  test_passed: Generated<boolean>
  checks: ColumnType<Check[], string | undefined, string>
}
interface CardTable {
  id: string
  edge_id: string
  uuid: string
  index: number
  model: string
  memory_bytes: number
  driver: string
  cuda: string | null
  health: Generated<CardHealth>
  trouble: CardTrouble | null
  trouble_detail: Generated<string>
  health_since: Generated<Date>
  cleared_at: Date | null
  seen_at: Generated<Date>
  /** Another node told of the very card before, and still does. */
  elsewhere: Generated<boolean>
}
interface HoldTable {
  id: string
  card_id: string
  rental_id: string
  /** That uses it: as long as that may run, the card is nobody else's. */
  container_id: string
  held_at: Generated<Date>
  released_at: Date | null
}
/** Who has a card next. */
interface ClaimTable {
  card_id: string
  rental_id: string
  claimed_at: Generated<Date>
}
/** A view: each card with all that decides whether it can be rented. */
interface StockView extends Omit<Selectable<CardTable>, 'cleared_at'> {
  edge_name: string
  bp_id: string | null
  provider_id: string | null
  provider_name: string | null
  region_id: string | null
  region_name: string | null
  listed: boolean
  held: boolean
  reachable: boolean
  rentable: boolean
}
interface OfferTable extends Authored {
  id: string
  bp_id: string | null
  provider_id: string
  edge_id: string | null
  mode: OfferMode
  card_model: string
  most_cards: number
  milli_cpus_per_card: number
  memory_bytes_per_card: number
  disk_bytes_per_card: number
  card_price: string
  disk_price: string
  stopped_disk_price: string
  day_price: string | null
  week_price: string | null
  month_price: string | null
  grace_seconds: number | null
  status: Generated<OfferStatus>
  reason: Generated<string | null>
  decided_at: ColumnType<Date | null, Date | undefined, Date | null>
}
interface RentalTable extends Authored {
  id: string
  bp_id: string
  project_id: string | null
  name: string
  offer_id: string
  provider_id: string
  edge_id: string | null
  container_id: string | null
  count: number
  disk_bytes: number
  wish: string
  image: string
  alternatives: boolean
  status: Generated<RentalStatus>
  fault: ColumnType<RentalFault | null, undefined, RentalFault | null>
  fault_at: ColumnType<Date | null, undefined, Date | null>
  stop_reason: ColumnType<StopReason | null, undefined, StopReason | null>
  error_text: ColumnType<string | null, undefined, string | null>
  attempts: ColumnType<Attempt[], string | undefined, string>
  card_ids: Generated<string[]>
  charged: Generated<string>
  charged_until: Generated<Date>
  hourly: Generated<string>
  spend_limit: string | null
  ends_at: Date | null
  idle_minutes: number | null
  idle_since: ColumnType<Date | null, undefined, Date | null>
  /** When the server that its node tells said last that it has nothing to do. */
  idle_told_at: ColumnType<Date | null, undefined, Date | null>
  release_at: ColumnType<Date | null, undefined, Date | null>
  prepaid_until: ColumnType<Date | null, undefined, Date | null>
  interrupt_at: ColumnType<Date | null, undefined, Date | null>
  waits_until: ColumnType<Date | null, undefined, Date | null>
  running_at: ColumnType<Date | null, undefined, Date | null>
  stopped_at: ColumnType<Date | null, undefined, Date | null>
  released_at: ColumnType<Date | null, undefined, Date | null>
}
export interface Attempt {
  readonly provider: string
  readonly edge_id: string
  readonly reason: string
  readonly at: string
}
interface DoorTable {
  one: boolean
  sealed: string
}
interface TicketTable {
  id: string
  spent_at: Generated<Date>
}
interface WaitTable {
  id: string
  bp_id: string
  offer_id: string
  count: number
  ends_at: Date
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
}
interface HistoryTable {
  offer_id: string
  hour: Date
  samples: number
  total: number
  free: number
}
interface ClockTable {
  id: Generated<boolean>
  seen_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    market_providers: ProviderTable
    market_nodes: NodeTable
    market_cards: CardTable
    market_holds: HoldTable
    market_stock: StockView
    market_claims: ClaimTable
    market_offers: OfferTable
    market_rentals: RentalTable
    market_clock: ClockTable
    market_history: HistoryTable
    market_waits: WaitTable
    market_door: DoorTable
    market_tickets: TicketTable
  }
}
export type ProviderRow = Selectable<ProviderTable>
export type CardRow = Selectable<CardTable>
export type StockRow = Selectable<StockView>
export type RentalRow = Selectable<RentalTable>
export type OfferRow = Selectable<OfferTable>
