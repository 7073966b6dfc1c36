import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createNavigation, guardLeaving } from './navigation.ts'

/** A browser's history, as far as navigation asks it. */
function browser(start: string) {
  const entries: { url: URL; state: unknown }[] = [{ url: new URL(start, 'http://console'), state: null }]
  let at = 0
  let popped = (): void => undefined
  const entry = () => entries[at] ?? expect.fail()
  const write = (state: unknown, url: URL | undefined): { url: URL; state: unknown } => ({ state, url: url ?? entry().url })
  const go = (steps: number): void => {
    if (entries[at + steps] === undefined) return
    at += steps
    popped()
  }
  vi.stubGlobal('location', {
    get href() {
      return entry().url.href
    },
    get pathname() {
      return entry().url.pathname
    },
    get search() {
      return entry().url.search
    },
    get hash() {
      return entry().url.hash
    },
  })
  vi.stubGlobal('history', {
    get state() {
      return entry().state
    },
    pushState: (state: unknown, _: string, url: URL) => void (entries.splice(++at, Infinity, write(state, url)), undefined),
    replaceState: (state: unknown, _: string, url?: URL) => void (entries[at] = write(state, url)),
    go,
  })
  vi.stubGlobal('addEventListener', (_: 'popstate', listen: () => void) => (popped = listen))
  vi.stubGlobal('scrollY', 0)
  return { go, paths: () => entries.map(({ url }) => url.pathname + url.search), path: () => entry().url.pathname }
}

let leave = (): void => undefined
beforeEach(() => (leave = () => undefined))
afterEach(() => {
  leave()
  vi.unstubAllGlobals()
})

it('goes on, in place of where it is, and back, and tells each', () => {
  const { paths, go } = browser('/login')
  const { navigator, location, listen } = createNavigation()
  const changed = vi.fn()
  listen(changed)
  navigator.push('/index?tab=a#b', { from: 'login' })
  expect(location()).toMatchObject({ pathname: '/index', search: '?tab=a', hash: '#b', state: { from: 'login' } })
  navigator.replace({ search: '?tab=c' })
  expect(location()).toMatchObject({ pathname: '/index', search: '?tab=c', hash: '', state: null })
  expect(paths()).toEqual(['/login', '/index?tab=c'])
  const { key } = location()
  go(-1)
  expect(location().pathname).toBe('/login')
  expect(location().key).not.toBe(key)
  go(1)
  expect(location().key).toBe(key)
  expect(changed).toHaveBeenCalledTimes(4)
})

it('holds back who would leave what they typed, until they have said that they want to', () => {
  const { path, go } = browser('/list')
  const { navigator, location } = createNavigation()
  navigator.push('/form')
  const hold = vi.fn<(proceed: () => void) => void>()
  leave = guardLeaving({ asks: ({ currentLocation, nextLocation }) => currentLocation.pathname !== nextLocation.pathname, hold })
  navigator.push('?step=2')
  expect(hold).not.toHaveBeenCalled()
  navigator.push('/other')
  expect(path()).toBe('/form')
  go(-2)
  expect([path(), location().pathname, location().search]).toEqual(['/form', '/form', '?step=2'])
  expect(hold).toHaveBeenCalledTimes(2)
  const [[toOther], [back]] = hold.mock.calls as [[() => void], [() => void]]
  back()
  expect([path(), location().pathname]).toEqual(['/list', '/list'])
  go(2)
  expect(path()).toBe('/list')
  toOther()
  expect(location().pathname).toBe('/other')
})
