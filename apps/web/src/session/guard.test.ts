// oxlint-disable-next-line no-restricted-imports
import { allCalls } from '@zhisuan/contract/calls'
import { offers } from '@zhisuan/contract/offer'
import type { Access, Role } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import { menuOf } from '../layout/menu.ts'
import { routes } from '../routes.ts'
import { decide, landing, mayMake, type Person } from './guard.ts'

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
    expect(visit('/iam/user', ['ADMIN'], of('TENANT_ADMIN'))).toEqual({ kind: 'forbidden', by: 'role' })
    expect(visit('/index', ['TENANT_ADMIN', 'ADMIN'], of('TENANT'))).toEqual({ kind: 'go', to: '/nextStack/vm', clear: false })
    expect(visit('/index', ['TENANT_ADMIN', 'ADMIN'], of('TENANT_ADMIN'))).toEqual({ kind: 'show' })
  })
})

describe('the table of routes', () => {
  it('says of every entry of a menu which call its page is of no use without: one that the roles of the page may make', () => {
    const calls = new Map(allCalls.map(({ id, access }) => [id, access]))
    const asking = routes.filter(({ asks }) => asks !== undefined)
    expect(asking.filter(({ asks = '' }) => !calls.has(asks)).map(({ path }) => path)).toEqual([])
    for (const { path, access, asks = '' } of asking) {
      const may = calls.get(asks) ?? []
      if (typeof access !== 'string' && typeof may !== 'string')
        expect(
          access.filter((role) => !may.includes(role)),
          path,
        ).toEqual([])
    }
    // What one was told is everybody's own.
    expect(routes.filter(({ kind, pending, asks }) => kind === 'menu' && pending === undefined && asks === undefined).map(({ path }) => path)).toEqual([
      '/messages',
    ])
  })
})

describe('what policies refuse', () => {
  const person: Person = { ...of('TENANT'), refused: ['nextstack.*', 'bill.order.create'] }

  it('is no call that is offered, and no page that may be opened, whatever the role says', () => {
    expect(mayMake({ id: 'nextstack.vm.list', access: ['TENANT'] }, person)).toBe(false)
    expect(mayMake({ id: 'bill.order.list', access: ['TENANT'] }, person)).toBe(true)
    expect(mayMake({ id: 'bill.order.list', access: ['ADMIN'] }, person)).toBe(false)
    expect(decide({ path: '/nextStack/vm', search: '', access: ['TENANT'], asks: 'nextstack.vm.list', signedIn: true, person })).toEqual({
      kind: 'forbidden',
      by: 'policy',
    })
    expect(decide({ path: '/order', search: '', access: ['TENANT'], asks: 'bill.order.list', signedIn: true, person })).toEqual({ kind: 'show' })
  })

  it('is not where somebody begins: that is the first page that is left, else their own account', () => {
    expect(landing(person)).toBe('/instance')
    expect(landing({ ...of('TENANT'), refused: ['nextstack.*', 'compute.*', 'cis.*', 'aos.*', 'ecrm.*', 'ims.*', 'files.*', 'market.*', 'omc.*'] })).toBe(
      '/monthOverview',
    )
    expect(
      landing({
        ...of('TENANT'),
        refused: ['nextstack.*', 'compute.*', 'cis.*', 'aos.*', 'ecrm.*', 'ims.*', 'files.*', 'market.*', 'omc.*', 'bill.*', 'models.*'],
      }),
    ).toBe('/userMsg')
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
