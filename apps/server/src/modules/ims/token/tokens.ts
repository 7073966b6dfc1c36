import { randomUUID } from 'node:crypto'
import type { RegistryScope } from '@zhisuan/engines/registry/types'
import { SignJWT } from 'jose'
import type { Platform } from '../../../platform/platform.ts'
import { readTokenKey, type TokenKey } from './key.ts'

/** Who says that a token is good. */
export const tokenIssuer = 'zhisuan'
/** How long one is good: a push of many layers asks for another in between. */
export const tokenSeconds = 300

/** Registries take one so much longer than it says (distribution, `registry/auth/token`, "Leeway"), and their clocks may be a little behind. */
export const leewaySeconds = 75

/** What a token of ours is for. */
export interface TokenFor {
  /** The registry's id: what is for one is good at no other. */
  readonly registryId: string
  /** Who has it, as the registry tells of pushes and pulls; empty for nobody. */
  readonly subject: string
  readonly scopes: readonly RegistryScope[]
  /** How long it is good, where that is not as long as usual: a node pulls with one and cannot ask for another. */
  readonly seconds?: number
}

export type Tokens = ReturnType<typeof createTokens>

/** Tokens as the CNCF's distribution takes them ("Token Authentication Implementation"): a JWT, RS256, with what it lets do. */
export function createTokens({ db, secrets, now }: Pick<Platform, 'db' | 'secrets' | 'now'>) {
  let key: Promise<TokenKey> | null = null
  const keyOf = (): Promise<TokenKey> => {
    key ??= readTokenKey(db, secrets).catch((error: unknown) => {
      key = null
      throw error
    })
    return key
  }

  return {
    /** What a registry is to believe, PEM. */
    certificate: async (): Promise<string> => (await keyOf()).certificate,

    async sign({ registryId, subject, scopes, seconds: good = tokenSeconds }: TokenFor): Promise<{ token: string; issuedAt: Date; expiresAt: Date }> {
      const { privateKey, chain } = await keyOf()
      const issuedAt = now()
      const seconds = Math.floor(issuedAt.getTime() / 1000)
      const token = await new SignJWT({ access: scopes.filter(({ actions }) => actions.length > 0) })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', x5c: [...chain] })
        .setIssuer(tokenIssuer)
        .setSubject(subject)
        .setAudience(registryId)
        .setJti(randomUUID())
        // Clocks of nodes may be behind.
        .setNotBefore(seconds - 60)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + good)
        .sign(privateKey)
      return { token, issuedAt, expiresAt: new Date((seconds + good) * 1000) }
    },
  }
}
