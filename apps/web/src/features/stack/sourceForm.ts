import type { Stack, StackFile, StackRevision, stacks, Variable } from '@zhisuan/contract/aos/stack'
import type { BodyInput } from '@zhisuan/contract/define'
import { looksSecret } from './stackRules.ts'

/** What is typed of where an application comes from. */
export interface SourceValues {
  source: 'template' | 'compose'
  /** The version that is chosen. */
  template_id?: string | undefined
  compose: string
  values: Record<string, string | undefined>
  configs: { config_id?: string | undefined; path: string }[]
}

export const blankSource: SourceValues = { source: 'template', compose: '', values: {}, configs: [] }

/** The variables of a file that nobody has described: texts, of which those that sound so are secret. */
export const undescribed = (names: readonly string[]): Variable[] =>
  names.map((name) => ({ name, label: '', type: looksSecret(name) ? 'password' : 'text', required: false, default: null, choices: [] }))

/** What its values begin with. */
export const defaultsOf = (variables: readonly Variable[]): Record<string, string> =>
  Object.fromEntries(variables.flatMap(({ name, default: value }) => (value === null ? [] : [[name, value]])))

/** Rows that are typed to their end. */
export const wholeFiles = (rows: SourceValues['configs']): StackFile[] =>
  rows.flatMap((row) => (row?.config_id === undefined || (row.path ?? '') === '' ? [] : [{ config_id: row.config_id, path: row.path }]))

/** Values of these variables; what is empty is left to the file, except where it had a value before and is to have none. */
export function valuesFor(
  variables: readonly Pick<Variable, 'name'>[],
  values: SourceValues['values'],
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const entries = variables.map(({ name }) => [name, values[name] ?? ''] as const)
  return Object.fromEntries(entries.filter(([name, value]) => value !== '' || (before[name] ?? '') !== ''))
}

type Source = Pick<BodyInput<typeof stacks.create>, 'compose' | 'template_id' | 'values' | 'configs'>

/** What a deployment is asked for with. */
export function sourceOf({ source, template_id, compose, values, configs }: SourceValues, variables: readonly Variable[]): Source {
  const rest = { values: valuesFor(variables, values), configs: wholeFiles(configs) }
  return source === 'template' && template_id !== undefined ? { template_id, ...rest } : { compose, ...rest }
}

/** What an update is asked for with: the file only where it is another, so that a stack stays one of its template. */
export function changeOf({ source, template_id, compose, values, configs }: SourceValues, variables: readonly Variable[], before: StackRevision): Source {
  const rest = { values: valuesFor(variables, values, before.values), configs: wholeFiles(configs) }
  if (source === 'template' && template_id !== undefined) return { template_id, ...rest }
  return compose === before.compose ? rest : { compose, ...rest }
}

/** A revision as its form shows it. */
export const sourceFrom = ({
  compose,
  values,
  configs,
  template,
}: Pick<StackRevision, 'compose' | 'values' | 'configs'> & Pick<Stack, 'template'>): SourceValues => ({
  source: template === null ? 'compose' : 'template',
  ...(template !== null && { template_id: template.id }),
  compose,
  values: { ...values },
  configs: configs.map((file) => ({ ...file })),
})

export interface ValueChange {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
}

/** Variables whose values differ, by name; null where there is none. */
export function changedValues(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string | undefined>>): ValueChange[] {
  const given = (values: Readonly<Record<string, string | undefined>>, name: string): string | null => {
    const value = values[name]
    return value === undefined || value === '' ? null : value
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return names.map((name) => ({ name, before: given(before, name), after: given(after, name) })).filter((one) => one.before !== one.after)
}
