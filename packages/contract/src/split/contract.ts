import { z } from 'zod'
import { amountGiven, money } from '../bill/money.ts'
import { can } from '../can.ts'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { exportFormats, exportLink } from '../exports.ts'
import { reference } from '../resource.ts'
import type { Role } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, name, passwordTyped, plainLine, plainText } from '../validation.ts'

export const splitPath = '/api/split/v1'

/** Who settles with providers (specification section 2), and providers themselves. */
export const splitKeepers = ['OPERATION_SUPPORTER', 'ADMIN'] as const satisfies readonly Role[]
export const splitReaders = ['OPERATION_SUPPORTER', 'PROVIDER', 'ADMIN'] as const satisfies readonly Role[]

/** A month of Beijing, such as `2026-11`: what a split is of. */
export const period = z.string().regex(/^20\d\d-(?:0[1-9]|1[0-2])$/, fieldTexts.month)

/** Parts of a whole are millionths, so that they are whole numbers: 700,000 are 70 %. */
export const wholeParts = 1_000_000
export const partyKinds = ['platform', 'provider', 'agent'] as const
export type PartyKind = (typeof partyKinds)[number]
export const partiesMost = 20
export const stepsMost = 10

export const party = z.object({
  kind: z.enum(partyKinds),
  name: z.string().trim().min(1, fieldTexts.contentRequired).max(64).regex(plainLine, fieldTexts.controlCharacters),
})
/** From a base of the month on that is above this, the parties have these parts of it all. */
export const step = z.object({
  above: amountGiven(2),
  parts: z.array(z.int().min(0).max(wholeParts)).min(2).max(partiesMost),
})
export type SplitStep = z.output<typeof step>

/** What of use is shared out. */
export const splitMeters = ['market.card', 'market.disk', 'market.stoppedDisk'] as const

const termsShape = {
  /** The platform, the provider, then agents. */
  parties: z.array(party).min(2).max(partiesMost),
  /** The first is above 0. */
  steps: z.array(step).min(1).max(stepsMost),
  meters: z
    .array(z.enum(splitMeters))
    .min(1)
    .max(splitMeters.length)
    .default([...splitMeters]),
  /** Models of cards; empty: all. */
  models: z.array(z.string().trim().min(1).max(128).regex(plainLine, fieldTexts.controlCharacters)).max(50).default([]),
  /** The least that the provider has of a month, and the most; what it costs the platform bears. */
  floor: amountGiven(2).nullable().default(null),
  cap: amountGiven(2).nullable().default(null),
  /** Days that the provider has to confirm or dispute a statement; then it counts as confirmed. */
  confirm_days: z.int().min(1).max(90).default(7),
} as const
export const terms = z.object(termsShape).superRefine(({ parties, steps, floor, cap }, context) => {
  const wrong = (path: (string | number)[], message: string): void => context.addIssue({ code: 'custom', path, message })
  if (parties[0]?.kind !== 'platform' || parties[1]?.kind !== 'provider' || parties.slice(2).some(({ kind }) => kind !== 'agent'))
    wrong(['parties'], fieldTexts.splitParties)
  for (const [index, { above, parts }] of steps.entries()) {
    const before = steps[index - 1]
    if (before === undefined ? Number(above) !== 0 : Number(above) <= Number(before.above)) wrong(['steps', index, 'above'], fieldTexts.splitSteps)
    if (parts.length !== parties.length || parts.reduce((sum, part) => sum + part, 0) !== wholeParts) wrong(['steps', index, 'parts'], fieldTexts.splitParts)
  }
  if (floor !== null && Number(floor) < 0) wrong(['floor'], fieldTexts.splitFloor)
  if (cap !== null && Number(cap) < Number(floor ?? 0)) wrong(['cap'], fieldTexts.splitFloor)
})
export type SplitTerms = z.output<typeof terms>

/** `draft`: can be changed. `active`: signed, and counts from its month on. `ended`: no month after its last one. */
export const contractStatuses = ['draft', 'active', 'ended'] as const
export type ContractStatus = (typeof contractStatuses)[number]
export const contractCan = can<ContractStatus>()({ amend: ['draft', 'active'], sign: ['draft', 'active'], end: ['active'], delete: ['draft'] })

const version = z.object({
  number: z.int(),
  /** Null until it is signed. */
  signed_at: moment.nullable(),
  signed_by: z.string().nullable(),
  /** From this month on; a version counts until the next one does. */
  from: period,
  terms: z.object(termsShape),
})
export type SplitVersion = z.output<typeof version>

export const splitContract = z.object({
  id: z.uuid(),
  name: z.string(),
  provider: reference,
  status: z.enum(contractStatuses),
  /** What counts now; null while nothing is signed. */
  current: version.nullable(),
  /** Being written. */
  draft: version.nullable(),
  ended_after: period.nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type SplitContract = z.output<typeof splitContract>

const one = { params: byId } as const
const share = z.object({ party: party, amount: money })
const trial = z.object({
  period,
  base: money,
  line_count: z.int(),
  /** The step that the base reached, from 0. */
  step: z.int(),
  shares: z.array(share),
  /** What floor or cap moves between platform and provider. */
  adjustment: money,
})
export type SplitTrial = z.output<typeof trial>

export const splitContracts = {
  list: defineCall({
    id: 'split.contract.list',
    method: 'GET',
    path: `${splitPath}/contracts`,
    summary: 'Contracts with providers',
    access: splitKeepers,
    query: listQuery(['name', 'created_at'], { keyword, provider_id: z.uuid().optional(), status: z.enum(contractStatuses).optional() }),
    response: listOf(splitContract),
  }),
  get: defineCall({
    ...one,
    id: 'split.contract.get',
    method: 'GET',
    path: `${splitPath}/contracts/{id}`,
    summary: 'One contract with all its versions, the newest first',
    access: splitKeepers,
    response: splitContract.extend({ versions: z.array(version) }),
  }),
  /** 26018 where the provider is disabled. */
  create: defineCall({
    id: 'split.contract.create',
    method: 'POST',
    path: `${splitPath}/contracts`,
    summary: 'Write a contract, a draft',
    access: splitKeepers,
    status: 201,
    body: z.object({ name, provider_id: z.uuid(), from: period, terms }),
    response: splitContract,
  }),
  amend: defineCall({
    ...one,
    id: 'split.contract.amend',
    method: 'PUT',
    path: `${splitPath}/contracts/{id}/draft`,
    summary: 'Write the next version, or change it; what is signed never changes',
    access: splitKeepers,
    body: z.object({ from: period, terms }),
    response: splitContract,
  }),
  sign: defineCall({
    ...one,
    id: 'split.contract.sign',
    method: 'POST',
    path: `${splitPath}/contracts/{id}/sign`,
    summary: 'Sign what was written; it counts from its month on, which must not have been split yet',
    access: splitKeepers,
    response: splitContract,
  }),
  end: defineCall({
    ...one,
    id: 'split.contract.end',
    method: 'POST',
    path: `${splitPath}/contracts/{id}/end`,
    summary: 'No month after this one is split by it',
    access: splitKeepers,
    body: z.object({ after: period }),
    response: splitContract,
  }),
  delete: defineCall({
    ...one,
    id: 'split.contract.delete',
    method: 'DELETE',
    path: `${splitPath}/contracts/{id}`,
    summary: 'Delete one that was never signed',
    access: splitKeepers,
    response: empty,
  }),
  try: defineCall({
    id: 'split.contract.try',
    method: 'POST',
    path: `${splitPath}/trials`,
    summary: 'What terms would have come to in a past month, beside what counted then',
    access: splitKeepers,
    audit: false,
    body: z.object({ provider_id: z.uuid(), period, terms }),
    response: z.object({ tried: trial, present: trial.nullable() }),
  }),
} as const

/** `stated`: its statements are out. `confirmed`: by the provider, or because time went by. `disputed`: the provider says why not. `paid`: everybody has theirs. */
export const runStatuses = ['stated', 'disputed', 'confirmed', 'paid'] as const
export type RunStatus = (typeof runStatuses)[number]
export const runCan = can<RunStatus>()({ confirm: ['stated'], dispute: ['stated'], answer: ['disputed'], pay: ['confirmed'] })

const runShape = {
  id: z.uuid(),
  contract: reference,
  provider: reference,
  version: z.int(),
  period,
  status: z.enum(runStatuses),
  base: money,
  /** Of the lines, those of earlier months among them. */
  line_count: z.int(),
  late_count: z.int(),
  adjustment: money,
  shares: z.array(share),
  /** Of the statement and of the one before it: whoever changes one breaks all that come after. */
  hash: z.string(),
  previous_hash: z.string().nullable(),
  confirm_by: moment,
  confirmed_at: moment.nullable(),
  /** Null: because time went by. */
  confirmed_by: z.string().nullable(),
  dispute: z.string().nullable(),
  answer: z.string().nullable(),
  paid_at: moment.nullable(),
  paid_by: z.string().nullable(),
  paid_reference: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
} as const
export const splitRun = z.object(runShape)
export type SplitRun = z.output<typeof splitRun>

/** An order of whoever used a machine. */
export const splitOrder = z.object({
  id: z.uuid(),
  /** For a provider none that counts up, which would tell it how much is ordered of others. */
  number: z.string(),
})
export const splitLine = z.object({
  /** Its place in its statement, from 1: it tells nothing of how much others have. */
  id: z.string(),
  /** `use`: of this month. `late`: of an earlier one, by the terms of that. `refund`: takes a line back, by its own shares. `adjustment`: floor or cap. */
  kind: z.enum(['use', 'late', 'refund', 'adjustment']),
  /** The beginning of its hour; null of an adjustment. */
  from: moment.nullable(),
  meter: z.enum(splitMeters).nullable(),
  model: z.string().nullable(),
  cards: z.array(z.string()),
  rental: reference.nullable(),
  /** By which its user has the machine; null of an adjustment, and where use was never ordered. */
  order: splitOrder.nullable(),
  payer: z.string().nullable(),
  version: z.int(),
  base: money,
  amounts: z.array(money),
  /** The line that it takes back, by the month of its statement and its place: `2026-01/3`. */
  original_id: z.string().nullable(),
})
export type SplitLine = z.output<typeof splitLine>

const text = z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(1_000).regex(plainText, fieldTexts.controlCharacters)

/** As a PDF it has the shares and the first {@link printedLines} lines: whoever wants all takes the others. */
export const statementFormats = [...exportFormats, 'pdf'] as const
export type StatementFormat = (typeof statementFormats)[number]
export const printedLines = 2_000

export const splitRuns = {
  list: defineCall({
    id: 'split.run.list',
    method: 'GET',
    path: `${splitPath}/runs`,
    summary: 'Splits of months; of a provider its own',
    access: splitReaders,
    query: listQuery(['period', 'created_at'], {
      provider_id: z.uuid().optional(),
      contract_id: z.uuid().optional(),
      period: period.optional(),
      status: z.enum(runStatuses).optional(),
    }),
    response: listOf(splitRun),
  }),
  get: defineCall({
    ...one,
    id: 'split.run.get',
    method: 'GET',
    path: `${splitPath}/runs/{id}`,
    summary: 'One split',
    access: splitReaders,
    response: splitRun,
  }),
  lines: defineCall({
    ...one,
    id: 'split.run.lines',
    method: 'GET',
    path: `${splitPath}/runs/{id}/lines`,
    summary: 'Its lines, in the order in which its files have them',
    access: splitReaders,
    query: listQuery(['line'], {
      kind: z.enum(['use', 'late', 'refund', 'adjustment']).optional(),
      model: z.string().max(128).regex(plainLine, fieldTexts.controlCharacters).optional(),
    }),
    response: listOf(splitLine),
  }),
  /** 26012 where that month was split by it, 26018 where the provider is disabled. */
  create: defineCall({
    id: 'split.run.create',
    method: 'POST',
    path: `${splitPath}/runs`,
    summary: 'Split a month that is over by a contract, once, and state what came of it',
    access: splitKeepers,
    status: 201,
    body: z.object({ contract_id: z.uuid(), period }),
    response: splitRun,
  }),
  confirm: defineCall({
    ...one,
    id: 'split.run.confirm',
    method: 'POST',
    path: `${splitPath}/runs/{id}/confirm`,
    summary: 'Confirm a statement: the provider does',
    access: ['PROVIDER'],
    response: splitRun,
  }),
  dispute: defineCall({
    ...one,
    id: 'split.run.dispute',
    method: 'POST',
    path: `${splitPath}/runs/{id}/dispute`,
    summary: 'Say what is wrong with a statement: the provider does',
    access: ['PROVIDER'],
    body: z.object({ reason: text }),
    response: splitRun,
  }),
  answer: defineCall({
    ...one,
    id: 'split.run.answer',
    method: 'POST',
    path: `${splitPath}/runs/{id}/answer`,
    summary: 'Answer a dispute; the statement is out again, and time to confirm begins anew',
    access: splitKeepers,
    body: z.object({ text }),
    response: splitRun,
  }),
  pay: defineCall({
    ...one,
    id: 'split.run.pay',
    method: 'POST',
    path: `${splitPath}/runs/{id}/pay`,
    summary: 'Note that a confirmed statement was paid, by somebody else than who split it',
    access: splitKeepers,
    personal: true,
    perMinute: 60,
    body: z.object({
      reference: z.string(fieldTexts.contentRequired).trim().min(4).max(64).regex(plainLine, fieldTexts.controlCharacters),
      password: passwordTyped.optional(),
    }),
    response: splitRun,
  }),
  export: defineCall({
    ...one,
    id: 'split.run.export',
    method: 'POST',
    path: `${splitPath}/runs/{id}/export`,
    summary: 'A link to the statement as a file: SHA-256 of the hash before and the CSV is its hash',
    access: splitReaders,
    audit: false,
    body: z.object({ format: z.enum(statementFormats) }),
    response: exportLink,
  }),
} as const
