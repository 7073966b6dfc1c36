import { z } from 'zod'

/**
 * How an agent and its server come to speak. The agent dials out by WebSocket; both prove who they
 * are by signing what the other made up (Ed25519); from then on the binary messages are one stream,
 * on which the server speaks HTTP/2 to the agent. Up to there each message is JSON text:
 * `hello` →, ← `challenge`, `proof` →, ← `welcome`.
 */
export const tunnelPath = '/api/ecrm/v1/agents/tunnel'

/** The server's key is in `SubjectPublicKeyInfo` DER, base64url: so are those of agents. */
export const publicKeyText = z.string().regex(/^[A-Za-z0-9_-]{59}$/)
const nonce = z.string().regex(/^[A-Za-z0-9_-]{43}$/)
const signature = z.string().regex(/^[A-Za-z0-9_-]{86}$/)

export const hello = z.strictObject({ edge_id: z.uuid(), nonce })
export const challenge = z.strictObject({ nonce, signature })
export const agentVersion = z.string().regex(/^\d{1,4}\.\d{1,4}\.\d{1,4}(-[a-z0-9.]{1,32})?$/)
export const proof = z.strictObject({ signature, version: agentVersion })
export const welcome = z.strictObject({ welcome: z.literal(true) })

/** What the server signs. Each text names its speaker, so that none can be played back as the other's. */
export const serverText = (edgeId: string, agentNonce: string, serverNonce: string): string =>
  `zhisuan tunnel: the server\n${edgeId}\n${agentNonce}\n${serverNonce}`
/** What the agent signs. */
export const agentText = (edgeId: string, agentNonce: string, serverNonce: string): string =>
  `zhisuan tunnel: the agent\n${edgeId}\n${serverNonce}\n${agentNonce}`

/** WebSocket close codes of ours (RFC 6455: 4000–4999). */
export const tunnelCloses = {
  /** Not who they say, or no longer known: to be enrolled anew; dialling again is of no use for a while. */
  refused: 4401,
  /** Another connection of the same agent has taken this one's place. */
  replaced: 4409,
  /** The server stops; another takes it, or itself soon. */
  stopping: 4503,
} as const

export const tunnelTimes = {
  /** From the first byte to `welcome`. Where thousands come at once each waits for its turn. */
  handshakeMs: 30_000,
  /** The server asks whether the agent is there. */
  pingEveryMs: 4_000,
  /** Without an answer for so long it is offline: with one ping, in less than 15 s. */
  deadAfterMs: 10_000,
  /** An agent that was not asked for so long dials anew. */
  silentAfterMs: 20_000,
  /** Dialling again waits twice as long each time, between nothing and that (full jitter). */
  backOffFirstMs: 500,
  backOffMostMs: 15_000,
  /** After having been refused. */
  refusedMs: 60_000,
} as const
