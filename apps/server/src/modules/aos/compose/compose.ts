import { stringify } from 'yaml'
import { fitsVariable, stackFile, type ComposeProblem as Problem, type StackFile, type Variable } from '@zhisuan/contract/aos/stack'
import { bindRefusal } from '@zhisuan/contract/cis/binds'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { isMapping, parseCompose, type Mapping } from './compose.parse.ts'
import { judge, type RuleParts } from './compose.rules.ts'
import { file, typed, inside, type Place } from './compose.places.ts'
import { named, servicesOf, type ComposeService } from './compose.service.ts'
import { fill, variablesIn } from './compose.variables.ts'

/**
 * What a compose file is judged by. Plain data: files are read in a process of their own (compose.apart.ts).
 */
export interface ComposeTerms {
  /** Whose wish it is; null of what was judged when it was asked for. */
  readonly asker: Pick<Actor, 'kind' | 'bp_id'> | null
  /** Where; null where that is not known yet. */
  readonly nodes: readonly { readonly bp_id: string | null }[] | null
  /** Whether others run on one of them too: then it has to keep to its share. */
  readonly shared: boolean
  /** What lies beside it; `any` where that is not known yet: files below the file's own directory then are none of the node's. */
  readonly configs: readonly StackFile[] | 'any'
}

/**
 * What somebody may have a file do.
 * @param nodes where; null where that is not known yet
 * @param shared see {@link ComposeTerms}
 */
export const termsOf = (
  { kind, bp_id }: Pick<Actor, 'kind' | 'bp_id'>,
  nodes: ComposeTerms['nodes'],
  configs: ComposeTerms['configs'],
  shared = false,
): ComposeTerms => ({
  asker: { kind, bp_id },
  nodes: nodes?.map((node) => ({ bp_id: node.bp_id })) ?? null,
  shared,
  configs,
})
/** For a file that was judged when it was asked for. */
export const judged = (configs: readonly StackFile[]): ComposeTerms => ({ asker: null, nodes: null, shared: false, configs })

function rulesOf({ asker, nodes, shared, configs }: ComposeTerms): Pick<RuleParts, 'free' | 'bind' | 'shared' | 'files'> {
  const files = pathsOf(configs)
  if (asker === null) return { free: true, bind: () => null, shared: false, files }
  const free = isPlatformKind(asker.kind)
  if (nodes === null) return { free, shared, bind: (path) => bindRefusal(asker, { bp_id: asker.bp_id }, path) ?? (free ? null : 'own'), files }
  return { free, shared, bind: (path) => nodes.map((node) => bindRefusal(asker, node, path)).find((refusal) => refusal !== null) ?? null, files }
}

/** A file that is ready to be deployed. */
export interface Prepared {
  readonly root: Mapping
  readonly services: readonly ComposeService[]
}

/**
 * All that can be told of a file before its variables have values.
 * @param declared what a template asks for; null where nobody has to declare anything
 */
export function checkCompose(
  text: string,
  terms: ComposeTerms,
  declared: ReadonlySet<string> | null = null,
): { problems: Problem[]; services: string[]; variables: string[] } {
  const { root, problems, report } = parseCompose(text)
  if (root === null) return { problems, services: [], variables: [] }
  judge(root, { report, ...rulesOf(terms), filled: false })
  const variables = new Set<string>()
  // Of what a service only names the value is asked for, as of a variable; it may go without.
  for (const [service, one] of Object.entries(isMapping(root['services']) ? root['services'] : {}))
    for (const [name, value] of named(isMapping(one) ? one['environment'] : undefined)) {
      if (value !== null || !variableName.test(name)) continue
      variables.add(name)
      if (declared !== null && !declared.has(name)) report(['services', service, 'environment'], 'variableUnset', { name }, 'warning', name)
    }
  walk(root, [], (value, path) => {
    const { names, needed, invalid } = variablesIn(value)
    for (const name of new Set(names)) {
      variables.add(name)
      if (declared === null || declared.has(name)) continue
      // Without a default nobody could ever deploy it.
      const fatal = needed.includes(name)
      report(path, fatal ? 'variableUndeclared' : 'variableFixed', { name }, fatal ? 'error' : 'warning', name)
    }
    for (const one of invalid) report(path, 'variableSyntax', { value: one })
    return value
  })
  const services = isMapping(root['services']) ? Object.keys(root['services']) : []
  return { problems: problems.toSorted((one, other) => one.line - other.line || one.column - other.column), services, variables: [...variables] }
}

/** @throws Refusal `composeInvalid` with the first thing that is wrong */
export function refuseInvalid(problems: readonly Problem[]): void {
  const first = problems.find(({ severity }) => severity === 'error')
  if (first !== undefined) throw new Refusal('composeInvalid', { field: 'compose', values: { line: first.line, reason: first.message } })
}

/**
 * A file with its variables filled in.
 * @throws Refusal `composeInvalid`, `variableMissing`
 */
export function prepare(text: string, values: ReadonlyMap<string, string>, terms: ComposeTerms): Prepared {
  const { root, problems, report } = parseCompose(text)
  refuseInvalid(problems)
  // Without a problem there is one.
  if (root === null) throw new Refusal('composeInvalid', { field: 'compose', values: { line: 1, reason: '' } })
  const filled = walk(root, [], (value, path, place) => {
    const { names, invalid } = variablesIn(value)
    for (const one of invalid) report(path, 'variableSyntax', { value: one })
    const whole = fill(value, values, (name, says) => {
      if (says === '') throw new Refusal('variableMissing', { field: `values.${name}`, values: { name } })
      report(path, 'variableRequired', { name, reason: says })
    })
    return names.length > 0 ? typed(whole, place) : whole
  })
  // A mapping stays one.
  const result = filled as Mapping
  // With all that aliases and variables brought.
  if (JSON.stringify(result).length > filledMax) report([], 'tooLong')
  judge(result, { report, ...rulesOf(terms), filled: true })
  refuseInvalid(problems)
  return { root: result, services: servicesOf(result) }
}

/** The same file with its variables filled in, as people read it. */
export const resolved = (text: string, values: ReadonlyMap<string, string>, terms: ComposeTerms): string =>
  stringify(prepare(text, values, terms).root, { lineWidth: 0 })

/**
 * Values of the variables that a template asks for.
 * @throws Refusal `variableMissing`, `variableInvalid`
 */
export function valuesOf(variables: readonly Variable[], given: Readonly<Record<string, string>>): Map<string, string> {
  const values = new Map(Object.entries(given))
  for (const variable of variables) {
    const { name, required, default: fallback } = variable
    const value = values.get(name) ?? fallback ?? ''
    if (value === '') {
      if (required) throw new Refusal('variableMissing', { field: `values.${name}`, values: { name } })
      // Nothing was said: what the file says by itself counts, or else it is empty.
      values.set(name, '')
      continue
    }
    if (!fitsVariable(variable, value)) throw new Refusal('variableInvalid', { field: `values.${name}`, values: { name } })
    values.set(name, value)
  }
  return values
}

/** Characters; what a node takes leaves room for what we add. */
const filledMax = 240_000

/** Such as a variable may be called. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** The same with every text made another, by where it stands; keys stay. */
function walk(
  value: unknown,
  path: readonly (string | number)[],
  change: (text: string, path: readonly (string | number)[], place: Place | undefined) => unknown,
  place: Place | undefined = file,
): unknown {
  if (typeof value === 'string') return change(value, path, place)
  if (Array.isArray(value)) return value.map((one, index) => walk(one, [...path, index], change, inside(place, index)))
  return isMapping(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, [...path, key], change, inside(place, key))])) : value
}

const pathsOf = (configs: ComposeTerms['configs']): { has: (path: string) => boolean } =>
  configs === 'any' ? { has: (path) => stackFile.shape.path.safeParse(path).success } : new Set(configs.map(({ path }) => path))
