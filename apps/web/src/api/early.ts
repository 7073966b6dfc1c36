import { standings } from '@zhisuan/contract/bill/arrears'
import { changes } from '@zhisuan/contract/change'
import type { Call } from '@zhisuan/contract/define'
import { projects } from '@zhisuan/contract/issue/project'
import { messages } from '@zhisuan/contract/sys/message'
import { licences, system } from '@zhisuan/contract/sys/sys'
import { users } from '@zhisuan/contract/ums/user'

/** What ../early.ts asked before the scripts came, each answer for one who asks the same. */
interface Early {
  readonly token: string
  readonly answers: Map<string, Promise<Response>>
}
const early = (): Early | undefined => (globalThis as { readonly zhisuanEarly?: Early }).zhisuanEarly

/** The answer to what was asked before, once, or nothing where the token had ended; null at once where it was not asked. */
export function earlyAnswer(url: string, token: string | null): Promise<Response | null> | null {
  const asked = early()
  const answer = asked?.answers.get(url)
  if (asked === undefined || answer === undefined || asked.token !== token) return null
  asked.answers.delete(url)
  return answer.then(
    (response) => (response.status === 401 ? null : response),
    () => null,
  )
}

/** Whoever changes something must not read what was so before. */
export const forgetEarly = (): void => early()?.answers.clear()

/** Also in src/early.ts, which imports nothing. Goes with the session, as all of the local storage. */
const key = 'zhisuan.asked'
/** Asked around every page. */
const ofFrame: ReadonlySet<string> = new Set([users.current.path, system.info.path, licences.get.path, projects.list.path, standings.get.path])
/** Waits, and what no page's first drawing waits for. */
const never: ReadonlySet<string> = new Set([changes.wait.path, messages.unread.path])
/** What is asked later than this after somebody came to an address is not what its first drawing needs. */
const firstMs = 2_000
const mostAddresses = 40
const mostQuestions = 12

let here: { readonly address: string; readonly since: number; readonly urls: string[] } | null = null

/** Remembers for the next visit what this address asks; only what was answered, so that nobody is refused again and again. */
export function rememberAsked(call: Pick<Call, 'method' | 'path'>, url: string): void {
  if (call.method !== 'GET' || never.has(call.path) || typeof location === 'undefined') return
  const address = location.pathname + location.search
  if (here?.address !== address) here = { address, since: performance.now(), urls: [] }
  const isFrame = ofFrame.has(call.path)
  if (!isFrame && (performance.now() - here.since > firstMs || here.urls.includes(url) || here.urls.length === mostQuestions)) return
  try {
    const { '': frame = [], ...rest } = JSON.parse(localStorage.getItem(key) ?? '{}') as Readonly<Record<string, readonly string[]>>
    if (isFrame && frame.includes(url)) return
    if (!isFrame) here.urls.push(url)
    const others = Object.entries(rest).filter(([of]) => of !== address)
    const known = [...others.slice(1 - mostAddresses), [address, isFrame ? (rest[address] ?? []) : here.urls] as const]
    localStorage.setItem(key, JSON.stringify({ '': isFrame ? [...frame, url].slice(-mostQuestions) : frame, ...Object.fromEntries(known) }))
  } catch {
    // A full or forbidden store costs only that the page asks by itself.
  }
}
