import { auth, type accessToken } from '@zhisuan/contract/ums/auth'
import type { z } from 'zod'
import { queryClient } from '../api/queryClient.ts'
import { request } from '../api/client.ts'
import { cloudChoiceKey } from './cloudChoice.ts'
import { writeKind, writeProjectKey, writeToken } from './cookies.ts'

/** Signed in: the token counts from here on. */
export function beginSession(token: z.output<typeof accessToken>): void {
  queryClient.clear()
  writeToken(token.token)
}

/** Local storage except the cloud choice, the cookies of the session, and everything that was read with it. */
export function clearSession(): void {
  try {
    const choice = localStorage.getItem(cloudChoiceKey)
    localStorage.clear()
    if (choice !== null) localStorage.setItem(cloudChoiceKey, choice)
  } catch {
    // A browser that forbids storage has nothing stored.
  }
  writeKind(null)
  writeProjectKey(null)
  writeToken(null)
  queryClient.clear()
}

/** Ends the session on the server too; where that fails, it ends here all the same. */
export async function signOut(): Promise<void> {
  try {
    await request(auth.logout, {})
  } catch {
    // The token expires soon by itself.
  }
  clearSession()
}
