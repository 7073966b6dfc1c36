import type { Offer } from '@zhisuan/contract/offer'
import { admins, isPlatformKind, mayAccess } from '@zhisuan/contract/roles'
import { groupNeeds, groupSort, routes, type Route, type RouteGroup, type RouteSection } from '../routes.ts'
import { mayOpen, type Person } from '../session/guard.ts'

export interface MenuSection {
  /** Null where a group is not divided. */
  readonly section: RouteSection | null
  readonly entries: readonly Route[]
}

export interface MenuGroup {
  readonly group: RouteGroup
  readonly sections: readonly MenuSection[]
  /** What none of its pages is of use without, and is not there; told to who may change that. */
  readonly missing: Offer | null
}

/** What the menu follows from, beside who somebody is. */
export interface MenuOf {
  /** What there is for them. */
  readonly offers: readonly Offer[]
  /** The page that they are on: whoever opened it by its address sees where they are. */
  readonly current: Pick<Route, 'path' | 'parent' | 'group'>
}

/** Sort numbers descend; what has none comes last, in the order of the table. */
const bySort = (left: Pick<Route, 'sort'>, right: Pick<Route, 'sort'>): number => (right.sort ?? 0) - (left.sort ?? 0)

/** The one rule of what is left out because nothing is there for it. Administrators see all: they change that. */
function isOffered({ path, group, needs }: Route, person: Person, { offers, current }: MenuOf): boolean {
  if (mayAccess(admins, person)) return true
  const there = (need: Offer | undefined): boolean => need === undefined || offers.includes(need)
  return (there(groupNeeds[group]) || current.group === group) && (there(needs) || path === (current.parent ?? current.path))
}

/**
 * What somebody sees in the drawer and, of one group, in the sidebar. Pages that roles or policies keep them from, pages that are not
 * built, and pages that nothing is there for, are in no menu; nor is a group with nothing in it.
 */
export function menuOf(person: Person, of: MenuOf, table: readonly Route[] = routes): MenuGroup[] {
  const entries = table.filter(
    (route) =>
      route.kind === 'menu' &&
      route.pending === undefined &&
      mayOpen(route, person) &&
      isOffered(route, person, of) &&
      // Of the licence only those are told who run the platform, whatever role somebody else has.
      (route.group !== 'license' || isPlatformKind(person.kind)),
  )
  const groups = [...new Set(entries.map((route) => route.group))].sort((left, right) => groupSort[right] - groupSort[left])
  return groups.map((group) => {
    const ofGroup = entries.filter((route) => route.group === group).sort(bySort)
    const sections = [...new Set(ofGroup.map((route) => route.section ?? null))]
    const need = groupNeeds[group]
    const missing = need === undefined || of.offers.includes(need) ? null : need
    return { group, missing, sections: sections.map((section) => ({ section, entries: ofGroup.filter((route) => (route.section ?? null) === section) })) }
  })
}

/** Groups whose pages are about one cloud: they have the switcher. */
export const isCloudGroup = (group: RouteGroup): boolean => group === 'nextStack' || group === 'compute'
