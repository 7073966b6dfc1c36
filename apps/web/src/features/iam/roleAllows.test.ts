import type { Service } from '@zhisuan/contract/iam/service'
import { policyLanguage, type PolicyStatement } from '@zhisuan/contract/policy/document'
import { roles, type Role } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import { roleAllows } from './roleAllows.ts'

const action = (id: string, of: readonly Role[]) => ({
  id,
  summary: '',
  level: 'read' as const,
  method: 'GET',
  path: '',
  resource_type: 'a.thing',
  roles: [...of],
  allowed_by: [...of],
})
const services: readonly Service[] = [
  {
    id: 'a',
    built_in: true,
    name: 'a',
    description: '',
    bp_id: null,
    bp_name: null,
    condition_keys: [],
    updated_at: null,
    actions: [
      action('a.thing.list', ['TENANT', 'ADMIN']),
      action('a.thing.delete', ['TENANT', 'ADMIN']),
      action('a.thing.rule', ['ADMIN']),
      action('a.me.get', roles),
    ],
  },
]
const policy = (...Statement: PolicyStatement[]) => [{ id: 'p', document: { Version: policyLanguage, Statement } } as const]
const said = (...of: Parameters<typeof roleAllows>) => Object.fromEntries(roleAllows(...of))

describe('what a role allows', () => {
  it('is, of a built-in one, the calls that are declared for it', () => {
    expect(said({ built_in: true, base: 'TENANT' }, services, [])).toEqual({ 'a.thing.list': 'yes', 'a.thing.delete': 'yes', 'a.me.get': 'yes' })
  })

  it('is, of a custom one, what its policies say, and never more than its base', () => {
    const custom = { built_in: false, base: 'TENANT' } as const
    expect(said(custom, services, [])).toEqual({ 'a.thing.list': 'no', 'a.thing.delete': 'no', 'a.me.get': 'yes' })
    expect(said(custom, services, policy({ Effect: 'Allow', Action: '*', Resource: '*' }))).toEqual({
      'a.thing.list': 'yes',
      'a.thing.delete': 'yes',
      'a.me.get': 'yes',
    })
  })

  it('is denied where a policy always denies, and depends where resources or conditions are named', () => {
    const built = { built_in: true, base: 'TENANT' } as const
    expect(said(built, services, policy({ Effect: 'Deny', Action: 'a.thing.delete', Resource: '*' }))).toMatchObject({
      'a.thing.delete': 'denied',
      'a.thing.list': 'yes',
    })
    expect(
      said(built, services, policy({ Effect: 'Deny', Action: 'a.thing.delete', Resource: '*', Condition: { Bool: { 'zs:MfaPresent': 'false' } } })),
    ).toMatchObject({ 'a.thing.delete': 'partly' })
    expect(said({ built_in: false, base: 'TENANT' }, services, policy({ Effect: 'Allow', Action: 'a.thing.list', Resource: 'zrn:a:*:thing/1' }))).toMatchObject(
      { 'a.thing.list': 'partly', 'a.thing.delete': 'no' },
    )
  })
})
