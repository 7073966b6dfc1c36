import { variable, variablesMax, type Variable } from '@zhisuan/contract/aos/stack'
import { looksSecret } from './stackRules.ts'

/** What is typed of a variable: fields of other types stay while the person changes their mind. */
export interface VariableValues {
  name: string
  label: string
  type: Variable['type']
  required: boolean
  default: string
  choices: string[]
}

/** One that begins with its name. */
export const blankVariable = (name = ''): VariableValues => ({
  name,
  label: '',
  type: looksSecret(name) ? 'password' : 'text',
  required: true,
  default: '',
  choices: [],
})

export const variablesOf = (variables: readonly Variable[]): VariableValues[] =>
  variables.map((one) => ({ ...one, default: one.default ?? '', choices: [...one.choices] }))

/** Names of rows that are typed so far. */
export const namesOf = (rows: readonly (VariableValues | undefined)[] = []): string[] =>
  rows.flatMap((row) => (variable.shape.name.safeParse(row?.name).success && row !== undefined ? [row.name] : [])).slice(0, variablesMax)

/** An empty default is none, and only a choice has choices. */
export const variableOf = ({ choices, default: fallback, ...rest }: VariableValues): Variable => ({
  ...rest,
  default: (fallback ?? '') === '' ? null : fallback,
  choices: rest.type === 'choice' ? choices : [],
})

/** The version after one: the last number counts on, `1.9` is followed by `1.10`. What stands behind a hyphen goes. */
export function nextVersion(version: string): string {
  const [plain = version] = version.split('-')
  const parts = plain.split('.')
  return [...parts.slice(0, -1), String(Number(parts.at(-1) ?? 0) + 1)].join('.')
}
