import { offers } from '@zhisuan/contract/offer'
import type { Access, Role } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import { menuOf } from '../layout/menu.ts'
import { decide, type Person } from './guard.ts'

const of = (role: Role, kind = 4): Person => ({ kind, roles: [role] })
const visit = (path: string, access: Access | null, person: Person | null, search = '') => decide({ path, search, access, signedIn: person !== null, person })

describe('the login page leads on', () => {
  it('to what was asked for, the overview too', () => {
    for (const wanted of ['/index', '/nextStack/vm?status=running'])
      expect(visit('/login', 'public', of('TENANT_ADMIN'), `?${new URLSearchParams({ redirect: wanted })}`)).toEqual({ kind: 'go', to: wanted, clear: false })
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
  const groups = (person: Person) => menuOf(person, { offers, current: { path: '/userMsg', group: 'general' } }).map(({ group }) => group)
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
