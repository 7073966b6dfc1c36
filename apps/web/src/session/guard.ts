import type { Call } from '@zhisuan/contract/define'
import { isRefused } from '@zhisuan/contract/policy/refused'
import { isPlatformKind, mayAccess, type Access } from '@zhisuan/contract/roles'
import { paths, withQuery } from '../paths.ts'
import { groupSort, routes, type Route } from '../routes.ts'

/** What the guard knows of somebody signed in. */
export interface Person {
  readonly kind: number
  readonly roles: readonly string[]
  /** What policies refuse them whatever it is about: `refused` of the current user. */
  readonly refused?: readonly string[]
}

/** A page as far as it is asked who may open it. */
type Asked = Pick<Route, 'access' | 'asks'>

const isAllowed = (action: string, { refused = [] }: Person): boolean => !isRefused(refused, action)

/**
 * Whether somebody may make a call at all, by roles and policies: the one rule by which menus, addresses, buttons and
 * whatever reads something beside a page leave out what they would only be refused.
 */
export const mayMake = ({ id, access }: Pick<Call, 'id' | 'access'>, person: Person | null): boolean =>
  mayAccess(access, person) && (person === null || isAllowed(id, person))

/** The same of a page: by its roles, and by the call that it is of no use without. */
export const mayOpen = ({ access, asks }: Asked, person: Person): boolean => mayAccess(access, person) && (asks === undefined || isAllowed(asks, person))

/** Where the navigation stands: section 4. */
export interface Visit {
  readonly path: string
  /** With its question mark, or empty. */
  readonly search: string
  /** Of the path's route; null for a path that no route has. */
  readonly access: Access | null
  /** The same of what the route's page asks. */
  readonly asks?: string | undefined
  readonly signedIn: boolean
  /** Who the token belongs to; null until the server has said so. */
  readonly person: Person | null
}

export type Decision =
  | { readonly kind: 'show' }
  /** Until it is known who the person is. */
  | { readonly kind: 'wait' }
  /** Said at the address that was asked for: no page has it, or this person may not see it. */
  | { readonly kind: 'missing' }
  /** `by`: whether no role of theirs opens it, or policies refuse what it asks. */
  | { readonly kind: 'forbidden'; readonly by: 'role' | 'policy' }
  | { readonly kind: 'go'; readonly to: string; /** What is stored of an earlier session goes. */ readonly clear: boolean }

const show: Decision = { kind: 'show' }
const go = (to: string, clear = false): Decision => ({ kind: 'go', to, clear })

/** A path of our own, or null: nobody is sent elsewhere by a link that somebody made up. */
export function ownPath(target: string | null): string | null {
  // Browsers take \ for /, and drop tabs and line breaks, so that /\t/host would name another host.
  if (target === null || !/^\/(?![/\\])/.test(target) || /[\u0000-\u001f\\]/.test(target)) return null
  try {
    const url = new URL(target, 'https://own.invalid')
    return url.origin === 'https://own.invalid' ? url.pathname + url.search + url.hash : null
  } catch {
    return null
  }
}

/** Of an organisation's people: their instances, or else the first page of the menu that policies let them open. */
function firstOf(person: Person): string {
  const open = routes.filter((route) => route.kind === 'menu' && route.pending === undefined && route.asks !== undefined && mayOpen(route, person))
  if (open.some(({ path }) => path === paths.nextstack.vm.list.template)) return paths.nextstack.vm.list()
  return open.toSorted((one, other) => groupSort[other.group] - groupSort[one.group])[0]?.path ?? paths.account()
}

/** Where somebody begins who did not ask for anything else. */
export function landing(person: Person): string {
  const { kind, roles } = person
  if (isPlatformKind(kind) || roles.includes('ADMIN')) return paths.overview()
  if (roles.includes('TENANT') || roles.includes('TENANT_ADMIN')) return firstOf(person)
  if (roles.includes('OPERATION_SUPPORTER')) return paths.split.provider.list()
  if (roles.includes('PROVIDER')) return paths.split.providerRecords()
  if (roles.includes('COPOTE_REVIEWER') || roles.includes('COPOTE_ADMIN')) return paths.workOrder.center()
  if (roles.includes('COPOTE_NORMAL')) return paths.workOrder.list()
  // Nobody gave this person a role yet: their own information is open to all.
  return paths.account()
}

/** The login page, and back to here afterwards. */
export const loginFrom = (path: string, search: string): string =>
  path === paths.login() ? paths.login() : withQuery(paths.login(), { redirect: path + search })

/** The navigation guard. */
export function decide(visit: Visit): Decision {
  if (visit.access === null) return { kind: 'missing' }
  if (!visit.signedIn) return visit.access === 'public' ? show : go(loginFrom(visit.path, visit.search), true)
  if (visit.path === paths.login()) {
    if (visit.person === null) return { kind: 'wait' }
    const wanted = ownPath(new URLSearchParams(visit.search).get('redirect'))
    return go(wanted === null || wanted.startsWith(paths.login()) ? landing(visit.person) : wanted)
  }
  if (visit.access === 'public') return show
  if (visit.person === null) return { kind: 'wait' }
  if (mayOpen({ access: visit.access, ...(visit.asks !== undefined && { asks: visit.asks }) }, visit.person)) return show
  const by = mayAccess(visit.access, visit.person) ? 'policy' : 'role'
  // The overview is where everybody is sent first; who may not see it begins where they may.
  return visit.path === paths.overview() && by === 'role' ? go(landing(visit.person)) : { kind: 'forbidden', by }
}
