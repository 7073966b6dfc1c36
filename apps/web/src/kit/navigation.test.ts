import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createNavigation, guardLeaving } from './navigation.ts'

/** A browser's history, as far as navigation asks it. */
function browser(start: string) {
  const entries: { url: URL; state: unknown }[] = [{ url: new URL(start, 'http://console'), state: null }]
  let at = 0
  let popped = (): void => undefined
  const entry = () => entries[at] ?? expect.fail()
  const left: string[] = []
  const write = (state: unknown, url: URL = entry().url): { url: URL; state: unknown } => {
    if (url.origin !== entry().url.origin) throw new DOMException('of another host', 'SecurityError')
    return { state, url }
  }
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
    assign: (url: URL) => void left.push(url.href),
  })
  vi.stubGlobal('history', {
    get state() {
      return entry().state
    },
    pushState: (state: unknown, _: string, url: URL) => {
      const next = write(state, url)
      entries.splice(++at, Infinity, next)
    },
    replaceState: (state: unknown, _: string, url?: URL) => void (entries[at] = write(state, url)),
    go,
  })
  vi.stubGlobal('addEventListener', (_: 'popstate', listen: () => void) => (popped = listen))
  vi.stubGlobal('scrollY', 0)
  return { go, paths: () => entries.map(({ url }) => url.pathname + url.search), path: () => entry().url.pathname, left }
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

it('stays in the console where an address begins with two slashes, which would name another host', () => {
  const { paths, left } = browser('http://console//elsewhere.example/page')
  const { navigator } = createNavigation()
  navigator.push({ search: '?tab=a' })
  navigator.push({ pathname: '//elsewhere.example/page', search: '?tab=b' })
  navigator.replace('//elsewhere.example/other')
  expect(left).toEqual([])
  expect(paths().slice(1)).toEqual(['//elsewhere.example/page?tab=a', '//elsewhere.example/other'])
  expect(navigator.createURL?.('//elsewhere.example/x').host).toBe('console')
  expect(navigator.encodeLocation?.('//elsewhere.example/x?a=/#b')).toEqual({ pathname: '//elsewhere.example/x', search: '?a=/', hash: '#b' })
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
