/**
 * The cookies of section 9: token, kind and project key, and whether the sidebar is open. They end
 * with the browser; the refresh token, which lasts longer, is in a cookie that no script can read.
 */
const names = { token: 'token', kind: 'kind', project: 'project_key', sidebar: 'sidebar' } as const
type Name = keyof typeof names

function read(name: Name): string | null {
  if (typeof document === 'undefined') return null
  const start = `${names[name]}=`
  const found = document.cookie.split('; ').find((cookie) => cookie.startsWith(start))
  if (found === undefined) return null
  try {
    return decodeURIComponent(found.slice(start.length)) || null
  } catch {
    return null
  }
}

function write(name: Name, value: string | null, maxAgeSeconds?: number): void {
  if (typeof document === 'undefined') return
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  const age = value === null ? '; Max-Age=0' : maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
  document.cookie = `${names[name]}=${encodeURIComponent(value ?? '')}; Path=/; SameSite=Strict${age}${secure}`
}

const tokenListeners = new Set<() => void>()

export const readToken = (): string | null => read('token')
export function writeToken(token: string | null): void {
  write('token', token)
  for (const tell of tokenListeners) tell()
}
/** Told whenever this tab writes the token, for whoever shows something that depends on it. */
export function onTokenChange(tell: () => void): () => void {
  tokenListeners.add(tell)
  return () => tokenListeners.delete(tell)
}

export const writeKind = (kind: number | null): void => write('kind', kind === null ? null : String(kind))
export const writeProjectKey = (key: string | null): void => write('project', key)

const yearSeconds = 365 * 24 * 3600
export const readSidebarOpen = (): boolean => read('sidebar') !== 'closed'
export const writeSidebarOpen = (open: boolean): void => write('sidebar', open ? 'open' : 'closed', yearSeconds)
