import { isPlatformKind, mayAccess, type Access } from '@zhisuan/contract/roles'
import { paths, withQuery } from '../paths.ts'

/** What the guard knows of somebody signed in. */
export interface Person {
  readonly kind: number
  readonly roles: readonly string[]
}

/** Where the navigation stands: section 4. */
export interface Visit {
  readonly path: string
  /** With its question mark, or empty. */
  readonly search: string
  /** Of the path's route; null for a path that no route has. */
  readonly access: Access | null
  readonly signedIn: boolean
  /** Who the token belongs to; null until the server has said so. */
  readonly person: Person | null
}

export type Decision =
  | { readonly kind: 'show' }
  /** Until it is known who the person is. */
  | { readonly kind: 'wait' }
  /** Said at the address that was asked for: no page has it, or this person may not see it. */
  | { readonly kind: 'missing' | 'forbidden' }
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

/** Where somebody begins who did not ask for anything else. */
export function landing({ kind, roles }: Person): string {
  if (isPlatformKind(kind) || roles.includes('ADMIN')) return paths.overview()
  if (roles.includes('TENANT') || roles.includes('TENANT_ADMIN')) return paths.nextstack.vm.list()
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
  if (mayAccess(visit.access, visit.person)) return show
  // The overview is where everybody is sent first; who may not see it begins where they may.
  return visit.path === paths.overview() ? go(landing(visit.person)) : { kind: 'forbidden' }
}
