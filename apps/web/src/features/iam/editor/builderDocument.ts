import { comparesType, keyType, type KeyType } from '@zhisuan/contract/policy/keys'
import { conditionOperators, operatorParts, policyLanguage, type ConditionOperator } from '@zhisuan/contract/policy/document'
import { compilePattern } from '@zhisuan/contract/policy/pattern'

/**
 * The visual view reads and changes the very JSON that is written beside it: it only replaces what
 * it shows, so that whatever it cannot show stays as it is, and in its order.
 */
export type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A document as the builder shows it; null where the text is no JSON object. */
export interface BuilderDocument {
  readonly json: Json
  /** A statement that is no object is null: it is only seen in the JSON. */
  readonly statements: readonly (Json | null)[]
}

export function readBuilder(text: string): BuilderDocument | null {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  if (!isRecord(json)) return null
  const written = json['Statement']
  // Something else than statements would be lost by adding one.
  if (written !== undefined && !Array.isArray(written)) return null
  return { json, statements: (written ?? []).map((one: unknown) => (isRecord(one) ? one : null)) }
}

export const writeJson = (json: unknown): string => `${JSON.stringify(json, null, 2)}\n`

const withStatements = ({ json }: BuilderDocument, change: (statements: readonly unknown[]) => readonly unknown[]): string => {
  const written = json['Statement']
  return writeJson({ ...json, Statement: change(Array.isArray(written) ? (written as unknown[]) : []) })
}

const newStatement: Json = { Effect: 'Allow', Action: [], Resource: '*' }

/** What a new policy begins as. */
export const newDocument: string = writeJson({ Version: policyLanguage, Statement: [newStatement] })

export const addStatement = (document: BuilderDocument, statement: Json = newStatement): string => withStatements(document, (all) => [...all, statement])
export const replaceStatement = (document: BuilderDocument, index: number, statement: Json): string =>
  withStatements(document, (all) => all.map((one, at) => (at === index ? statement : one)))
export const removeStatement = (document: BuilderDocument, index: number): string => withStatements(document, (all) => all.toSpliced(index, 1))
/** Two statements cannot have one name. */
export const copyStatement = (document: BuilderDocument, index: number): string =>
  withStatements(document, (all) => {
    const { Sid: _, ...rest } = (all[index] ?? {}) as Json
    return all.toSpliced(index + 1, 0, rest)
  })

/** Sets a part in its place; undefined takes it out. */
export function setPart(statement: Json, part: string, value: unknown): Json {
  if (value !== undefined) return { ...statement, [part]: value }
  const { [part]: _, ...rest } = statement
  return rest
}

/** `Action` as `NotAction` and back, in the same place. */
export const renamePart = (statement: Json, from: string, to: string): Json =>
  Object.fromEntries(Object.entries(statement).map(([key, value]) => [key === from ? to : key, value]))

export type ListPart = 'Action' | 'NotAction' | 'Resource' | 'NotResource'

/** The texts of a part that holds one or several; what is no text is told by the problems. */
export const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).filter((one: unknown) => ['string', 'number', 'boolean'].includes(typeof one)).map(String)

/** Which of the two is written; the first where neither is. */
export const modeOf = <P extends ListPart>(statement: Json, [plain, negated]: readonly [P, P]): P => (negated in statement ? negated : plain)

/** One alone stands without brackets where it did before. */
export const listValue = (before: unknown, texts: readonly string[]): unknown =>
  texts.length === 1 && !Array.isArray(before) && before !== undefined ? texts[0] : texts

const shownParts: ReadonlySet<string> = new Set(['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource', 'Condition'])

/** What a statement has and the builder does not show. */
export const otherParts = (statement: Json): readonly string[] => Object.keys(statement).filter((key) => !shownParts.has(key))

export interface ConditionRow {
  readonly operator: string
  readonly key: string
  /** As written: one or several. */
  readonly value: unknown
}

export const conditionRows = (statement: Json): readonly ConditionRow[] =>
  Object.entries(isRecord(statement['Condition']) ? statement['Condition'] : {}).flatMap(([operator, keys]) =>
    isRecord(keys) ? Object.entries(keys).map(([key, value]) => ({ operator, key, value })) : [],
  )

/** Of two rows that came to ask the same of one key the values are put together. */
export function withConditions(statement: Json, rows: readonly ConditionRow[]): Json {
  if (rows.length === 0) return setPart(statement, 'Condition', undefined)
  const written: Record<string, Record<string, unknown>> = {}
  for (const { operator, key, value } of rows) {
    const keys = (written[operator] ??= {})
    keys[key] = key in keys ? [...new Set([...textsOf(keys[key]), ...textsOf(value)])] : value
  }
  return setPart(statement, 'Condition', written)
}

/** The plain operators that compare what a key holds; of an unknown key all. */
export const operatorsFor = (type: KeyType | undefined): readonly ConditionOperator[] =>
  conditionOperators.filter((operator) => type === undefined || comparesType(operator, type))

const firstOperator: Readonly<Record<KeyType, ConditionOperator>> = {
  text: 'StringEquals',
  number: 'NumericEquals',
  moment: 'DateGreaterThan',
  boolean: 'Bool',
  address: 'IpAddress',
}

/** With an operator that fits and is not taken by this key yet. */
export function newCondition(rows: readonly ConditionRow[], key: string): ConditionRow {
  const type = keyType(key)
  const taken = new Set(rows.filter((row) => row.key === key).map(({ operator }) => operator))
  const fitting = [firstOperator[type ?? 'text'], ...operatorsFor(type)]
  return { operator: fitting.find((one) => !taken.has(one)) ?? firstOperator[type ?? 'text'], key, value: type === 'boolean' ? 'true' : [] }
}

/** `ForAnyValue:StringLikeIfExists` with another comparison, as far as that one has such variants. */
export function withComparison(written: string, operator: ConditionOperator): string {
  const parts = operatorParts(written)
  if (operator === 'Null' || parts === undefined) return operator
  return `${parts.set === null ? '' : `${parts.set}:`}${operator}${parts.ifExists ? 'IfExists' : ''}`
}

/** With or without `IfExists`. */
export function withIfExists(written: string, ifExists: boolean): string {
  const parts = operatorParts(written)
  if (parts === undefined || parts.operator === 'Null') return written
  return `${parts.set === null ? '' : `${parts.set}:`}${parts.operator}${ifExists ? 'IfExists' : ''}`
}

/** How many actions a pattern is about. */
export function matchCount(pattern: string, actions: readonly string[]): number {
  const compiled = compilePattern(pattern)
  return actions.filter((action) => compiled.matches(action, {})).length
}
