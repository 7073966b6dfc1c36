import { roles, type Role } from '@zhisuan/contract/roles'
import { describe, expect, it } from 'vitest'
import { translate } from '../i18n.ts'
import { groupSort, routes, type Route } from '../routes.ts'
import { offers, type Offer } from '@zhisuan/contract/offer'
import { menuOf, type MenuOf } from './menu.ts'

const as = (...given: Role[]) => ({ kind: 4, roles: given })
const on = (path: string, given: readonly Offer[]): MenuOf => {
  const current = routes.find((route) => route.path === path)
  if (current === undefined) throw new Error(`no page ${path}`)
  return { offers: given, current }
}
/** Where everything is there. */
const all = on('/userMsg', offers)
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
    expect(pathsOf(menuOf(as(), all, [entry('/a', 1), entry('/b'), entry('/c', 30), entry('/d', 2)]))).toEqual(['/c', '/d', '/a', '/b'])
  })

  it('has groups sorted by their sort numbers, descending', () => {
    const sorts = menuOf(as('ADMIN'), all).map(({ group }) => groupSort[group])
    expect(sorts.length).toBeGreaterThan(5)
    expect(sorts).toEqual(sorts.toSorted((one, other) => other - one))
  })

  it('of each role has what it may open, and nothing of administrators for others', () => {
    for (const role of roles) {
      const seen = pathsOf(menuOf(as(role), all))
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
    expect(pathsOf(menuOf(as('TENANT_ADMIN'), all))).toContain('/index')
    expect(pathsOf(menuOf(as('TENANT'), all))).not.toContain('/index')
  })

  it('leaves out what policies refuse, and a group of which nothing is left', () => {
    const person = { ...as('TENANT'), refused: ['nextstack.*', 'compute.volume.list', 'ecrm.*', 'bill.order.*'] }
    const seen = pathsOf(menuOf(person, all))
    for (const path of ['/nextStack/vm', '/volume', '/infrastructure/node', '/order']) expect(seen).not.toContain(path)
    for (const path of ['/instance', '/wallet', '/containerApplicationService/appTemplate']) expect(seen).toContain(path)
    expect(menuOf(person, all).map(({ group }) => group)).not.toContain('nextStack')
  })

  // Its search goes over what is written in it.
  it('names what people look for by its name', () => {
    const titles = menuOf(as('TENANT'), all).flatMap(({ sections }) =>
      sections.flatMap(({ entries }) => entries.map(({ title }) => translate(`routes:${title}`))),
    )
    for (const wanted of ['发票', '充值', '云主机']) expect(titles.filter((title) => title.includes(wanted))).not.toEqual([])
  })

  it('has no detail and add pages, and no page that is not built', () => {
    const table = [entry('/a', 1), { ...entry('/a/add'), kind: 'hidden' as const, parent: '/a' }, { ...entry('/b'), pending: true as const }]
    expect(pathsOf(menuOf(as(), all, table))).toEqual(['/a'])
  })

  it('leaves out what nothing is there for: a family without a cloud, what runs on nodes without a node', () => {
    const groupsOf = (given: readonly Offer[]) => menuOf(as('TENANT'), on('/userMsg', given)).map(({ group }) => group)
    expect(groupsOf(offers)).toEqual(expect.arrayContaining(['nextStack', 'compute', 'containerApplication']))
    expect(groupsOf(['nextStack', 'node'])).not.toContain('compute')
    expect(groupsOf(['compute'])).not.toContain('nextStack')
    const containers = (given: readonly Offer[]) => pathsOf(menuOf(as('TENANT'), on('/userMsg', given))).filter((path) => path.includes('Deploy'))
    expect(containers(['nextStack'])).toEqual([])
    expect(containers(['node'])).toHaveLength(2)
    // Where one gets a node stays.
    expect(pathsOf(menuOf(as('TENANT'), on('/userMsg', [])))).toContain('/infrastructure/node')
  })

  it('shows who opened such a page by its address where they are', () => {
    const [group] = menuOf(as('TENANT'), on('/routerdesc/{id}', ['nextStack'])).filter((one) => one.group === 'compute')
    expect(pathsOf(group === undefined ? [] : [group])).toContain('/router')
    expect(pathsOf(menuOf(as('TENANT'), on('/containerApplicationService/addcontainer', [])))).toContain('/containerApplicationService/containerDeploy')
  })

  it('shows administrators all of it, and says what is missing', () => {
    const menu = menuOf(as('ADMIN'), on('/userMsg', ['nextStack']))
    expect(pathsOf(menu).toSorted()).toEqual(pathsOf(menuOf(as('ADMIN'), all)).toSorted())
    expect(menu.filter(({ missing }) => missing !== null).map(({ group }) => group)).toEqual(['compute'])
  })
})
