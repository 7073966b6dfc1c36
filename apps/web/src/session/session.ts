import { organisationOf, rememberOrganisation } from './organisation.ts'
import { auth, type accessToken } from '@zhisuan/contract/ums/auth'
import { singleSignOn } from '@zhisuan/contract/ums/identityProvider'
import type { z } from 'zod'
import { queryClient } from '../api/queryClient.ts'
import { request, requestLast } from '../api/client.ts'
import { cloudChoiceKey } from './cloudChoice.ts'
import { writeKind, writeProjectKey, writeToken } from '../api/cookies.ts'

let prepare: () => void = () => undefined

/** What is made ready while somebody signs in is the layout's, which this module must not know. */
export function onSigningIn(make: () => void): void {
  prepare = make
}

/** Whoever signs in goes to the console next: its script comes while the server checks the password. */
export const signingIn = (): void => prepare()

/** Signed in: the token counts from here on. */
export function beginSession(token: z.output<typeof accessToken>): void {
  queryClient.clear()
  writeToken(token.token)
}

/** Local storage except the cloud choice and whose accounts one signed in with, the cookies of the session, and everything that was read with it. */
export function clearSession(): void {
  try {
    const choice = localStorage.getItem(cloudChoiceKey)
    // Whose accounts the next one signs in with is about this browser's place, and nothing of the person's.
    const organisation = organisationOf(null)
    localStorage.clear()
    if (organisation !== undefined) rememberOrganisation(organisation)
    if (choice !== null) localStorage.setItem(cloudChoiceKey, choice)
  } catch {
    // A browser that forbids storage has nothing stored.
  }
  writeKind(null)
  writeProjectKey(null)
  writeToken(null)
  queryClient.clear()
}

const signOnKey = 'zhisuan.signOn'

/** So that signing out asks for the provider's own way out; gone with the session. */
export function rememberSignOn(): void {
  try {
    localStorage.setItem(signOnKey, '1')
  } catch {
    // Without storage one signs out here only.
  }
}
function cameBySignOn(): boolean {
  try {
    return localStorage.getItem(signOnKey) !== null
  } catch {
    return false
  }
}

/** Ends the session on the server too; where that fails, it ends here all the same. */
export async function signOut(): Promise<void> {
  let leaveTo: string | null = null
  try {
    if (cameBySignOn()) leaveTo = (await request(singleSignOn.end, {})).url
  } catch {
    // One signs out here only.
  }
  try {
    await requestLast(auth.logout)
  } catch {
    // The token expires soon by itself.
  }
  clearSession()
  if (leaveTo !== null) location.assign(leaveTo)
}
