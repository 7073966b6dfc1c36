import { z } from 'zod'
import { amountGiven, money } from '../bill/money.ts'
import { can } from '../can.ts'
import { containerSpec } from '../cis/container.ts'
import { byId, defineCall, empty, listOf, listQuery, moment, type Also } from '../define.ts'
import { pulls } from '../ims/rights.ts'
import { tenants } from '../roles.ts'
import { billTexts } from '../texts.ts'
import { keyword, name } from '../validation.ts'
import { offerModes, cardsMost } from './offer.ts'
import { marketPath } from './provider.ts'

/**
 *   placing → running ⇄ stopped (by stopping, starting) → releasing → released
 *      ↘ failed: no machine could be had; nothing was charged     ↘ failed: its host lost it
 */
export const rentalStatuses = ['placing', 'running', 'stopping', 'stopped', 'starting', 'releasing', 'released', 'failed'] as const
export type RentalStatus = (typeof rentalStatuses)[number]
export const rentalTransitional: readonly RentalStatus[] = ['placing', 'stopping', 'starting', 'releasing']
export const rentalCan = can<RentalStatus>()({
  stop: ['running'],
  start: ['stopped'],
  /** As {@link mayMove} says. */
  move: ['running', 'stopping', 'stopped', 'starting'],
  limit: ['placing', 'running', 'stopping', 'stopped', 'starting'],
  release: ['placing', 'running', 'stopping', 'stopped', 'starting'],
})

/** Why the machine is not there although it should be: while that is so, nothing of it is charged. */
export const rentalFaults = ['host', 'card'] as const
export type RentalFault = (typeof rentalFaults)[number]
/** A machine whose cards are sick is not charged for and may go on for so long; then it is stopped, so that nobody has the others of it for nothing. */
export const faultMinutes = 10
/** Who stopped it. `ended`: its program ended by itself; `fault`: its cards were sick for {@link faultMinutes}. */
export const stopReasons = ['person', 'spend', 'end', 'idle', 'ended', 'arrears', 'fault', 'interrupted'] as const
export type StopReason = (typeof stopReasons)[number]

/** Programs in a machine that a browser is led to, and where they listen; what is not there yet is started where its image has it. */
export const rentalApps = { jupyter: 8888, tensorboard: 6006 } as const
export type RentalApp = keyof typeof rentalApps

/** Where its disk is in it: what lies there outlives every stop. */
export const workspacePath = '/workspace'

const limits = {
  /** Yuan in all; null: none. Reached, it is stopped. */
  spend_limit: amountGiven(2)
    .refine((text) => !text.startsWith('-'), billTexts.priceNegative)
    .nullable()
    .default(null),
  /** When it is stopped; null: not by itself. */
  ends_at: moment.nullable().default(null),
  /** Stopped once its cards and processors have had nothing to do for so long; what nobody can tell counts as busy. Null: not by itself. */
  idle_minutes: z.int().min(5).max(10_080).nullable().default(null),
} as const

/** A machine that is rented. */
export const rental = z.object({
  id: z.uuid(),
  bp_id: z.uuid(),
  name: z.string(),
  /** What was chosen, and whose machine it became. */
  offer: z.object({ id: z.uuid(), card_model: z.string(), mode: z.enum(offerModes) }),
  provider: z.object({ id: z.uuid(), name: z.string() }),
  region: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  /** By which it is entered: terminal, files, log. Null while there is none. */
  container_id: z.uuid().nullable(),
  /** `ssh -p <port> <id>@<platform>` enters it, by the keys that its organisation’s people registered; null where that is not so, or not now. */
  ssh_port: z.int().nullable(),
  /** Whether browsers are led into it: to JupyterLab, TensorBoard, or a port. */
  apps: z.boolean(),
  count: z.int(),
  /** Those that it has now. */
  cards: z.array(z.object({ id: z.uuid(), index: z.int(), uuid: z.string() })),
  cpus: z.number(),
  memory_bytes: z.number(),
  disk_bytes: z.number(),
  image: z.string(),
  status: z.enum(rentalStatuses),
  fault: z.enum(rentalFaults).nullable(),
  /** Of what is under way: pulling the image, making the container, starting it; null where nothing is. */
  step: z.string().nullable(),
  stop_reason: z.enum(stopReasons).nullable(),
  /** Chinese text of what went wrong the last time. */
  error: z.string().nullable(),
  /** Where it was tried before, and why that came to nothing. */
  attempts: z.array(z.object({ provider: z.string(), reason: z.string(), at: moment })),
  /** Yuan for an hour as it is now, and if it ran, or were stopped. */
  hourly: money,
  running_price: money,
  stopped_price: money,
  /** Until now, at list prices. */
  spent: money,
  spend_limit: money.nullable(),
  ends_at: moment.nullable(),
  idle_minutes: z.int().nullable(),
  /** Since when it has had nothing to do; null while it has, or nobody can tell. */
  idle_since: moment.nullable(),
  /** Paid in advance until then: until then a stop keeps its cards, and after it goes on by the second. Null where it is not. */
  prepaid_until: moment.nullable(),
  /** Its cards go to somebody who rents on demand: it is stopped then. */
  interrupt_at: moment.nullable(),
  /** It waits for cards of a machine that is interrupted, and has them then at the latest. */
  waits_until: moment.nullable(),
  /** Stopped, it is released then, with its disk. */
  release_at: moment.nullable(),
  created_by: z.string(),
  created_at: moment,
  /** For the first time. */
  running_at: moment.nullable(),
  stopped_at: moment.nullable(),
  released_at: moment.nullable(),
})
export type Rental = z.output<typeof rental>

/** Whether it may be made anew elsewhere: once it is stopped; and, however it is, while its host is not there. What is paid in advance stays where it is, but where that is of no use. */
export const mayMove = ({
  status,
  fault,
  stop_reason,
  prepaid_until,
}: { [K in 'status' | 'fault' | 'stop_reason']: Rental[K] } & { prepaid_until: unknown }): boolean =>
  (rentalCan.move as readonly RentalStatus[]).includes(status) &&
  (fault === 'host' || (status === 'stopped' && (prepaid_until === null || stop_reason === 'fault')))

const one = { access: tenants, params: byId, response: rental } as const

/** A machine that is rented is a container: what is done to it as such has to be allowed too, on what is rented. */
const asContainer = (verb: 'deploy' | 'action' | 'delete', id?: string): Also => ({ action: `cis.container.${verb}`, on: { kind: 'market.rental', id } })

export const rentals = {
  list: defineCall({
    id: 'market.rental.list',
    method: 'GET',
    path: `${marketPath}/rentals`,
    summary: 'Machines that one’s organisation rents',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at'], { keyword, status: z.enum(rentalStatuses).optional() }),
    response: listOf(rental),
  }),
  get: defineCall({ ...one, id: 'market.rental.get', method: 'GET', path: `${marketPath}/rentals/{id}`, summary: 'One machine that is rented' }),
  /** Refused with 98011 where nothing is free, with reasons; 98012, 98013, 98014; 24011, 24018, 96043. */
  create: defineCall({
    id: 'market.rental.create',
    also: ({ body }) => [asContainer('deploy'), ...pulls(body?.image)],
    keyed: true,
    method: 'POST',
    path: `${marketPath}/rentals`,
    summary: 'Rent a machine of an offer: which it becomes is decided as its cards are held',
    access: tenants,
    status: 202,
    perMinute: 120,
    body: z.object({
      name,
      offer_id: z.uuid(),
      count: z.int().min(1).max(cardsMost).default(1),
      ...containerSpec.pick({ image: true, command: true, env: true }).shape,
      /** A program that ends at once, such as a shell without a terminal, is kept from ending the machine. */
      keep_running: z.boolean().default(true),
      /** Where the offer has none free: the cheapest other one of the same card that costs no more. */
      alternatives: z.boolean().default(true),
      ...limits,
    }),
    response: rental,
  }),
  stop: defineCall({
    ...one,
    id: 'market.rental.stop',
    also: ({ params }) => [asContainer('action', params.id)],
    method: 'POST',
    path: `${marketPath}/rentals/{id}/stop`,
    summary: 'Stop it: its cards are given back, its disk stays and is charged for',
    status: 202,
  }),
  /** Refused with 98011 where its host has not so many cards free. */
  start: defineCall({
    ...one,
    id: 'market.rental.start',
    also: ({ params }) => [asContainer('action', params.id)],
    method: 'POST',
    path: `${marketPath}/rentals/{id}/start`,
    summary: 'Start it again where its disk is; on other cards what was changed outside of its disk is as its image has it',
    status: 202,
  }),
  /** Refused with 98011 where no other host has so many cards free, 90011 while its own host is away, 90010 while it is paid in advance: its cards are there. */
  move: defineCall({
    ...one,
    id: 'market.rental.move',
    also: ({ params }) => [asContainer('deploy', params.id), asContainer('delete', params.id)],
    method: 'POST',
    path: `${marketPath}/rentals/{id}/move`,
    summary: 'Start it on another host, without what is on its disk: that is deleted',
    status: 202,
  }),
  limit: defineCall({
    ...one,
    id: 'market.rental.limit',
    also: ({ params, body }) =>
      body?.spend_limit == null && body?.ends_at == null && body?.idle_minutes == null
        ? []
        : [{ action: 'market.rental.stop', on: { kind: 'market.rental', id: params.id } }, asContainer('action', params.id)],
    method: 'PUT',
    path: `${marketPath}/rentals/{id}/limits`,
    summary: 'Change the limits at which it is stopped',
    body: z.object(limits),
  }),
  /**
   * Asks for `cis.container.terminal` of its container as well: whoever is inside may do there what a terminal may.
   * Refused with 98021 where this platform leads browsers nowhere, 98022 without such a program, 98023 without a way in, 98024 where nothing listens.
   */
  open: defineCall({
    outside: true,
    id: 'market.rental.open',
    method: 'POST',
    path: `${marketPath}/rentals/{id}/apps`,
    summary: 'Lead one’s browser to a program in it, on an origin of its own; JupyterLab and TensorBoard are started where they are not',
    access: tenants,
    params: byId,
    perMinute: 60,
    body: z.discriminatedUnion('app', [
      z.object({ app: z.enum(Object.keys(rentalApps) as [RentalApp, ...RentalApp[]]) }),
      z.object({ app: z.literal('port'), port: z.int().min(1).max(65_535) }),
    ]),
    response: z.object({
      /** For the next half minute, and once. */
      url: z.string(),
      expires_at: moment,
    }),
  }),
  release: defineCall({
    ...one,
    id: 'market.rental.release',
    also: ({ params }) => [asContainer('delete', params.id)],
    method: 'POST',
    path: `${marketPath}/rentals/{id}/release`,
    summary: 'Give it back for good, with all that is on its disk; nothing is charged from now on',
    status: 202,
  }),
} as const

/** What a provider’s cards brought in, by day of Beijing and card. */
export const incomes = {
  list: defineCall({
    id: 'market.income.list',
    method: 'GET',
    path: `${marketPath}/providers/{id}/incomes`,
    summary: 'What the cards of a provider were rented for: rated hours by day and offer, before anything is shared out',
    access: tenants,
    params: byId,
    query: z.object({ days: z.coerce.number().int().min(1).max(92).default(31) }),
    response: z.object({
      total: money,
      items: z.array(z.object({ day: z.iso.date(), offer_id: z.uuid(), card_model: z.string(), card_hours: z.number(), amount: money })),
    }),
  }),
} as const

/** Somebody wants to be told once so many cards of an offer are free in one machine. It ends with that, or after 30 days. */
export const wait = z.object({
  id: z.uuid(),
  offer: z.object({ id: z.uuid(), card_model: z.string(), provider: z.string() }),
  count: z.int(),
  created_by: z.string(),
  created_at: moment,
  ends_at: moment,
})
export type Wait = z.output<typeof wait>
/** How long one waits, in days. */
export const waitDays = 30

export const waits = {
  list: defineCall({
    id: 'market.wait.list',
    method: 'GET',
    path: `${marketPath}/waits`,
    summary: 'What one’s organisation waits for',
    access: tenants,
    query: listQuery(['created_at'], {}),
    response: listOf(wait),
  }),
  /** Refused with 98012, 98016, 98017, 98019. */
  create: defineCall({
    id: 'market.wait.create',
    method: 'POST',
    path: `${marketPath}/waits`,
    summary: 'Be told by a message once so many cards of an offer are free',
    access: tenants,
    status: 201,
    body: z.object({ offer_id: z.uuid(), count: z.int().min(1).max(cardsMost).default(1) }),
    response: wait,
  }),
  delete: defineCall({
    id: 'market.wait.delete',
    method: 'DELETE',
    path: `${marketPath}/waits/{id}`,
    summary: 'Wait no longer',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const
