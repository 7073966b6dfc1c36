import type { RegistryConnection as Asked } from '@zhisuan/contract/ims/registry'
import { registryEngines } from '@zhisuan/contract/ims/registry'
import { createRegistry } from '@zhisuan/engines/registry/client'
import { createHarbor } from '@zhisuan/engines/registry/harbor'
import type { Registry as Client } from '@zhisuan/engines/registry/types'
import { z } from 'zod'
import type { Tokens } from '../token/tokens.ts'

/** How the platform reaches a registry: what is sealed in its row. */
export const keptConnection = z.object({
  engine: z.enum(registryEngines),
  url: z.string(),
  certificate_authority: z.string().nullable(),
  account: z.object({ username: z.string(), password: z.string() }).nullable(),
  /** It takes our tokens, made for this id. */
  ours: z.string().nullable(),
})
export type KeptConnection = z.output<typeof keptConnection>

/** @param kept what is known of it so far: whose password it is that is left out, where address and name are the same */
export function connectionOf(
  asked: Omit<Asked, 'account'> & { account?: { username: string; password?: string | undefined } | undefined },
  id: string,
  kept?: KeptConnection,
): KeptConnection {
  const url = asked.url.replace(/\/+$/, '')
  const before = kept?.url === url && kept.account?.username === asked.account?.username ? kept.account?.password : undefined
  return {
    engine: asked.engine,
    url,
    certificate_authority: asked.certificate_authority ?? null,
    account: asked.account === undefined ? null : { username: asked.account.username, password: asked.account.password ?? before ?? '' },
    // Without an account of its own a registry is asked by our tokens, which one that does not know them does not heed.
    ours: asked.account === undefined && asked.engine === 'distribution' ? id : null,
  }
}

/** The name that stands in front of its images. */
export const addressOf = ({ url }: Pick<KeptConnection, 'url'>): string => new URL(url).host

/** By whom the platform itself is known to registries: nobody else can be called so. */
export const platformSubject = ':zhisuan'

export const openRegistry = ({ engine, url, certificate_authority, account, ours }: KeptConnection, tokens: Pick<Tokens, 'sign'>): Client =>
  (engine === 'harbor' ? createHarbor : createRegistry)({
    url,
    ...(certificate_authority !== null && { certificateAuthority: certificate_authority }),
    credentials:
      account !== null
        ? { kind: 'account', ...account }
        : ours !== null
          ? { kind: 'minted', mint: async (scopes) => (await tokens.sign({ registryId: ours, subject: platformSubject, scopes })).token }
          : { kind: 'none' },
  })
