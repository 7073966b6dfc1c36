import { z } from 'zod'
import { amountGiven, money } from '../bill/money.ts'
import { can } from '../can.ts'
import { byId, defineCall, flag, listOf, listQuery, moment } from '../define.ts'
import { sizeBetween } from '../resource.ts'
import { admins, tenants } from '../roles.ts'
import { billTexts, fieldTexts, marketTexts } from '../texts.ts'
import { keyword, plainLine, plainText } from '../validation.ts'
import { marketPath } from './provider.ts'

/** Memory that cards are looked for by. */
export const cardMemories: readonly number[] = [16, 24, 40, 48, 80].map((size) => size * 2 ** 30)

/** `proposed` waits for an administrator. An offer never changes: whoever wants other terms proposes another, and what is rented keeps its own. */
export const offerStatuses = ['proposed', 'listed', 'paused', 'rejected', 'ended'] as const
export type OfferStatus = (typeof offerStatuses)[number]
export const offerCan = can<OfferStatus>()({
  decide: ['proposed'],
  pause: ['listed'],
  resume: ['paused'],
  end: ['proposed', 'listed', 'paused'],
})
/**
 * `onDemand`: a machine is its renter's until they stop it. `interruptible`: for less, but where somebody rents on demand and
 * finds no card free, they have its cards after a grace; its disk is kept as at any stop. Both are paid by the second.
 */
export const offerModes = ['onDemand', 'interruptible'] as const
export type OfferMode = (typeof offerModes)[number]
/** So many cards a machine at most: there are no more in one. */
export const cardsMost = 16

/** What an offer on demand may be paid by in advance: a card, with its disk. */
export const offerPeriods = ['day', 'week', 'month'] as const
export type OfferPeriod = (typeof offerPeriods)[number]
export const periodHours: Readonly<Record<OfferPeriod, number>> = { day: 24, week: 168, month: 720 }
/** How long before its cards are somebody else's whoever rents interruptibly is told. */
export const graceSeconds = { least: 30, most: 3_600 } as const

const priceGiven = amountGiven(8).refine((text) => !text.startsWith('-'), billTexts.priceNegative)
/** `12.4` */
export const cudaVersion = z.string().regex(/^\d{1,3}\.\d{1,3}$/, fieldTexts.cudaVersion)
const model = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(128).regex(plainLine, fieldTexts.controlCharacters)

const terms = {
  mode: z.enum(offerModes).default('onDemand'),
  card_model: model,
  /** In one machine, at most. */
  most_cards: z.int().min(1).max(cardsMost),
  /** With each card: processors, memory, disk. */
  cpus_per_card: z.number().min(0.1).max(256),
  memory_bytes_per_card: sizeBetween(2 ** 28, 2 ** 42),
  disk_bytes_per_card: sizeBetween(2 ** 30, 2 ** 46),
  /** Yuan for an hour: of a card, of a GiB of disk while the machine runs, of one while it is stopped. */
  card_price: priceGiven,
  disk_price: priceGiven,
  stopped_disk_price: priceGiven,
  /** Yuan in advance for a card, disk not included; null where it cannot be paid so. */
  day_price: priceGiven.nullable().default(null),
  week_price: priceGiven.nullable().default(null),
  month_price: priceGiven.nullable().default(null),
  /** Of an interruptible one: the others have none. */
  grace_seconds: z.int().min(graceSeconds.least).max(graceSeconds.most).nullable().default(null),
} as const

const shownTerms = {
  mode: z.enum(offerModes),
  card_model: z.string(),
  most_cards: z.int(),
  cpus_per_card: z.number(),
  memory_bytes_per_card: z.number(),
  disk_bytes_per_card: z.number(),
  card_price: money,
  disk_price: money,
  stopped_disk_price: money,
  day_price: money.nullable(),
  week_price: money.nullable(),
  month_price: money.nullable(),
  grace_seconds: z.int().nullable(),
} as const

export const offer = z.object({
  id: z.uuid(),
  provider: z.object({ id: z.uuid(), name: z.string() }),
  /** Null: whichever node of the provider has such cards. */
  edge: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  ...shownTerms,
  status: z.enum(offerStatuses),
  /** Why it was rejected. */
  reason: z.string().nullable(),
  total_cards: z.int(),
  free_cards: z.int(),
  decided_at: moment.nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type Offer = z.output<typeof offer>

/** How long a stopped machine is kept, in days: then it is released with its disk. */
export const stoppedDays = 15

/** What is shown to everybody. */
export const listing = z.object({
  id: z.uuid(),
  provider: z.object({ id: z.uuid(), name: z.string() }),
  ...shownTerms,
  card_memory_bytes: z.number(),
  /** The oldest of its cards' drivers. */
  cuda: z.string().nullable(),
  driver: z.string(),
  regions: z.array(z.object({ id: z.uuid(), name: z.string() })),
  total_cards: z.int(),
  free_cards: z.int(),
  /** In one machine, now. */
  free_together: z.int(),
  /** Of what was rented of it in the last 30 days: how many came to run, and how long that took from the order on. Null where nobody has rented it. */
  starts: z.object({ orders: z.int(), running: z.int(), median_ms: z.int().nullable(), p95_ms: z.int().nullable() }).nullable(),
  /** What so many cards as were asked for cost in an hour, disk included: running, and stopped; and in advance, where they can be paid so. */
  asked: z.object({ count: z.int(), running: money, stopped: money, day: money.nullable(), week: money.nullable(), month: money.nullable() }),
})
export type Listing = z.output<typeof listing>

export const offers = {
  browse: defineCall({
    id: 'market.offer.browse',
    method: 'GET',
    path: `${marketPath}/listings`,
    summary: 'What can be rented: with what it costs as asked for, and how much of it is free now',
    access: 'public',
    perMinute: 600,
    query: listQuery(['price', 'free', 'memory', 'model'], {
      keyword,
      card_model: model.optional(),
      memory_bytes: z.coerce
        .number()
        .int()
        .min(0)
        .max(2 ** 50)
        .optional(),
      count: z.coerce.number().int().min(1).max(cardsMost).default(1),
      region_id: z.uuid().optional(),
      cuda: cudaVersion.optional(),
      /** By the second on demand, interruptible, or what can be paid so in advance. */
      mode: z.enum([...offerModes, ...offerPeriods]).optional(),
      /** For an hour of what is asked for. */
      price: priceGiven.optional(),
      /** Only what can be rented now. */
      free: flag.optional(),
    }),
    response: listOf(listing).extend({
      facets: z.object({
        models: z.array(z.object({ model: z.string(), total: z.int(), free: z.int() })),
        regions: z.array(z.object({ id: z.uuid(), name: z.string(), total: z.int(), free: z.int() })),
        cudas: z.array(z.string()),
      }),
      stopped_days: z.int(),
    }),
  }),
  history: defineCall({
    id: 'market.offer.history',
    method: 'GET',
    path: `${marketPath}/listings/history`,
    summary: 'What one kind of card cost, and how many were to be had, until now',
    access: 'public',
    perMinute: 120,
    query: z.object({ card_model: model, days: z.coerce.number().int().min(1).max(365).default(30) }),
    response: z.object({
      interval_seconds: z.int(),
      points: z.array(
        z.object({
          at: moment,
          /** The least that an hour of one card cost; null where none was offered so. */
          on_demand: money.nullable(),
          interruptible: money.nullable(),
          /** On average. */
          total_cards: z.number(),
          free_cards: z.number(),
        }),
      ),
    }),
  }),
  list: defineCall({
    id: 'market.offer.list',
    method: 'GET',
    path: `${marketPath}/offers`,
    summary: 'Offers of one’s provider; an administrator sees all',
    access: tenants,
    query: listQuery(['card_model', 'status', 'created_at'], {
      keyword,
      status: z.enum(offerStatuses).optional(),
      provider_id: z.uuid().optional(),
    }),
    response: listOf(offer),
  }),
  get: defineCall({
    id: 'market.offer.get',
    method: 'GET',
    path: `${marketPath}/offers/{id}`,
    summary: 'One offer of one’s provider',
    access: tenants,
    params: byId,
    response: offer,
  }),
  /** Refused with 98002 without a provider, 98003 where there is no such card, 98025 below the platform’s least price. */
  create: defineCall({
    id: 'market.offer.create',
    method: 'POST',
    path: `${marketPath}/offers`,
    summary: 'Propose an offer of one’s provider; an administrator decides',
    access: tenants,
    status: 201,
    body: z
      .object({ edge_id: z.uuid().nullable().default(null), ...terms })
      .refine(({ mode, grace_seconds }) => (mode === 'interruptible') === (grace_seconds !== null), {
        path: ['grace_seconds'],
        message: marketTexts.graceOfInterruptible,
      })
      .refine(({ mode, day_price, week_price, month_price }) => mode === 'onDemand' || [day_price, week_price, month_price].every((price) => price === null), {
        path: ['mode'],
        message: marketTexts.prepaidOnDemand,
      }),
    response: offer,
  }),
  decide: defineCall({
    id: 'market.offer.decide',
    method: 'POST',
    path: `${marketPath}/offers/{id}/decision`,
    summary: 'List an offer, whose prices then stand in the catalogue, or reject it with a reason',
    access: admins,
    params: byId,
    body: z.discriminatedUnion('accept', [
      z.object({ accept: z.literal(true) }),
      z.object({
        accept: z.literal(false),
        reason: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(500).regex(plainText, fieldTexts.controlCharacters),
      }),
    ]),
    response: offer,
  }),
  action: defineCall({
    id: 'market.offer.action',
    method: 'POST',
    path: `${marketPath}/offers/{id}`,
    summary: 'Pause an offer, go on with it, or end it; what is rented keeps its terms',
    access: tenants,
    params: byId,
    body: z.object({ action: z.enum(['pause', 'resume', 'end']) }),
    response: offer,
  }),
} as const
