import { z } from 'zod'
import { money } from '../bill/money.ts'
import { byId, day, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { providerStatuses } from '../market/provider.ts'
import { reference } from '../resource.ts'
import { admins } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { plainLine } from '../validation.ts'
import { splitKeepers, splitMeters, splitOrder, splitPath, splitReaders } from './contract.ts'

const splitProvider = z.object({
  id: z.uuid(),
  name: z.string(),
  status: z.enum(providerStatuses),
  bp_name: z.string().nullable(),
  card_count: z.int(),
  contract_count: z.int(),
  account_count: z.int(),
  /** What was paid to it, and what was stated and is not paid. */
  paid: money,
  waiting: money,
  created_at: moment,
})
export type SplitProvider = z.output<typeof splitProvider>
const account = z.object({ id: z.uuid(), name: z.string(), created_at: moment })

const one = { params: byId } as const

/** Providers as those see them who settle with them; of a provider's person its own. */
export const splitProviders = {
  list: defineCall({
    id: 'split.provider.list',
    method: 'GET',
    path: `${splitPath}/providers`,
    summary: 'Providers, with what they were paid and what waits',
    access: splitReaders,
    response: z.object({ total: z.int(), items: z.array(splitProvider) }),
  }),
  get: defineCall({
    ...one,
    id: 'split.provider.get',
    method: 'GET',
    path: `${splitPath}/providers/{id}`,
    summary: 'One provider with the accounts of its people',
    access: splitKeepers,
    response: splitProvider.extend({ accounts: z.array(account) }),
  }),
  /** 26004 where the account is bound already. */
  bind: defineCall({
    ...one,
    id: 'split.provider.bind',
    method: 'POST',
    path: `${splitPath}/providers/{id}/accounts`,
    summary: 'Let somebody with the role of a provider see and confirm its statements',
    access: splitKeepers,
    body: z.object({ user_id: z.uuid() }),
    response: splitProvider.extend({ accounts: z.array(account) }),
  }),
  unbind: defineCall({
    params: byId.extend({ user_id: z.uuid() }),
    id: 'split.provider.unbind',
    method: 'DELETE',
    path: `${splitPath}/providers/{id}/accounts/{user_id}`,
    summary: 'Take that back',
    access: splitKeepers,
    response: empty,
  }),
} as const

const figures = z.object({
  /** Card hours, and yuan that their users pay for them. */
  hours: z.number(),
  amount: money,
  cards: z.int(),
  days: z.array(z.object({ day, hours: z.number(), amount: money })),
  models: z.array(
    z.object({
      provider: z.object({ id: z.uuid(), name: z.string() }),
      model: z.string(),
      cards: z.int(),
      hours: z.number(),
      /** Of the hours that its cards had in these days; above 1 where there were more cards than now. */
      use: z.number().nullable(),
      /** Yuan for a card and hour, as it came to. */
      price: money.nullable(),
      amount: money,
    }),
  ),
  /** Card hours by weekday (1 is Monday) and hour of Beijing. */
  week: z.array(z.object({ weekday: z.int(), hour: z.int(), hours: z.number() })),
})
export type SplitFigures = z.output<typeof figures>

const days = z.coerce.number().int().min(1).max(366).default(30)
const asked = { days } as const
const of = { provider_id: z.uuid().optional(), model: z.string().max(128).regex(plainLine, fieldTexts.controlCharacters).optional() } as const

/** An hour of use that figures are of. */
const figureLine = z.object({
  /** Which hour of which machine: no number, which would tell how much others are used. */
  id: z.string(),
  from: moment,
  meter: z.enum(splitMeters),
  provider: reference,
  model: z.string().nullable(),
  cards: z.array(z.string()),
  rental: reference,
  order: splitOrder.nullable(),
  payer: z.string(),
  amount: money,
})
export type FigureLine = z.output<typeof figureLine>
export const splitFigures = {
  mine: defineCall({
    id: 'split.figure.mine',
    method: 'GET',
    path: `${splitPath}/resources`,
    summary: 'What machines were used and sold for; of a provider its own',
    access: splitReaders,
    query: z.object(asked),
    response: figures,
  }),
  get: defineCall({
    id: 'split.figure.get',
    method: 'GET',
    path: `${splitPath}/figures`,
    summary: 'The same of a provider, or of a model of card, or of all',
    access: admins,
    query: z.object({ ...asked, ...of }),
    response: figures,
  }),
  lines: defineCall({
    id: 'split.figure.lines',
    method: 'GET',
    path: `${splitPath}/figures/lines`,
    summary: 'The hours that they are of, each with its cards, machine and order; of a provider its own',
    access: splitReaders,
    query: listQuery(['from', 'amount'], { ...asked, ...of, day: day.optional() }),
    response: listOf(figureLine),
  }),
} as const
