import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPath, parsePath, type Location, type Navigator, type To } from 'react-router'

/** Where the browser is, and how to get elsewhere. The router of react-router that asks before it leaves brings loaders and forms along, which nobody here uses. */
export interface Navigation {
  readonly navigator: Navigator
  readonly location: () => Location
  /** Tells of every change, until what it answers is called. */
  readonly listen: (changed: () => void) => () => void
}

/** What stands in an entry of the browser's history: what a page left there, its name, and its place. */
interface Entry {
  readonly usr: unknown
  readonly key: string
  readonly idx: number
}

const entry = (): Partial<Entry> => (history.state ?? {}) as Partial<Entry>

/** Whether nothing of ours lies before this page: what led here, such as signing in, may have taken the place of the first. */
export const isFirstPage = (): boolean => (entry().idx ?? 0) === 0

const currentLocation = (): Location => {
  const { pathname, search, hash } = location
  const { usr = null, key = 'default' } = entry()
  return { pathname, search, hash, state: usr, key }
}

/** An address of the console: a path that begins with two slashes, which a browser reads as another host, is one, too. */
function addressOf(to: To): URL {
  const { pathname, search = '', hash = '' } = typeof to === 'string' ? parsePath(to) : to
  return Object.assign(new URL(location.href), { ...(pathname !== undefined && { pathname }), search, hash })
}

interface Leaving {
  readonly currentLocation: Location
  readonly nextLocation: Location
}

interface Guard {
  readonly asks: (leaving: Leaving) => boolean
  readonly hold: (proceed: () => void) => void
}

const guards = new Set<Guard>()

/** Asks before somebody leaves, until what it answers is called. */
export function guardLeaving(guard: Guard): () => void {
  guards.add(guard)
  return () => void guards.delete(guard)
}

const positionsKey = 'zhisuan.scroll'
const positions = new Map<string, number>()

/** One for as long as the page is open: it listens to the browser's history and is never taken down. */
export function createNavigation(): Navigation {
  let here = currentLocation()
  let index = entry().idx ?? 0
  if (entry().idx === undefined) history.replaceState({ ...history.state, idx: index }, '')
  const listeners = new Set<() => void>()
  /** Moves that are ours and ask nobody: back to where somebody stays, and on once they said so. */
  let unasked: 'back' | 'on' | null = null

  const arrive = (): void => {
    positions.set(here.key, scrollY)
    here = currentLocation()
    for (const changed of listeners) changed()
  }
  /** Whether nobody wants to be asked first; who does may proceed later. */
  const isFree = (nextLocation: Location, proceed: () => void): boolean => {
    const guard = [...guards].findLast(({ asks }) => asks({ currentLocation: here, nextLocation }))
    guard?.hold(proceed)
    return guard === undefined
  }
  const go = (to: To, state: unknown, replace: boolean): void => {
    const url = addressOf(to)
    const key = Math.random().toString(36).slice(2, 10)
    const move = (): void => {
      const next: Entry = { usr: state ?? null, key, idx: replace ? index : index + 1 }
      try {
        if (replace) history.replaceState(next, '', url)
        else history.pushState(next, '', url)
      } catch (error) {
        if (error instanceof DOMException && error.name === 'DataCloneError') throw error
        // Some browsers allow only so many in a while.
        location.assign(url)
        return
      }
      index = next.idx
      arrive()
    }
    if (isFree({ pathname: url.pathname, search: url.search, hash: url.hash, state: state ?? null, key }, move)) move()
  }
  addEventListener('popstate', () => {
    const asked = unasked
    unasked = null
    if (asked === 'back') return
    const to = entry().idx
    const proceed = (): void => {
      unasked = 'on'
      history.go((to ?? index) - index)
    }
    // Where an entry is none of ours, there is no way back to where one was.
    if (asked === null && to !== undefined && to !== index && !isFree(currentLocation(), proceed)) {
      unasked = 'back'
      history.go(index - to)
      return
    }
    index = to ?? index
    arrive()
  })

  return {
    navigator: {
      createHref: (to) => (typeof to === 'string' ? to : createPath(to)),
      createURL: addressOf,
      encodeLocation: (to) => {
        const { pathname, search, hash } = addressOf(to)
        return { pathname, search, hash }
      },
      go: (steps) => history.go(steps),
      push: (to, state: unknown) => go(to, state, false),
      replace: (to, state: unknown) => go(to, state, true),
    },
    location: () => here,
    listen: (changed) => {
      listeners.add(changed)
      return () => void listeners.delete(changed)
    },
  }
}

export interface Blocker {
  /** Somebody wants to leave and waits to be asked. */
  readonly state: 'blocked' | 'unblocked'
  readonly proceed: () => void
  readonly reset: () => void
}

/** Holds back whoever is about to leave where `asks` says so, until they have said that they want to. */
export function useBlocker(asks: (leaving: Leaving) => boolean): Blocker {
  const [proceed, setProceed] = useState<(() => void) | null>(null)
  const latest = useRef(asks)
  useLayoutEffect(() => {
    latest.current = asks
  })
  useEffect(() => guardLeaving({ asks: (leaving) => latest.current(leaving), hold: (move) => setProceed(() => move) }), [])
  const reset = useCallback(() => setProceed(null), [])
  return {
    state: proceed === null ? 'unblocked' : 'blocked',
    proceed: () => {
      reset()
      proceed?.()
    },
    reset,
  }
}

/** Who goes back finds a page as far down as they left it; any other is shown from its top, or from where its hash says. */
export function useScrollPlace(here: Location): void {
  useLayoutEffect(() => {
    const manual = (): void => void (history.scrollRestoration = 'manual')
    const leave = (): void => {
      positions.set(currentLocation().key, scrollY)
      try {
        sessionStorage.setItem(positionsKey, JSON.stringify([...positions]))
      } catch {
        // A full or forbidden store costs only the place.
      }
      history.scrollRestoration = 'auto'
    }
    try {
      const kept = JSON.parse(sessionStorage.getItem(positionsKey) ?? '[]') as readonly [string, number][]
      for (const [key, top] of kept) if (!positions.has(key)) positions.set(key, top)
    } catch {
      // As above.
    }
    manual()
    addEventListener('pagehide', leave)
    addEventListener('pageshow', manual)
    return () => {
      removeEventListener('pagehide', leave)
      removeEventListener('pageshow', manual)
      history.scrollRestoration = 'auto'
    }
  }, [])
  useLayoutEffect(() => {
    const kept = positions.get(here.key)
    const target = here.hash === '' ? null : document.getElementById(decoded(here.hash.slice(1)))
    if (kept !== undefined) scrollTo(0, kept)
    else if (target !== null) target.scrollIntoView()
    else scrollTo(0, 0)
  }, [here])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
