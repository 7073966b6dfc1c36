import { username as usernameRule, email as emailRule, phone as phoneRule, sameForm } from '@zhisuan/contract/validation'
import { z } from 'zod'
import { readsAsAddress } from '../user/user.rules.ts'
import type { ProviderRow } from './provider.store.ts'

/** What a provider has said of somebody, as far as it may be believed. */
export interface Claimed {
  readonly subject: string
  /** What the account is called for people: its mailbox or name there. */
  readonly account: string
  /** Only where the provider has verified it. */
  readonly email: string | null
  readonly phone: string | null
  /** A name to sign in with, made fit; null where none can be made of what was said. */
  readonly username: string | null
  readonly displayName: string
}

const text = z.string().trim().min(1).max(254)
const textOf = (value: unknown): string | null => text.safeParse(value).data ?? null

/** Reads claims of an ID token and of userinfo by the provider's mapping. */
export function readClaims(claims: Readonly<Record<string, unknown>>, subject: string, names: ProviderRow['claims']): Claimed {
  const said = textOf(claims[names.email])
  // The flags belong to the standard's claims; other claims were chosen by an administrator, and need them all the same.
  const email = claims['email_verified'] === true ? (emailRule.safeParse(said).data ?? null) : null
  const phone =
    claims['phone_number_verified'] === true ? (phoneRule.safeParse(textOf(claims[names.phone])?.replace(/^\+86[ -]?|[ -]/g, '')).data ?? null) : null
  const wish = textOf(claims[names.username])
  return {
    subject,
    account: said ?? wish ?? subject.slice(0, 254),
    email,
    phone,
    username: fitUsername(wish) ?? fitUsername(email),
    displayName: (textOf(claims[names.display_name]) ?? '').replace(/\p{Cc}/gu, '').slice(0, 64),
  }
}

/** People sign in with names by a rule, and a name that reads as a mailbox could be another's. */
function fitUsername(wish: string | null): string | null {
  if (wish === null) return null
  const fit = sameForm(readsAsAddress(wish) ? (wish.split('@')[0] ?? '') : wish)
    .replace(/[^\p{Script=Han}A-Za-z0-9_\-.@]/gu, '-')
    .slice(0, 50)
  const { data } = usernameRule.safeParse(fit)
  return data === undefined || readsAsAddress(data) ? null : data
}

/** Whether `amr` or `acr` say what the provider's administrator takes for a second factor. */
export function provesSecond(claims: Readonly<Record<string, unknown>>, values: readonly string[]): boolean {
  const { amr, acr } = claims
  return (typeof acr === 'string' && values.includes(acr)) || (Array.isArray(amr) && amr.some((one) => typeof one === 'string' && values.includes(one)))
}
