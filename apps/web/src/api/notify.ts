import type { MessageInstance } from 'antd/es/message/interface'
import { createToaster, type ToastOutlets } from './toasts.ts'
import type { ApiError } from './client.ts'

/**
 * antd's messages need a React context for their theme, while calls fail outside of React: the app
 * hands its message instance over once it stands.
 */
let outlet: MessageInstance | null = null
let sessionEnder: ToastOutlets['endSession'] = () => undefined

export function connectNotify(message: MessageInstance, endSession: ToastOutlets['endSession']): void {
  outlet = message
  sessionEnder = endSession
}

/** Tells the person of a failed call, by the rules of toasts.ts. */
export const toastError: (error: ApiError) => void = createToaster({
  show: (text, ms) => void outlet?.error({ content: text, duration: ms / 1000 }),
  endSession: (text) => sessionEnder(text),
  isLoginPage: () => location.pathname === '/login',
  now: () => Date.now(),
})

type Tone = 'success' | 'info' | 'warning' | 'error'

/** A plain message for three seconds, or as long as said. */
export const notify = (tone: Tone, text: string, ms = 3_000): void => void outlet?.open({ type: tone, content: text, duration: ms / 1000 })
