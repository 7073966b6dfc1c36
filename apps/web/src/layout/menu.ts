import { isPlatformKind, mayAccess } from '@zhisuan/contract/roles'
import { groupSort, routes, type Route, type RouteGroup, type RouteSection } from '../routes.ts'
import type { Person } from '../session/guard.ts'

export interface MenuSection {
  /** Null where a group is not divided. */
  readonly section: RouteSection | null
  readonly entries: readonly Route[]
}

export interface MenuGroup {
  readonly group: RouteGroup
  readonly sections: readonly MenuSection[]
}

/** Sort numbers descend; what has none comes last, in the order of the table. */
const bySort = (left: Pick<Route, 'sort'>, right: Pick<Route, 'sort'>): number => (right.sort ?? 0) - (left.sort ?? 0)

/**
 * What somebody sees in the drawer and, of one group, in the sidebar. Pages that they may not open,
 * and pages that are not built, are in no menu; nor is a group with nothing in it.
 */
export function menuOf(person: Person, table: readonly Route[] = routes): MenuGroup[] {
  const entries = table.filter(
    (route) =>
      route.kind === 'menu' &&
      route.pending === undefined &&
      mayAccess(route.access, person) &&
      // Of the licence only those are told who run the platform, whatever role somebody else has.
      (route.group !== 'license' || isPlatformKind(person.kind)),
  )
  const groups = [...new Set(entries.map((route) => route.group))].sort((left, right) => groupSort[right] - groupSort[left])
  return groups.map((group) => {
    const ofGroup = entries.filter((route) => route.group === group).sort(bySort)
    const sections = [...new Set(ofGroup.map((route) => route.section ?? null))]
    return { group, sections: sections.map((section) => ({ section, entries: ofGroup.filter((route) => (route.section ?? null) === section) })) }
  })
}

/** Groups whose pages are about one cloud: they have the switcher. */
export const isCloudGroup = (group: RouteGroup): boolean => group === 'nextStack' || group === 'compute'
