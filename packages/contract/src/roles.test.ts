import { describe, expect, it } from 'vitest'
import { admins, isPlatformKind, mayAccess, roles, tenants, userKinds } from './roles.ts'

describe('who somebody is to the platform', () => {
  it('is told by five kinds, of which 0 and 1 run it', () => {
    expect(userKinds.map(isPlatformKind)).toEqual([true, true, false, false, false])
  })

  it('is told by eight roles', () => {
    expect(roles.toSorted()).toEqual(['ADMIN', 'COPOTE_ADMIN', 'COPOTE_NORMAL', 'COPOTE_REVIEWER', 'OPERATION_SUPPORTER', 'PROVIDER', 'TENANT', 'TENANT_ADMIN'])
  })
})

describe('what somebody may open', () => {
  const may = (access: Parameters<typeof mayAccess>[0], kind: number, ...given: string[]) => mayAccess(access, { kind, roles: given })

  it('is what kinds 0 and 1 may as administrators, whatever their roles', () => {
    for (const kind of [0, 1]) {
      expect(may(admins, kind)).toBe(true)
      expect(may(tenants, kind)).toBe(true)
      expect(may(['TENANT', 'TENANT_ADMIN'], kind)).toBe(false)
    }
  })

  it('is, for others, what one of their roles may', () => {
    for (const kind of [2, 3, 4]) {
      expect(may(tenants, kind, 'PROVIDER', 'TENANT')).toBe(true)
      expect(may(tenants, kind, 'PROVIDER')).toBe(false)
      expect(may(admins, kind, 'TENANT_ADMIN')).toBe(false)
      expect(may(tenants, kind)).toBe(false)
    }
  })

  it('is for all who are signed in, or for everybody', () => {
    expect(may('all', 4)).toBe(true)
    expect(mayAccess('all', null)).toBe(false)
    expect(mayAccess('public', null)).toBe(true)
  })
})
