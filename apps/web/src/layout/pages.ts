import type { ComponentType } from 'react'
import { loadMessages } from '../locales/load.ts'
import type { Route } from '../routes.ts'

const loading = new Map<string, Promise<ComponentType>>()
const loaded = new Map<string, ComponentType>()

/** A page that is already here, or null. */
export const loadedPage = (route: Route): ComponentType | null => loaded.get(route.path) ?? null

/** A page with its messages. What failed to load is tried anew the next time. */
export function loadPage(route: Route): Promise<ComponentType> {
  const known = loading.get(route.path)
  if (known !== undefined) return known
  const load = route.page ?? (() => import('./PendingPage.tsx'))
  const page = Promise.all([load(), loadMessages(route.messages ?? [])]).then(([module]) => module.default)
  loading.set(route.path, page)
  page.then(
    (component) => loaded.set(route.path, component),
    () => loading.delete(route.path),
  )
  return page
}

/** For what is likely to be opened next; a failure shows when it is really opened. */
export const prefetchPage = (route: Route): void => void loadPage(route).catch(() => undefined)
