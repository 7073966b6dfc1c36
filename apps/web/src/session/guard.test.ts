import type { Access, Role } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import { menuOf } from '../layout/menu.ts'
import { decide, landing, type Person } from './guard.ts'

const of = (role: Role, kind = 4): Person => ({ kind, roles: [role] })
const visit = (path: string, access: Access | null, person: Person | null, search = '') => decide({ path, search, access, signedIn: person !== null, person })

describe('where somebody begins, by their role', () => {
  it.each([
    ['ADMIN', '/index'],
    ['TENANT', '/nextStack/vm'],
    ['TENANT_ADMIN', '/nextStack/vm'],
    ['OPERATION_SUPPORTER', '/separateAccountingSystem/provider'],
    ['PROVIDER', '/separateAccountingSystem/providers_record'],
    ['COPOTE_NORMAL', '/workOrderlist'],
    ['COPOTE_REVIEWER', '/workOrderCenter'],
    ['COPOTE_ADMIN', '/workOrderCenter'],
  ] as const)('%s: %s', (role, path) => {
    expect(landing(of(role))).toBe(path)
    expect(visit('/login', 'public', of(role))).toEqual({ kind: 'go', to: path, clear: false })
  })

  it('who runs the platform, of whatever roles: /index', () => {
    for (const kind of [0, 1]) expect(landing({ kind, roles: [] })).toBe('/index')
  })
})

describe('the login page leads on', () => {
  it('to what was asked for, the overview too', () => {
    for (const wanted of ['/index', '/nextStack/vm?status=running'])
      expect(visit('/login', 'public', of('TENANT_ADMIN'), `?${new URLSearchParams({ redirect: wanted })}`)).toEqual({ kind: 'go', to: wanted, clear: false })
  })

  it('nowhere that somebody else made up, and not back to itself', () => {
    for (const wanted of ['https://elsewhere.example/', '//elsewhere.example', '/\telsewhere.example', '/login?redirect=/login'])
      expect(visit('/login', 'public', of('TENANT'), `?${new URLSearchParams({ redirect: wanted })}`)).toEqual({
        kind: 'go',
        to: '/nextStack/vm',
        clear: false,
      })
  })
})

describe('an address', () => {
  it('that no page has is missing, whoever asks', () => {
    expect(visit('/none', null, null)).toEqual({ kind: 'missing' })
    expect(visit('/none', null, of('ADMIN'))).toEqual({ kind: 'missing' })
  })

  it('that one may not open is forbidden, but for the overview, where everybody is sent first', () => {
    expect(visit('/iam/user', ['ADMIN'], of('TENANT_ADMIN'))).toEqual({ kind: 'forbidden' })
    expect(visit('/index', ['TENANT_ADMIN', 'ADMIN'], of('TENANT'))).toEqual({ kind: 'go', to: '/nextStack/vm', clear: false })
    expect(visit('/index', ['TENANT_ADMIN', 'ADMIN'], of('TENANT_ADMIN'))).toEqual({ kind: 'show' })
  })
})

describe('the menu', () => {
  const groups = (person: Person) => menuOf(person).map(({ group }) => group)
  it('shows the licence to kinds 0 and 1 only', () => {
    expect(groups({ kind: 1, roles: [] })).toContain('license')
    expect(groups(of('ADMIN'))).not.toContain('license')
  })
  it('shows an organisation’s pages to its administrators only', () => {
    for (const role of ['TENANT', 'ADMIN', 'PROVIDER'] as const) expect(groups(of(role))).not.toContain('organisation')
    expect(groups({ kind: 0, roles: [] })).not.toContain('organisation')
    expect(groups(of('TENANT_ADMIN'))).toContain('organisation')
  })
})
