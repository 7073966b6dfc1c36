import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, flag, listOf, listQuery, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { keyword } from '../validation.ts'
import { marketPath } from './provider.ts'

/**
 * Why a card is sick, and what ends it:
 * `xid`: the driver told of a fault of the hardware; ends with a restart of the node, or when its provider says that it was seen to.
 * `ecc`: memory errors that could not be corrected; ends when a reset or restart has the counter at 0.
 * `hot`: the hardware slows itself down; ends by itself once the card has cooled.
 * `lost`: it fell off the bus; ends when it is seen again, after a restart of the node.
 * `driver`: the driver answers for no card of the node; ends when it does.
 */
export const cardTroubles = ['xid', 'ecc', 'hot', 'lost', 'driver'] as const
export type CardTrouble = (typeof cardTroubles)[number]
/** A sick one is offered to nobody. */
export const cardHealths = ['healthy', 'sick'] as const
export type CardHealth = (typeof cardHealths)[number]
/** Faults that a restart or their provider ends; the others end by themselves. */
export const cardCan = can<CardTrouble>()({ clear: ['xid'] })

export const cardStates = ['free', 'rented', 'sick', 'away', 'unlisted', 'elsewhere'] as const
export type CardState = (typeof cardStates)[number]

/** A card in a node, as its agent tells of it. */
export const card = z.object({
  id: z.uuid(),
  edge: z.object({ id: z.uuid(), name: z.string() }),
  /** Null where its node belongs to nobody who provides cards. */
  provider: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  index: z.int(),
  uuid: z.string(),
  model: z.string(),
  memory_bytes: z.number(),
  driver: z.string(),
  /** The newest that its driver runs, `12.4`; null where it does not say. */
  cuda: z.string().nullable(),
  health: z.enum(cardHealths),
  trouble: z.enum(cardTroubles).nullable(),
  /** Such as the number of the Xid. */
  trouble_detail: z.string(),
  health_since: moment,
  /** `elsewhere`: another node told of the very card before, and still does. `away`: its node is not there, or takes nothing new. `unlisted`: its node is not in the market, or its provider not verified. */
  state: z.enum(cardStates),
  seen_at: moment,
})
export type Card = z.output<typeof card>

export const cards = {
  list: defineCall({
    id: 'market.card.list',
    method: 'GET',
    path: `${marketPath}/cards`,
    summary: 'Cards of one’s nodes, with their health',
    access: tenants,
    query: listQuery(['model', 'health', 'seen_at'], {
      keyword,
      edge_id: z.uuid().optional(),
      provider_id: z.uuid().optional(),
      health: z.enum(cardHealths).optional(),
    }),
    response: listOf(card),
  }),
  /** Refused with 98028 while it is rented, 98030 where the test of its node does not pass. */
  clear: defineCall({
    outside: true,
    perMinute: 30,
    id: 'market.card.clear',
    method: 'POST',
    path: `${marketPath}/cards/{id}/clear`,
    summary: 'Say that the faults which the driver told of until now were seen to: its node is tested first',
    access: tenants,
    params: byId,
    response: card,
  }),
} as const

/** What the self-test of a node looks at. */
export const nodeChecks = ['driver', 'cards', 'runtime', 'memory', 'disk'] as const
export type NodeCheck = (typeof nodeChecks)[number]

/** A node whose cards are, or may be, rented out. */
export const marketNode = z.object({
  /** The node's own. */
  id: z.uuid(),
  name: z.string(),
  provider: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  online: z.boolean(),
  /** Whether its cards are in the market. */
  listed: z.boolean(),
  region: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  cards: z.object({ total: z.int(), healthy: z.int(), rented: z.int() }),
  test: z
    .object({
      at: moment,
      passed: z.boolean(),
      checks: z.array(z.object({ check: z.enum(nodeChecks), passed: z.boolean(), value: z.string() })),
    })
    .nullable(),
})
export type MarketNode = z.output<typeof marketNode>

const one = { access: tenants, params: byId, response: marketNode } as const
export const marketNodes = {
  list: defineCall({
    id: 'market.node.list',
    method: 'GET',
    path: `${marketPath}/nodes`,
    summary: 'One’s nodes that have cards',
    access: tenants,
    query: listQuery(['name', 'listed'], { keyword, listed: flag.optional(), provider_id: z.uuid().optional() }),
    response: listOf(marketNode),
  }),
  test: defineCall({
    ...one,
    outside: true,
    id: 'market.node.test',
    method: 'POST',
    path: `${marketPath}/nodes/{id}/test`,
    summary: 'Have its agent test it: driver, each card, Docker’s runtime for them, memory, speed of its disk',
    perMinute: 30,
  }),
  /** Refused with 98005 where its test was not passed, 98006 where containers that are not rents use its cards. */
  enlist: defineCall({
    ...one,
    id: 'market.node.enlist',
    method: 'POST',
    path: `${marketPath}/nodes/{id}/enlist`,
    summary: 'Put its cards into the market: then they are for rents only',
  }),
  withdraw: defineCall({
    ...one,
    id: 'market.node.withdraw',
    method: 'POST',
    path: `${marketPath}/nodes/{id}/withdraw`,
    summary: 'Take its cards out of the market; what is rented goes on to its end',
  }),
} as const
