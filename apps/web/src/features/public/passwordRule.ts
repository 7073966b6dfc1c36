import { auth } from '@zhisuan/contract/ums/auth'
import type { z } from 'zod'

type Typed = z.input<typeof auth.password.body>

/** What is wrong with what was typed to sign in, by field; null where nothing is. */
export function wrongWith(typed: Typed): Readonly<Partial<Record<keyof Typed, string>>> | null {
  const checked = auth.password.body.safeParse(typed)
  if (checked.success) return null
  const found: Partial<Record<keyof Typed, string>> = {}
  for (const { path, message } of checked.error.issues) found[path[0] === 'password' || path[0] === 'otp' ? path[0] : 'username'] ??= message
  return found
}
