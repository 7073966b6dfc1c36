import { allCalls } from '@zhisuan/contract/calls'
import type { Call } from '@zhisuan/contract/define'
import type { ResourceType, Service, ServiceAction } from '@zhisuan/contract/iam/service'
import type { KeyType } from '@zhisuan/contract/policy/keys'
import type { PolicyVocabulary } from '@zhisuan/contract/policy/problems'
import { resourceName } from '@zhisuan/contract/policy/resource'
import { roles, type Role } from '@zhisuan/contract/roles'
import { platformScope, type Scope } from '../../../platform/auth/actor.ts'
import { subjectOf } from '../../../platform/auth/rules.ts'
import { iso, type Sql } from '../../../platform/db/database.ts'
import { listServices, type ShownService } from './service.store.ts'

const levelOf = (call: Call): ServiceAction['level'] =>
  call.method === 'GET' ? (call.id.endsWith('.list') ? 'list' : 'read') : call.id.startsWith('iam.') ? 'permissions' : 'write'

const typeOf = (id: string): string => id.split('.').slice(0, 2).join('.')

function actionOf(call: Call): ServiceAction {
  const possible: readonly Role[] = call.access === 'all' || call.access === 'public' ? roles : call.access
  return {
    id: call.id,
    summary: call.summary,
    level: levelOf(call),
    resource_type: typeOf(call.id),
    method: call.method,
    path: call.path,
    roles: [...possible],
    allowed_by: possible.filter((role) => !call.onlyByPolicy.includes(role)),
  }
}

/** What policies can be about: calls that need somebody, as they are declared. */
const ourActions = allCalls.filter(({ access }) => access !== 'public').map(actionOf)

export const builtInServices: readonly Service[] = [...Map.groupBy(ourActions, (action) => subjectOf(action).service)].map(([id, actions]) => ({
  id,
  built_in: true,
  name: id,
  description: '',
  bp_id: null,
  bp_name: null,
  actions,
  condition_keys: [],
  updated_at: null,
}))

/** Of ours, and those that will be: families of the specification that have no calls yet. */
export const reservedServices: ReadonlySet<string> = new Set([
  ...allCalls.map(({ id }) => subjectOf({ id }).service),
  'zs',
  'ims',
  'cls',
  'omc',
  'aos',
  'cis',
  'bill',
  'issue',
  'service-manager',
])

/** How what is of a kind is called after it: by its id, or by what it lies in and its name there. */
const patternOf = (kind: string): string =>
  allCalls
    .flatMap((call) => (call.id.startsWith(`${kind}.`) ? (call.subjectId?.({ pid: '{project}', name: '{repository}' }) ?? []) : []))
    .find((one) => one.includes('/')) ?? '{id}'

const typesOf = (actions: readonly ServiceAction[]): ResourceType[] =>
  [...Map.groupBy(actions, ({ resource_type }) => resource_type)].map(([id, own]) => {
    const { service, type } = subjectOf({ id })
    return {
      id,
      service,
      type,
      built_in: true,
      description: '',
      pattern: patternOf(id),
      name: resourceName(service, type, '{organisation}', patternOf(id)),
      actions: own.map((action) => action.id),
    }
  })
export const builtInTypes: readonly ResourceType[] = typesOf(ourActions)

export const customService = (row: ShownService): Service => ({
  id: row.id,
  built_in: false,
  name: row.name,
  description: row.description,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  actions: row.actions.map(({ name, level, description }) => ({
    id: `${row.id}.${name}`,
    summary: description,
    level,
    resource_type: typeOf(`${row.id}.${name}`),
    method: null,
    path: null,
    roles: [...roles],
    allowed_by: [],
  })),
  condition_keys: row.condition_keys.map(({ name, ...key }) => ({ key: `${row.id}:${name}`, ...key })),
  updated_at: iso(row.updated_at),
})

export const customTypes = (row: ShownService): ResourceType[] => {
  const { id, actions } = customService(row)
  return row.types.map(({ type, pattern, description }) => ({
    id: `${id}.${type}`,
    service: id,
    type,
    built_in: false,
    description,
    pattern,
    name: resourceName(id, type, '{organisation}', pattern),
    actions: actions.filter(({ resource_type }) => resource_type === `${id}.${type}`).map((action) => action.id),
  }))
}

/** All that a policy can name, where these services are there. */
export function vocabularyOf(custom: readonly ShownService[]): PolicyVocabulary {
  const services = custom.map(customService)
  return {
    actions: [...allCalls.map(({ id }) => id), ...services.flatMap(({ actions }) => actions.map(({ id }) => id))],
    types: custom.flatMap(customTypes).map(({ id }) => id),
    keys: Object.fromEntries(services.flatMap(({ condition_keys }) => condition_keys.map(({ key, type }): [string, KeyType] => [key, type]))),
  }
}

/** What a policy of an organisation can name; one of the platform's everything, as it may bound anybody. */
export const vocabularyFor = async (on: Sql, bpId: string | null): Promise<PolicyVocabulary> =>
  vocabularyOf(await listServices(on, bpId === null ? platformScope : { bp_id: bpId }))

/** Actions of other services that somebody sees. */
export const customActionsOf = async (on: Sql, scope: Scope): Promise<readonly string[]> =>
  (await listServices(on, scope)).flatMap((row) => customService(row).actions.map(({ id }) => id))
