import { readToken, writeToken } from './cookies.ts'

let running: Promise<string> | null = null

/**
 * Exchanges the HttpOnly refresh cookie for a new access token, once for however many requests ask
 * at the same time. The lock spans tabs: a refresh token that two tabs used would be taken for a
 * stolen one and end the session.
 * @param expired the access token that was refused
 * @param exchange makes the call; answers the new token
 */
export function refreshAccess(expired: string, exchange: () => Promise<string>): Promise<string> {
  running ??= withLock(() => renew(expired, exchange)).finally(() => {
    running = null
  })
  return running
}

async function renew(expired: string, exchange: () => Promise<string>): Promise<string> {
  const current = readToken()
  // Another tab was faster.
  if (current !== null && current !== expired) return current
  const token = await exchange()
  writeToken(token)
  return token
}

// Web Locks exist only in secure contexts; without them each tab is on its own.
const withLock = <T>(work: () => Promise<T>): Promise<T> =>
  typeof navigator !== 'undefined' && 'locks' in navigator ? navigator.locks.request('zhisuan.refresh', work).then((value) => value) : work()
