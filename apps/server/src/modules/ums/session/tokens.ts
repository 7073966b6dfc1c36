import { hash, randomBytes } from 'node:crypto'

/** 32 random bytes as base64url. Nobody can guess one, so a plain hash of it is enough to keep. */
const tokenBytes = 32
const familyBytes = 16

export const looksLikeToken = (text: string): boolean => /^[\w-]{43}$/.test(text)

export const hashOf = (token: string | Buffer): Buffer => hash('sha256', token, 'buffer')

export const newAccessToken = (): string => randomBytes(tokenBytes).toString('base64url')

/**
 * A refresh token: its first half stays the same for a whole session, its second half is new each
 * time. So one that was replaced long ago is still known for what it is, without a list of all
 * that ever were.
 * @param of the refresh token that it replaces; absent: the first of a session
 */
export function newRefreshToken(of?: string): string {
  const family = of === undefined ? randomBytes(familyBytes) : familyOf(of)
  return Buffer.concat([family, randomBytes(tokenBytes - familyBytes)]).toString('base64url')
}

export const familyOf = (refreshToken: string): Buffer => Buffer.from(refreshToken, 'base64url').subarray(0, familyBytes)
