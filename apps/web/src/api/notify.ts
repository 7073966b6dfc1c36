import type { RefusedByPolicy } from '@zhisuan/contract/problem'
import { createToaster } from './toasts.ts'
import type { ApiError } from './client.ts'

export type Tone = 'success' | 'info' | 'warning' | 'error'

/** A passing message at the top of the window. */
export interface Toast {
  readonly id: number
  readonly tone: Tone
  readonly text: string
  /** What policies refused: it can be explained. */
  readonly refused?: RefusedByPolicy
}

/** More at once than anybody reads. */
const shownMax = 5

let toasts: readonly Toast[] = []
let nextId = 1
const timers = new Map<number, ReturnType<typeof setTimeout>>()
const listeners = new Set<() => void>()

const set = (next: readonly Toast[]): void => {
  toasts = next
  for (const tell of listeners) tell()
}

export const toastStore = {
  subscribe(tell: () => void): () => void {
    listeners.add(tell)
    return () => listeners.delete(tell)
  },
  read: (): readonly Toast[] => toasts,
  dismiss(id: number): void {
    clearTimeout(timers.get(id))
    timers.delete(id)
    set(toasts.filter((toast) => toast.id !== id))
  },
}

/** A message for three seconds, or as long as said. The same text again only stays longer. */
export function notify(tone: Tone, text: string, ms = 3_000, refused?: RefusedByPolicy): void {
  for (const same of toasts.filter((toast) => toast.text === text)) toastStore.dismiss(same.id)
  const toast: Toast = { id: nextId++, tone, text, ...(refused !== undefined && { refused }) }
  for (const old of toasts.slice(0, Math.max(0, toasts.length + 1 - shownMax))) toastStore.dismiss(old.id)
  timers.set(
    toast.id,
    setTimeout(() => toastStore.dismiss(toast.id), ms),
  )
  set([...toasts, toast])
}

let endSession: (text: string) => void = () => undefined

/** What ends a session lives with the router, which this module must not know. */
export function onSessionEnd(end: (text: string) => void): void {
  endSession = end
}

const toast = createToaster({
  show: (text, ms, refused) => notify('error', text, ms, refused),
  endSession: (text) => endSession(text),
  isLoginPage: () => location.pathname === '/login',
  now: () => Date.now(),
})

const told = new WeakSet<ApiError>()

/** Whether this failure was told already: then a form need not say it too. */
export const isTold = (error: ApiError): boolean => told.has(error)

/** Tells the person of a failed call, by the rules of toasts.ts; of one failure once, however many ask for it. */
export function toastError(error: ApiError): void {
  if (told.has(error)) return
  told.add(error)
  toast(error)
}
