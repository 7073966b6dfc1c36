import { constants } from '@zhisuan/contract/constants'
import { errors } from '@zhisuan/contract/errors'
import type { RefusedByPolicy } from '@zhisuan/contract/problem'
import { translate } from '../i18n.ts'
import { noAnswer, type ApiError } from './client.ts'

/** What the person is told of a failed call: section 8, in one place. */
export type ToastDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'toast'; readonly text: string; readonly refused?: RefusedByPolicy; /** Copies within this time stay out. */ readonly suppressMs?: number }
  /** The session is over: storage is cleared, and the login page says why. */
  | { readonly kind: 'sessionEnded'; readonly text: string }

const silentPath = /^\/api\/(cis|aos)\/v1\/docker\/(instances|deployments)(\/|\?|$)/
const passwordTokenPath = '/api/ums/v1/auth/password/tokens'
const terminalPath = /\/terminals?(\/|\?|$)/

/** Which action was refused, and which statement says so. */
function refusedText({ action, outcome, by }: RefusedByPolicy): string {
  if (outcome === 'role') return translate('error.refused.role', { action })
  const statement = by === null ? '' : by.sid === null ? translate('error.statement', { index: by.index + 1 }) : `“${by.sid}”`
  return translate(`error.refused.${outcome}`, { action, statement })
}

/** The text for a person: the catalogue's by code, else the server's message (client.ts), else 未知状态. */
export function errorText(error: Pick<ApiError, 'status' | 'code' | 'message'> & { readonly refused?: ApiError['refused'] | undefined }): string {
  if (error.code === noAnswer.timeout) return translate('error.timeout')
  if (error.code === noAnswer.offline) return translate('error.offline')
  if (error.refused != null) return refusedText(error.refused)
  return error.message === '' ? translate('error.unknown') : error.message
}

/** @param onLoginPage there, only a failed sign-in by password says anything. */
export function decideToast(
  error: Pick<ApiError, 'status' | 'code' | 'message' | 'path' | 'method'> & { readonly refused?: ApiError['refused'] | undefined },
  onLoginPage: boolean,
): ToastDecision {
  if (error.code === noAnswer.aborted) return { kind: 'none' }
  if (error.status === 401) {
    if (!onLoginPage) return { kind: 'sessionEnded', text: errorText(error) }
    return error.path.startsWith(passwordTokenPath) ? { kind: 'toast', text: errorText(error) } : { kind: 'none' }
  }
  if (silentPath.test(error.path)) return { kind: 'none' }
  if (error.status === 409 && error.method === 'POST' && terminalPath.test(error.path)) return { kind: 'toast', text: translate('error.oneTerminal') }
  if (error.code === errors.repositoryPasswordUnset.code) return { kind: 'none' }
  // The first-password page covers everything; a toast for each refused call would only add noise.
  if (error.code === errors.initialPasswordUnchanged.code) return { kind: 'none' }
  const text = errorText(error)
  return error.code === errors.noPermission.code
    ? { kind: 'toast', text, suppressMs: constants.illegalOperationSuppressMs, ...(error.refused != null && { refused: error.refused }) }
    : { kind: 'toast', text }
}

export interface ToastOutlets {
  readonly show: (text: string, ms: number, refused?: RefusedByPolicy) => void
  readonly endSession: (text: string) => void
  readonly isLoginPage: () => boolean
  readonly now: () => number
}

/** Tells people of failed calls; remembers what it has just said. */
export function createToaster(outlets: ToastOutlets): (error: ApiError) => void {
  const quietUntil = new Map<string, number>()
  return (error) => {
    const decision = decideToast(error, outlets.isLoginPage())
    if (decision.kind === 'none') return
    if (decision.kind === 'sessionEnded') {
      outlets.endSession(decision.text)
      return
    }
    const now = outlets.now()
    if ((quietUntil.get(decision.text) ?? 0) > now) return
    if (decision.suppressMs !== undefined) quietUntil.set(decision.text, now + decision.suppressMs)
    outlets.show(decision.text, constants.errorToastMs, decision.refused)
  }
}
