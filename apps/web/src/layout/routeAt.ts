import { routes, type Route } from '../routes.ts'

const escape = (text: string): string => text.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)

export const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split('/')
      .map((part) => (part.endsWith('?}') ? '' : part === '' ? '' : `/${escape(part).replace(/\{\w+\}/g, '[^/]+')}`))
      .join('')}${path.endsWith('?}') ? '(/[^/]+)?' : ''}/?$`,
  )

const exact = new Map(routes.map((route) => [route.path, route]))
const patterns = routes.filter((route) => route.path.includes('{')).map((route) => ({ route, pattern: patternOf(route.path) }))

/** The route of an address: exact ones before those with parameters. Null where there is none. */
export function routeAt(pathname: string): Route | null {
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname
  return exact.get(path) ?? patterns.find(({ pattern }) => pattern.test(path))?.route ?? null
}

/** The route of a path of the table, such as a parent. */
export const routeOf = (path: string): Route | null => exact.get(path) ?? null
