import { z } from 'zod'
import { constants } from './constants.ts'
import { fillText } from './errors.ts'
import { fieldTexts, limitTexts } from './texts.ts'

/** What people meet in forms where a schema has no words of its own; undefined leaves the rest to zod. */
function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return fieldTexts.contentRequired
  switch (issue.code) {
    case 'too_big':
      if (issue.maximum === Number.MAX_SAFE_INTEGER) return fieldTexts.numberTooLarge
      return issue.origin in limitTexts.most
        ? fillText(limitTexts.most[issue.origin as keyof typeof limitTexts.most], { limit: Number(issue.maximum) })
        : undefined
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return fieldTexts.contentRequired
      return issue.origin in limitTexts.least
        ? fillText(limitTexts.least[issue.origin as keyof typeof limitTexts.least], { limit: Number(issue.minimum) })
        : undefined
    case 'invalid_format':
      return issue.format === 'regex' ? fieldTexts.format : undefined
    case 'invalid_type':
      return issue.expected === 'int' ? fieldTexts.wholeNumber : undefined
    default:
      return undefined
  }
}

/**
 * The rules of section 5, used by the server for payloads and by the console for forms, so that
 * both say the same. Import this module and zod's own messages are Chinese too.
 */
z.config({ ...z.locales.zhCN(), customError: plainWords })

/** Text that can be stored and shown: of control characters only tab and line breaks. */
export const plainText = /^(?:\P{Cc}|[\t\n\r])*$/u
/** The same in one line. */
export const plainLine = /^\P{Cc}*$/u

/** What is missing breaks no further rule. */
const required = (text: string) => z.string(text).trim().min(1, { error: text, abort: true })

/**
 * The form in which what looks the same is the same: a radical is the character, a full-width letter the letter, however
 * a keyboard or a file wrote it.
 */
export const sameForm = (text: string): string => text.normalize('NFKC')

/** Required, in the form that looks alike, at most 64 characters, only Chinese characters, letters, digits, `_`, `-`, `.` and `@`. */
export const name = required(fieldTexts.contentRequired)
  .overwrite(sameForm)
  .max(constants.nameMaxLength, fieldTexts.contentTooLong)
  .regex(/^[\p{Script=Han}A-Za-z0-9_\-.@]+$/u, fieldTexts.nameCharacters)

/** Starts with a letter, then letters, digits, hyphen or underscore, at most 64 characters. */
export const clusterName = required(fieldTexts.nameRequired).regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, fieldTexts.clusterName)

/** Mainland mobile number, 11 digits. */
export const phone = required(fieldTexts.phoneRequired).regex(/^1[3-9]\d{9}$/, fieldTexts.phone)

export const email = required(fieldTexts.emailRequired).pipe(z.email(fieldTexts.email).max(254, fieldTexts.email).toLowerCase())

/** Six digits that were sent to a phone or mailbox. */
export const verificationCode = required(fieldTexts.verificationCodeRequired).regex(/^\d{6}$/, fieldTexts.verificationCode)

/** A password as typed to sign in: whatever it is, it is compared, not judged. */
export const passwordTyped = z.string(fieldTexts.passwordRequired).min(1, fieldTexts.passwordRequired).max(256, fieldTexts.passwordTooLong)

/** The one that is to be replaced. */
export const passwordOld = z.string(fieldTexts.oldPasswordRequired).min(1, fieldTexts.oldPasswordRequired).max(256, fieldTexts.passwordTooLong)

const passwordSet = (missing: string) =>
  z
    .string(missing)
    .overwrite(sameForm)
    .min(1, missing)
    .min(8, fieldTexts.passwordRule)
    .max(64, fieldTexts.passwordRule)
    .regex(plainLine, fieldTexts.controlCharacters)
    .refine((text) => [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(text)).length >= 3, fieldTexts.passwordRule)
/** A password to be set: 8 to 64 characters from at least three of: lower, upper, digit, other. */
export const passwordNew = passwordSet(fieldTexts.passwordRequired)
/** The same in place of another. */
export const passwordAnew = passwordSet(fieldTexts.newPasswordRequired)

const signInName = (missing: string) =>
  required(missing)
    .overwrite(sameForm)
    .min(2, fieldTexts.usernameLength)
    .max(constants.nameMaxLength, fieldTexts.contentTooLong)
    .regex(/^[\p{Script=Han}A-Za-z0-9_\-.@]+$/u, fieldTexts.nameCharacters)
/** The name that a person signs in with: trimmed, 2 to 64 characters of the name rule. */
export const username = signInName(fieldTexts.usernameRequired)
/** The same of who is made by an administrator. */
export const subAccountName = signInName(fieldTexts.subAccountRequired)

export const description = z.string().trim().max(255, fieldTexts.descriptionTooLong).regex(plainText, fieldTexts.controlCharacters)

/** What people call something and say of it, and may change of most. */
export const named = z.object({ name, description: description.default('') })

/** Text that people search lists by. */
export const keyword = z.string().trim().max(128).regex(plainLine, fieldTexts.controlCharacters).optional()
