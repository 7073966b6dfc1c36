import { randomInt } from 'node:crypto'
import argon2 from '@node-rs/argon2'
import { sameForm } from '@zhisuan/contract/validation'

/** argon2id (the library's default) with the first of OWASP's recommended parameters (19 MiB, two passes, one lane). */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Of the form that looks the same: it may be set on one keyboard and typed on another. */
export const hashPassword = (password: string): Promise<string> => argon2.hash(sameForm(password), parameters)

/** Nobody's, so that an unknown user costs as much time as a known one. */
let nobodys: Promise<string> | null = null

/** @param stored null for an unknown user, empty for one who has no password: takes as long, and is false */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  nobodys ??= hashPassword('nobody has this password')
  const there = stored !== null && stored !== ''
  const hash = there ? stored : await nobodys
  const form = sameForm(password)
  // Those of before are of what was typed.
  const right = (await argon2.verify(hash, form)) || (form !== password && (await argon2.verify(hash, password)))
  return right && there
}

/** A first password for one to type off a screen: no letters that look alike, all the kinds that the rule wants. */
export function makeOneTimePassword(): string {
  const pick = (alphabet: string, length: number) => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${pick('ABCDEFGHJKLMNPQRSTUVWXYZ', 4)}-${pick('abcdefghijkmnpqrstuvwxyz', 4)}-${pick('23456789', 4)}`
}
