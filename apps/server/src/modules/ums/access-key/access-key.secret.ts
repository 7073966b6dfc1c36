import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { accessKeySecret, type AccessKeyScheme } from '@zhisuan/contract/ums/access-key'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const { prefixes, randomLength, checksumLength, pattern } = accessKeySecret

function checksum(text: string): string {
  let rest = crc32(text)
  return Array.from({ length: checksumLength }, () => {
    const digit = alphabet.charAt(rest % alphabet.length)
    rest = Math.floor(rest / alphabet.length)
    return digit
  })
    .toReversed()
    .join('')
}

/** 256 bits in base62, between what it is known by and a checksum of both. */
export function newSecret(scheme: AccessKeyScheme): string {
  const text = prefixes[scheme] + Array.from({ length: randomLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('')
  return text + checksum(text)
}

/** Whether a token is one of an access key, right or wrong. */
export const isAccessKeyToken = (token: string): boolean => token.startsWith(prefixes.bearer) || token.startsWith(prefixes.hmac)

/** Whether it could ever have been given: what was mistyped, cut off or made up is told without a question to the database. */
export const couldBeSecret = (text: string): boolean => pattern.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)

export const hintOf = (secret: string): string => secret.slice(-4)
