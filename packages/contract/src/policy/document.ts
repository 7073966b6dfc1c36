import { z } from 'zod'
import { isResourcePattern } from './resource.ts'
import { policyTexts } from './texts.ts'

/**
 * A policy: who has it may do what its statements allow, and may not what they deny. Shape and
 * meaning follow AWS IAM's policy language (IAM User Guide, "Policy evaluation logic"), so that
 * people who know that know this; actions are the ids of our calls.
 */

/** The version of the language, not of a policy. */
export const policyLanguage = '2026-11-21'

export const policyLimits = {
  /** Of a document as JSON, in characters. */
  documentLength: 16_384,
  statements: 100,
  /** Of actions, resources or values of a condition. */
  items: 200,
  patternLength: 256,
  /** Of actions that have a wildcard, in all statements: each is compared with every action that there is. */
  wildcards: 200,
  /** Versions that a policy keeps; before another one an old one has to go. */
  versions: 5,
} as const

const conditionTypes = {
  String: ['Equals', 'NotEquals', 'EqualsIgnoreCase', 'NotEqualsIgnoreCase', 'Like', 'NotLike'],
  Numeric: ['Equals', 'NotEquals', 'LessThan', 'LessThanEquals', 'GreaterThan', 'GreaterThanEquals'],
  Date: ['Equals', 'NotEquals', 'LessThan', 'LessThanEquals', 'GreaterThan', 'GreaterThanEquals'],
} as const
type ConditionTypes = typeof conditionTypes
type Compared = { [T in keyof ConditionTypes]: `${T}${ConditionTypes[T][number]}` }[keyof ConditionTypes]

/** Without the set prefix (`ForAnyValue:`) and the suffix `IfExists`. */
export type ConditionOperator = Compared | 'Bool' | 'IpAddress' | 'NotIpAddress' | 'Null'

export const conditionOperators = [
  ...Object.entries(conditionTypes).flatMap(([type, names]) => names.map((name) => `${type}${name}`)),
  'Bool',
  'IpAddress',
  'NotIpAddress',
  'Null',
] as readonly ConditionOperator[]

export type SetPrefix = 'ForAnyValue' | 'ForAllValues'

export interface OperatorParts {
  readonly operator: ConditionOperator
  readonly set: SetPrefix | null
  readonly ifExists: boolean
}

const variantsOf = (operator: ConditionOperator): readonly OperatorParts[] =>
  // Null asks itself whether the key is there.
  operator === 'Null'
    ? [{ operator, set: null, ifExists: false }]
    : ([null, 'ForAnyValue', 'ForAllValues'] as const).flatMap((set) => [false, true].map((ifExists) => ({ operator, set, ifExists })))

const written = new Map(
  conditionOperators
    .flatMap(variantsOf)
    .map((parts) => [`${parts.set === null ? '' : `${parts.set}:`}${parts.operator}${parts.ifExists ? 'IfExists' : ''}`, parts]),
)

/** `ForAnyValue:StringLikeIfExists` in its parts; undefined where it is none. */
export const operatorParts = (text: string): OperatorParts | undefined => written.get(text)

const pattern = z.string().min(1, policyTexts.empty).max(policyLimits.patternLength, policyTexts.tooLong)
const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1, policyTexts.empty).max(policyLimits.items, policyTexts.tooMany)])

const action = pattern.regex(/^[A-Za-z0-9_.*?-]+$/, policyTexts.action)
const resource = pattern.refine(isResourcePattern, policyTexts.resource)
const conditionValue = z.union([z.string().max(policyLimits.patternLength, policyTexts.tooLong), z.number(), z.boolean()])

/** What a statement of {@link policyDocument} says. */
export const policyStatement = z
  .strictObject({
    /** A name of its own, which decisions are explained with. */
    Sid: z
      .string()
      .regex(/^[A-Za-z0-9]{1,64}$/, policyTexts.sid)
      .optional(),
    Effect: z.enum(['Allow', 'Deny'], policyTexts.effect),
    Action: oneOrMore(action).optional(),
    NotAction: oneOrMore(action).optional(),
    Resource: oneOrMore(resource).optional(),
    NotResource: oneOrMore(resource).optional(),
    /** Operator → key → values. All keys of all operators have to fit; of the values of a key one. */
    Condition: z
      .record(
        z.string().refine((text) => operatorParts(text) !== undefined, policyTexts.operator),
        z.record(z.string().regex(/^[A-Za-z][A-Za-z0-9:/_.@-]{0,127}$/, policyTexts.key), oneOrMore(conditionValue)),
      )
      .optional(),
  })
  .refine(({ Action, NotAction }) => (Action === undefined) !== (NotAction === undefined), { path: ['Action'], message: policyTexts.actionChoice })
  .refine(({ Resource, NotResource }) => (Resource === undefined) !== (NotResource === undefined), { path: ['Resource'], message: policyTexts.resourceChoice })
export type PolicyStatement = z.output<typeof policyStatement>

/** Whether a pattern of actions is one action's very name. */
export const isActionName = (text: string): boolean => !/[*?]/.test(text)
const wildcardsIn = (statements: readonly PolicyStatement[]): number =>
  statements.flatMap(({ Action, NotAction }) => listed(Action ?? NotAction)).filter((text) => !isActionName(text)).length

export const policyDocument = z
  .strictObject({
    Version: z.literal(policyLanguage, policyTexts.version),
    Statement: z.array(policyStatement).min(1, policyTexts.empty).max(policyLimits.statements, policyTexts.tooMany),
  })
  .refine((document) => JSON.stringify(document).length <= policyLimits.documentLength, policyTexts.documentTooLong)
  .refine(({ Statement }) => wildcardsIn(Statement) <= policyLimits.wildcards, { path: ['Statement'], message: policyTexts.tooManyWildcards })
  .refine(({ Statement }) => new Set(Statement.flatMap(({ Sid }) => Sid ?? [])).size === Statement.filter(({ Sid }) => Sid !== undefined).length, {
    path: ['Statement'],
    message: policyTexts.sidTwice,
  })
export type PolicyDocument = z.output<typeof policyDocument>

/** One or more, as more. */
export const listed = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T]
