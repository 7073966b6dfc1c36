import { compileConditions, type Condition } from './condition.ts'
import { isActionName, listed, type PolicyDocument, type PolicyStatement } from './document.ts'
import { tagPrefixes, type TagPrefix } from './keys.ts'
import { compilePattern, type Context, type Pattern } from './pattern.ts'

/** What somebody wants to do: an action (the id of a call), on what (see resource.ts), and under which circumstances. */
export interface AccessRequest {
  readonly action: string
  readonly resource: string
  readonly context: Context
}

/** A policy as somebody has it. */
export interface PolicySource {
  readonly id: string
  readonly document: PolicyDocument
}

/** Which statement decided. */
export interface StatementPlace {
  readonly policy_id: string
  /** From 0. */
  readonly index: number
  readonly sid: string | null
}

/**
 * - `explicitDeny`: a statement denies it, of a policy or of a boundary; nothing outweighs that
 * - `outsideBoundary`: a policy allows it, and a boundary does not
 * - `implicitDeny`: nothing allows it
 */
export type Outcome = 'allowed' | 'explicitDeny' | 'outsideBoundary' | 'implicitDeny'

export interface Decision {
  readonly outcome: Outcome
  /** What allowed or denied it; null where nothing spoke. */
  readonly by: StatementPlace | null
}

export interface Statement extends StatementPlace {
  readonly allows: boolean
  readonly actions: { readonly names: ReadonlySet<string>; readonly patterns: readonly Pattern[]; readonly negated: boolean }
  readonly resources: {
    readonly patterns: readonly Pattern[]
    readonly negated: boolean
    /** Whether it is plainly about all there is. */
    readonly everything: boolean
  }
  readonly conditions: readonly Condition[]
  /** Which tags it asks for, in a condition or a variable. */
  readonly tags: readonly TagPrefix[]
}

const nothing: Context = {}

/** Policies ready to decide: each request after the first for an action looks only at statements about it. */
export interface Policies {
  about(action: string): { readonly denies: readonly Statement[]; readonly allows: readonly Statement[]; readonly tags: ReadonlySet<TagPrefix> }
}

/** Whether any of it asks for such tags where the action is concerned: else nobody need look for them. */
export const asksForTags = (all: readonly Policies[], action: string, prefix: TagPrefix): boolean =>
  all.some((policies) => policies.about(action).tags.has(prefix))

function compileStatement(policy_id: string, index: number, statement: PolicyStatement): Statement {
  const [actions, resources] = [listed(statement.Action ?? statement.NotAction), listed(statement.Resource ?? statement.NotResource)]
  const text = JSON.stringify(statement)
  return {
    policy_id,
    index,
    sid: statement.Sid ?? null,
    allows: statement.Effect === 'Allow',
    actions: {
      names: new Set(actions.filter(isActionName)),
      patterns: actions.filter((text) => !isActionName(text)).map((text) => compilePattern(text)),
      negated: statement.Action === undefined,
    },
    resources: {
      patterns: resources.map((text) => compilePattern(text)),
      negated: statement.Resource === undefined,
      everything: statement.Resource !== undefined && resources.includes('*'),
    },
    conditions: compileConditions(statement.Condition),
    tags: tagPrefixes.filter((prefix) => text.includes(prefix)),
  }
}

const isAbout = ({ names, patterns, negated }: Statement['actions'], action: string): boolean =>
  (names.has(action) || patterns.some((pattern) => pattern.matches(action, nothing))) !== negated

/** `NotResource` with a variable that has no value could mean anything, so it means nothing. */
function fitsResource({ patterns, negated }: Statement['resources'], { resource, context }: AccessRequest): boolean {
  if (negated && patterns.some((pattern) => pattern.isUnknown(context))) return false
  return patterns.some((pattern) => pattern.matches(resource, context)) !== negated
}

const applies = (statement: Statement, request: AccessRequest): boolean =>
  fitsResource(statement.resources, request) && statement.conditions.every((condition) => condition.isMet(request.context))

/** How many actions are remembered; there are fewer, but somebody may ask about what is none. */
const rememberedActions = 2000

export function compilePolicies(sources: readonly PolicySource[]): Policies {
  const statements = sources.flatMap(({ id, document }) => document.Statement.map((statement, index) => compileStatement(id, index, statement)))
  const remembered = new Map<string, ReturnType<Policies['about']>>()
  return {
    about(action) {
      const known = remembered.get(action)
      if (known !== undefined) return known
      const about = statements.filter(({ actions }) => isAbout(actions, action))
      const found = {
        denies: about.filter(({ allows }) => !allows),
        allows: about.filter(({ allows }) => allows),
        tags: new Set(about.flatMap(({ tags }) => tags)),
      }
      if (remembered.size >= rememberedActions) remembered.clear()
      remembered.set(action, found)
      return found
    },
  }
}

const placeOf = ({ policy_id, index, sid }: Statement): StatementPlace => ({ policy_id, index, sid })

/**
 * As AWS decides: what is denied anywhere is denied; then every boundary has to allow it, and
 * one of the policies; else it is denied.
 * @param boundaries each the most that may be allowed; none where there are none
 */
export function decide(policies: Policies, boundaries: readonly Policies[], request: AccessRequest): Decision {
  const fits = (statement: Statement): boolean => applies(statement, request)
  for (const part of [policies, ...boundaries]) {
    const deny = part.about(request.action).denies.find(fits)
    if (deny !== undefined) return { outcome: 'explicitDeny', by: placeOf(deny) }
  }
  const allow = policies.about(request.action).allows.find(fits)
  if (allow === undefined) return { outcome: 'implicitDeny', by: null }
  if (boundaries.every((boundary) => boundary.about(request.action).allows.some(fits))) return { outcome: 'allowed', by: placeOf(allow) }
  return { outcome: 'outsideBoundary', by: null }
}

/**
 * What is refused under whatever circumstances; null where it may be allowed. For what is said before anybody asks: a
 * condition may be met or not, and where it is not said what it is about it may be anything.
 * @param request its context has what does not change with a request: who asks
 */
export function refusedAlways(
  policies: Policies,
  boundaries: readonly Policies[],
  { action, resource, context }: Omit<AccessRequest, 'resource'> & { readonly resource: string | null },
): (Decision & { readonly outcome: Exclude<Outcome, 'allowed'> }) | null {
  const isAlways = ({ resources, conditions }: Statement): boolean =>
    conditions.length === 0 && (resource === null ? resources.everything : fitsResource(resources, { action, resource, context }))
  const isPossible = ({ resources }: Statement): boolean => resource === null || fitsResource(resources, { action, resource, context })
  for (const part of [policies, ...boundaries]) {
    const deny = part.about(action).denies.find(isAlways)
    if (deny !== undefined) return { outcome: 'explicitDeny', by: placeOf(deny) }
  }
  if (!policies.about(action).allows.some(isPossible)) return { outcome: 'implicitDeny', by: null }
  return boundaries.every((boundary) => boundary.about(action).allows.some(isPossible)) ? null : { outcome: 'outsideBoundary', by: null }
}

/** Why a statement about an action did or did not apply. */
export interface Explanation extends StatementPlace {
  readonly effect: PolicyStatement['Effect']
  readonly applies: boolean
  /** It is about other resources. */
  readonly otherResource: boolean
  /** Conditions that were not met. */
  readonly unmet: readonly Pick<Condition, 'operator' | 'key'>[]
}

/** All statements about the action, denying ones first. */
export function explain(policies: Policies, request: AccessRequest): readonly Explanation[] {
  const { denies, allows } = policies.about(request.action)
  return [...denies, ...allows].map((statement) => {
    const otherResource = !fitsResource(statement.resources, request)
    const unmet = statement.conditions.filter((condition) => !condition.isMet(request.context)).map(({ operator, key }) => ({ operator, key }))
    return { ...placeOf(statement), effect: statement.allows ? 'Allow' : 'Deny', applies: !otherResource && unmet.length === 0, otherResource, unmet }
  })
}
