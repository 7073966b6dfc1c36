import { roles, type Role } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import { translate } from '../i18n.ts'
import { groupSort, routes, type Route } from '../routes.ts'
import { menuOf } from './menu.ts'

const as = (...given: Role[]) => ({ kind: 4, roles: given })
const pathsOf = (menu: ReturnType<typeof menuOf>): readonly string[] =>
  menu.flatMap(({ sections }) => sections.flatMap(({ entries }) => entries.map(({ path }) => path)))

describe('the menu', () => {
  const entry = (path: string, sort?: number): Route => ({
    path,
    title: 'index',
    group: 'nextStack',
    access: 'all',
    kind: 'menu',
    ...(sort !== undefined && { sort }),
  })

  it('is sorted by sort numbers, descending; what has none comes last', () => {
    expect(pathsOf(menuOf(as(), [entry('/a', 1), entry('/b'), entry('/c', 30), entry('/d', 2)]))).toEqual(['/c', '/d', '/a', '/b'])
  })

  it('has groups sorted by their sort numbers, descending', () => {
    const sorts = menuOf(as('ADMIN')).map(({ group }) => groupSort[group])
    expect(sorts.length).toBeGreaterThan(5)
    expect(sorts).toEqual(sorts.toSorted((one, other) => other - one))
  })

  it('of each role has what it may open, and nothing of administrators for others', () => {
    for (const role of roles) {
      const seen = pathsOf(menuOf(as(role)))
      expect(seen.toSorted(), role).toEqual(
        routes
          // The licence is of kinds 0 and 1, whatever roles somebody has.
          .filter(
            ({ kind, pending, access, group }) =>
              kind === 'menu' && pending === undefined && group !== 'license' && (access === 'all' || access.includes(role)),
          )
          .map(({ path }) => path)
          .toSorted(),
      )
    }
    expect(pathsOf(menuOf(as('TENANT_ADMIN')))).toContain('/index')
    expect(pathsOf(menuOf(as('TENANT')))).not.toContain('/index')
  })

  // Its search goes over what is written in it.
  it('names what people look for by its name', () => {
    const titles = menuOf(as('TENANT')).flatMap(({ sections }) => sections.flatMap(({ entries }) => entries.map(({ title }) => translate(`routes:${title}`))))
    for (const wanted of ['发票', '充值', '云主机']) expect(titles.filter((title) => title.includes(wanted))).not.toEqual([])
  })

  it('has no detail and add pages, and no page that is not built', () => {
    const table = [entry('/a', 1), { ...entry('/a/add'), kind: 'hidden' as const, parent: '/a' }, { ...entry('/b'), pending: true as const }]
    expect(pathsOf(menuOf(as(), table))).toEqual(['/a'])
  })
})
