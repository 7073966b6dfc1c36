import { publicKeyText } from '@zhisuan/contract/agent/tunnel'
import { enrolments } from '@zhisuan/contract/ecrm/edge'
import { keep, newPrivateKey, publicKeyOf, readKept, type Kept } from './identity.ts'
import { askServer } from './server.ts'
import { version } from './version.ts'

const answerLimitBytes = 65_536

/** The server says no: another token is needed. */
export class EnrolmentRefused extends Error {}

export interface EnrolmentParts {
  readonly directory: string
  readonly server: string
  readonly token: string
  /** The gateway by which the server is reached. */
  readonly via?: string | undefined
  /** The server's public key, where it is known already: another server is not believed. */
  readonly key?: string | undefined
  readonly signal?: AbortSignal
}

/** Brings the token and this agent's own key to the server, and keeps who it is from then on. */
export async function enrol({ directory, server, token, via, key, signal }: EnrolmentParts): Promise<Kept> {
  const former = readKept(directory)
  // Kept before it is told: an answer that is lost on the way is asked for again with the same key.
  const mine: Kept = former ?? { private_key: newPrivateKey(), enrolled: null }
  if (former === null) keep(directory, mine)
  const { status, body } = await askServer(
    { url: server, via },
    {
      method: 'POST',
      path: enrolments.enrol.path,
      body: { token, public_key: publicKeyOf(mine.private_key), version },
      limitBytes: answerLimitBytes,
      signal: AbortSignal.any([AbortSignal.timeout(30_000), ...(signal === undefined ? [] : [signal])]),
    },
  )
  const text = body.toString('utf8')
  if (status !== 201) {
    const why = `the server answered ${status}: ${text.slice(0, 500)}`
    throw status >= 400 && status < 500 && status !== 429 ? new EnrolmentRefused(why) : new Error(why)
  }
  const { edge_id, server_public_key } = enrolments.enrol.response.parse(JSON.parse(text))
  const publicKey = publicKeyText.parse(server_public_key)
  if (key !== undefined && key !== publicKey) throw new EnrolmentRefused('this is not the server with that key')
  const kept: Kept = { ...mine, enrolled: { edge_id, server: { url: new URL(server).origin, public_key: publicKey, via: via ?? null } } }
  keep(directory, kept)
  return kept
}
