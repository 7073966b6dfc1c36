import type { z } from 'zod'
import { readBoolean, readDate, readNumber, readRange, type Reader } from './condition.ts'
import { isActionName, listed, operatorParts, policyDocument, type ConditionOperator, type PolicyDocument } from './document.ts'
import { comparesType, keyType as typeOfOurs, type KeyType } from './keys.ts'
import { compilePattern, variablesOf } from './pattern.ts'
import { policyTexts } from './texts.ts'

/** Something wrong with a policy, for the line that it is in. */
export interface PolicyProblem {
  /** Where in the document: `['Statement', 0, 'Action', 1]`. */
  readonly path: readonly (string | number)[]
  /** Chinese. */
  readonly message: string
}

/** What policies can be about. */
export interface PolicyVocabulary {
  /** Ids of calls, and actions of other services. */
  readonly actions: readonly string[]
  /** Kinds of resources that no action names: `erp.invoice`. */
  readonly types?: readonly string[]
  /** Condition keys beside our own. */
  readonly keys?: Readonly<Record<string, KeyType>>
}

const noContext = {}

function readerOf(operator: ConditionOperator): Reader<unknown> | null {
  if (operator.startsWith('String')) return null
  if (operator === 'Bool' || operator === 'Null') return readBoolean
  if (operator.endsWith('IpAddress')) return readRange
  return operator.startsWith('Date') ? readDate : readNumber
}

const unreadable = (operator: ConditionOperator): string => {
  if (operator === 'Bool' || operator === 'Null') return policyTexts.boolean
  if (operator.endsWith('IpAddress')) return policyTexts.range
  return operator.startsWith('Date') ? policyTexts.moment : policyTexts.number
}

/** `[item]` where there are several, nothing where one stands alone. */
const places = <T>(value: T | readonly T[] | undefined): readonly { readonly item: T; readonly at: readonly number[] }[] =>
  listed(value).map((item, index) => ({ item, at: Array.isArray(value) ? [index] : [] }))

/** Service and type of a name, where both are plain. */
function namesUnknownType(resource: string, types: ReadonlySet<string>): boolean {
  const [, service, type] = /^zrn:([^:*?$]+):(?:\$\{[^}]*\}|[^:])+:([^/*?$]+)(?:\/|$)/.exec(resource) ?? []
  return service !== undefined && type !== undefined && !types.has(`${service}.${type}`)
}

/** What the shape allows and still makes no sense: a name of nothing, a value that cannot be read. */
function meaningProblems({ Statement }: PolicyDocument, { actions, types: more = [], keys: theirs = {} }: PolicyVocabulary): PolicyProblem[] {
  const types = new Set([...actions, ...more].map((id) => id.split('.').slice(0, 2).join('.')))
  const names = new Set(actions)
  const services = new Set([...types].map((type) => type.split('.')[0]))
  const keyType = (key: string): KeyType | undefined => (Object.hasOwn(theirs, key) ? theirs[key] : typeOfOurs(key))
  return Statement.flatMap((statement, index) => {
    const problems: PolicyProblem[] = []
    const add = (message: string, ...path: readonly (string | number)[]): void => void problems.push({ path: ['Statement', index, ...path], message })
    const judgeVariables = (text: string, ...path: readonly (string | number)[]): void => {
      if (variablesOf(text).some((key) => keyType(key) === undefined)) add(policyTexts.variable, ...path)
    }

    for (const part of ['Action', 'NotAction'] as const) {
      for (const { item, at } of places(statement[part])) {
        const pattern = isActionName(item) ? null : compilePattern(item)
        if (pattern === null ? !names.has(item) : !actions.some((action) => pattern.matches(action, noContext))) add(policyTexts.actionUnknown, part, ...at)
      }
    }
    for (const part of ['Resource', 'NotResource'] as const) {
      for (const { item, at } of places(statement[part])) {
        const service = item.split(':')[1]
        if (service !== undefined && !/[*?$]/.test(service) && !services.has(service)) add(policyTexts.serviceUnknown, part, ...at)
        else if (namesUnknownType(item, types)) add(policyTexts.typeUnknown, part, ...at)
        judgeVariables(item, part, ...at)
      }
    }
    for (const [written, keys] of Object.entries(statement.Condition ?? {})) {
      const operator = operatorParts(written)?.operator
      if (operator === undefined) continue
      const read = readerOf(operator)
      for (const [key, values] of Object.entries(keys)) {
        const type = keyType(key)
        if (type === undefined) add(policyTexts.keyUnknown, 'Condition', written, key)
        else if (!comparesType(operator, type)) add(policyTexts.keyType, 'Condition', written, key)
        for (const { item, at } of places(values)) {
          const text = String(item)
          if (read === null) judgeVariables(text, 'Condition', written, key, ...at)
          else if (read(text) === null) add(unreadable(operator), 'Condition', written, key, ...at)
        }
      }
    }
    return problems
  })
}

/** What lies within an issue: of one or several, those of whichever was written; of a key, the key's own. */
function told(issue: z.core.$ZodIssue, from: readonly PropertyKey[] = []): readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  const path = [...from, ...issue.path]
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ path, message }))
  if (issue.code === 'invalid_union') {
    const written = issue.errors.find((issues) => issues.every(({ code, path }) => code !== 'invalid_type' || path.length > 0))
    if (written !== undefined) return written.flatMap((inner) => told(inner, path))
  }
  return [{ path, message: issue.message }]
}

/** The document, or all that is wrong with it. */
export function readPolicy(
  json: unknown,
  vocabulary: PolicyVocabulary,
): { readonly document: PolicyDocument } | { readonly problems: readonly PolicyProblem[] } {
  const parsed = policyDocument.safeParse(json)
  if (!parsed.success) {
    return {
      problems: parsed.error.issues
        .flatMap((issue) => told(issue))
        .map(({ path, message }) => ({ path: path.filter((part): part is string | number => typeof part !== 'symbol'), message })),
    }
  }
  const problems = meaningProblems(parsed.data, vocabulary)
  return problems.length === 0 ? { document: parsed.data } : { problems }
}
