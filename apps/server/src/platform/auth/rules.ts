import { allCalls } from '@zhisuan/contract/calls'
import { byId, type Also, type Call, type PathParts, type Tags } from '@zhisuan/contract/define'
import { policyLanguage, type PolicyDocument } from '@zhisuan/contract/policy/document'
import { asksForTags, compilePolicies, decide, type Decision, type Policies, type PolicySource, type StatementPlace } from '@zhisuan/contract/policy/evaluate'
import type { TagPrefix } from '@zhisuan/contract/policy/keys'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { readPolicy, type PolicyVocabulary } from '@zhisuan/contract/policy/problems'
import { resourceName } from '@zhisuan/contract/policy/resource'
import type { Role } from '@zhisuan/contract/roles'
import { Refusal } from '../errors.ts'

/** What somebody may do, of the calls that their roles let them make at all. */
export interface Rules {
  readonly policies: Policies
  /** Each the most that they may be allowed. */
  readonly boundaries: readonly Policies[]
}

/** Named so where a decision is explained. */
const builtInPolicyId = (role: Role): string => `role:${role}`
const everybodyPolicyId = 'everybody'

const allowing = (id: string, calls: readonly Call[]): PolicySource => ({
  id,
  document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: calls.map((call) => call.id), Resource: '*' }] },
})

/** Policies are asked about a call that is open to everybody where what it is about is not: such as a model that is no more than its organisation's. */
const everybody = allowing(
  everybodyPolicyId,
  allCalls.filter(({ access }) => access === 'all' || access === 'public'),
)
const ofRole = (role: Role): PolicySource =>
  allowing(
    builtInPolicyId(role),
    allCalls.filter(({ access, onlyByPolicy }) => access !== 'public' && access !== 'all' && access.includes(role) && !onlyByPolicy.includes(role)),
  )

/** What the built-in roles allow: the calls that are declared for them, and those for everybody. */
export const builtInPolicies = (roles: readonly Role[]): readonly PolicySource[] => [everybody, ...roles.map(ofRole)]

/** Whoever runs the platform as a whole: nobody can lock them out. */
export const unlimited: Rules = {
  policies: compilePolicies([{ id: 'system', document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] } }]),
  boundaries: [],
}

/** What policies can be about here, without the services that administrators made. */
const ownVocabulary: PolicyVocabulary = { actions: allCalls.map(({ id }) => id) }

/** A policy document of a request. @throws Refusal 91101, with a field for each place that is wrong */
export function readDocument(json: unknown, vocabulary: PolicyVocabulary = ownVocabulary): PolicyDocument {
  const answer = readPolicy(json, vocabulary)
  if ('document' in answer) return answer.document
  throw new Refusal('policyInvalid', { fields: answer.problems.map(({ path, message }) => ({ field: ['document', ...path].join('.'), message })) })
}

/** The kind of resource that a call is about: the first two parts of its id. */
export const subjectOf = (call: Pick<Call, 'id'>): { service: string; type: string } => {
  const [service = '', type = ''] = call.id.split('.')
  return { service, type }
}

export interface Asking {
  readonly rules: Rules
  /** Its objects are called by the organisation of whoever asks; what is another's does not exist for them anyway. */
  readonly bp_id: string | null
}

/** The tags of something; none where the asker does not see it. Kinds are the first two parts of an id of a call. */
export type ReadTags = (kind: string, id: string) => Promise<Tags>

/**
 * The id of what something belongs to, by the kinds of both: of a snapshot its instance. Null where it belongs to nothing
 * of that kind now, undefined where it is not there.
 */
export type ReadOwner = (of: string, id: string, kind: string) => Promise<string | null | undefined>

/** Whether an action is denied of some things and not of others: only then is what goes along with a thing asked about by itself. */
export const deniesSome = ({ policies, boundaries }: Rules, action: string): boolean =>
  [policies, ...boundaries].some((part) => part.about(action).denies.some(({ resources }) => !resources.everything))

/** Whether an action is theirs on one thing that only shows while a call is made. */
export function decideOn({ rules, bp_id }: Asking, action: string, { kind, id }: { readonly kind: string; readonly id: string }, context: Context): Decision {
  const { service, type } = subjectOf({ id: kind })
  return decide(rules.policies, rules.boundaries, { action, resource: resourceName(service, type, bp_id, written(id)), context })
}

/** What denies an action on one thing that goes along with another, whatever allows it on that; null where nothing does. */
export function deniedOn(asking: Asking, action: string, on: { readonly kind: string; readonly id: string }, context: Context): StatementPlace | null {
  const decision = decideOn(asking, action, on, context)
  return decision.outcome === 'explicitDeny' ? decision.by : null
}

/** A call as far as deciding it goes. */
export type Decided = Pick<Call, 'id' | 'subjects' | 'requestTags'> & Partial<Pick<Call, 'also' | 'subjectId'>>

const asks = ({ policies, boundaries }: Rules, call: Pick<Call, 'id'>, prefix: TagPrefix): boolean => asksForTags([policies, ...boundaries], call.id, prefix)

/** Whether the body has to be read first: it names what the call is about, or policies ask which tags it gives. */
export const isDecidedByBody = (rules: Rules, call: Pick<Call, 'id' | 'subjects' | 'requestTags'>): boolean =>
  call.subjects !== undefined || (call.requestTags !== undefined && asks(rules, call, 'zs:RequestTag/'))

const prefixed = (prefix: TagPrefix, tags: Tags): Context => Object.fromEntries(Object.entries(tags).map(([key, value]) => [`${prefix}${key}`, value]))

/**
 * About each thing that the call is about; of none it is about the whole kind. Then whatever else it does has to be allowed too.
 * @returns with the action that decided
 */
export async function decideCall(
  asking: Asking,
  call: Decided,
  input: { params: unknown; body?: unknown },
  context: Context,
  readTags: ReadTags,
  readOwner: ReadOwner = async () => undefined,
): Promise<Decision & { readonly action: string }> {
  const decision = await decideItself(asking, call, input, context, readTags)
  if (decision.outcome !== 'allowed') return { ...decision, action: call.id }
  const refused = await decideAlso(asking, call, input, context, readTags, readOwner)
  return refused ?? { ...decision, action: call.id }
}

/** What a call does besides. @returns what of it is refused; null where nothing is */
export async function decideAlso(
  { rules, bp_id }: Asking,
  call: Decided,
  { params, body }: { params: unknown; body?: unknown },
  context: Context,
  readTags: ReadTags,
  readOwner: ReadOwner = async () => undefined,
): Promise<(Decision & { readonly action: string }) | null> {
  for (const { action, on } of call.also?.({ params: textsOf(params), body }) ?? []) {
    const id = await subjectId(on, readOwner)
    if (id === null) continue
    const { service, type } = subjectOf({ id: on?.kind ?? action })
    const tagged = id !== undefined && asks(rules, { id: action }, 'zs:ResourceTag/')
    const decision = decide(rules.policies, rules.boundaries, {
      action,
      resource: resourceName(service, type, bp_id, written(id)),
      context: tagged ? { ...context, ...prefixed('zs:ResourceTag/', await readTags(`${service}.${type}`, id)) } : context,
    })
    if (decision.outcome !== 'allowed') return { ...decision, action }
  }
  return null
}

/** Undefined for the whole kind; null where there is nothing of it to ask about. */
const subjectId = async (on: Also['on'], readOwner: ReadOwner): Promise<string | null | undefined> =>
  on?.of === undefined || on.id === undefined ? (on?.of === undefined ? on?.id : undefined) : readOwner(on.of, on.id, on.kind)

/** Parts of the path, as they were asked for. */
const textsOf = (params: unknown): PathParts =>
  Object.fromEntries(Object.entries(typeof params === 'object' ? (params ?? {}) : {}).filter((part): part is [string, string] => typeof part[1] === 'string'))

/** An id as policies write it: one in capitals means the same thing. */
const written = (id: string | undefined): string | undefined => (id !== undefined && byId.safeParse({ id }).success ? id.toLowerCase() : id)

async function decideItself(
  { rules, bp_id }: Asking,
  call: Decided,
  input: { params: unknown; body?: unknown },
  context: Context,
  readTags: ReadTags,
): Promise<Decision> {
  const requested = input.body === undefined ? undefined : call.requestTags?.(input.body)
  const about = requested === undefined ? context : { ...context, ...prefixed('zs:RequestTag/', requested) }
  const tagged = asks(rules, call, 'zs:ResourceTag/')
  let decision: Decision | null = null
  for (const { service, type, id } of subjectsOf(call, input)) {
    const tags = tagged && id !== undefined ? prefixed('zs:ResourceTag/', await readTags(`${service}.${type}`, id)) : null
    decision = decide(rules.policies, rules.boundaries, {
      action: call.id,
      resource: resourceName(service, type, bp_id, written(id)),
      context: tags === null ? about : { ...about, ...tags },
    })
    if (decision.outcome !== 'allowed') return decision
  }
  return decision ?? { outcome: 'implicitDeny', by: null }
}

function subjectsOf(
  call: Pick<Decided, 'id' | 'subjects' | 'subjectId'>,
  { params, body }: { params: unknown; body?: unknown },
): readonly { service: string; type: string; id?: string | undefined }[] {
  const named = body === undefined ? [] : (call.subjects?.(body) ?? [])
  if (named.length > 0) {
    return named.map(({ kind, id }) => ({ ...subjectOf({ id: kind }), id }))
  }
  const parts = textsOf(params)
  return [{ ...subjectOf(call), id: call.subjectId === undefined ? parts.id : call.subjectId(parts) }]
}
