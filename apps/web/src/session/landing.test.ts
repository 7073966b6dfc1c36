import { roles, type Role } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import { routes } from '../routes.ts'
import { decide, landing, type Person } from './guard.ts'

const landings: Readonly<Record<Role, string>> = {
  ADMIN: '/index',
  TENANT: '/nextStack/vm',
  TENANT_ADMIN: '/nextStack/vm',
  OPERATION_SUPPORTER: '/separateAccountingSystem/provider',
  PROVIDER: '/separateAccountingSystem/providers_record',
  COPOTE_NORMAL: '/workOrderlist',
  COPOTE_REVIEWER: '/workOrderCenter',
  COPOTE_ADMIN: '/workOrderCenter',
}
const visit = { path: '/', search: '', access: 'public', signedIn: true, person: null } as const
const person = (kind: number, ...given: Role[]): Person => ({ kind, roles: given })
const accessOf = (path: string) => routes.find((route) => route.path === path)?.access ?? null

describe('where somebody begins', () => {
  it.each(roles)('%s', (role) => {
    const who = person(4, role)
    expect(landing(who)).toBe(landings[role])
    expect(decide({ ...visit, path: '/login', person: who })).toEqual({ kind: 'go', to: landings[role], clear: false })
    // They may stay there, or they would be sent on for ever.
    expect(decide({ ...visit, path: landings[role], access: accessOf(landings[role]), person: who })).toEqual({ kind: 'show' })
  })

  it('is the overview for kinds 0 and 1, whatever their roles', () => {
    for (const kind of [0, 1]) expect(landing(person(kind, 'TENANT'))).toBe('/index')
  })

  it('is their own information for who has no role yet', () => expect(landing(person(4))).toBe('/userMsg'))
})

describe('the guard', () => {
  it('lets everybody see what is public', () => {
    for (const path of ['/login', '/register', '/messageBoard', '/Terms-of-Service', '/market', '/warehouse', '/'])
      expect(decide({ ...visit, path, access: accessOf(path), signedIn: false }), path).toEqual({ kind: 'show' })
  })

  it('sends who has no token to the login page, with the way back, and clears what is stored', () => {
    expect(decide({ ...visit, path: '/order', search: '?page=2', access: accessOf('/order'), signedIn: false })).toEqual({
      kind: 'go',
      to: '/login?redirect=%2Forder%3Fpage%3D2',
      clear: true,
    })
  })

  it('waits until it is known whose a token is', () => {
    expect(decide({ ...visit, path: '/login' })).toEqual({ kind: 'wait' })
    expect(decide({ ...visit, path: '/order', access: accessOf('/order') })).toEqual({ kind: 'wait' })
  })

  it('leads on from the login page to what was asked for, and to no other site', () => {
    const from = (redirect: string) => decide({ ...visit, path: '/login', search: `?${new URLSearchParams({ redirect })}`, person: person(4, 'TENANT') })
    expect(from('/order?page=2')).toMatchObject({ to: '/order?page=2' })
    for (const other of ['//example.com', '/\\example.com', '/\t/example.com', 'https://example.com/', 'javascript:alert(1)', '/login?redirect=/login'])
      expect(from(other), other).toMatchObject({ to: '/nextStack/vm' })
  })
})
