import { agentPaths } from '@zhisuan/contract/agent/node'
import type { ServiceType } from '@zhisuan/contract/middleware/service'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { Platform } from '../../../platform/platform.ts'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'
import { openMysql } from './mysql.ts'
import { openPostgresql } from './postgresql.ts'
import { openRedis } from './redis.ts'
import type { Session, SessionParts } from './session.ts'
import { updateService, type ServiceRow } from './service.store.ts'

const sessionMs = 15_000
const openers: Readonly<Record<ServiceType, (parts: SessionParts) => Promise<Session>>> = { mysql: openMysql, postgresql: openPostgresql, redis: openRedis }

export const placeOfSecret = (column: 'secret' | 'secret_next', id: string): string => `database_services.${column}:${id}`

/** Asks a program something, signed in with this password, through the tunnel of its node. */
export async function inSession<T>(
  tunnel: Tunnel,
  { type, port, password }: { readonly type: ServiceType; readonly port: number; readonly password: string },
  act: (session: Session) => Promise<T>,
  within: AbortSignal = AbortSignal.timeout(sessionMs),
): Promise<T> {
  const signal = AbortSignal.any([within, AbortSignal.timeout(sessionMs)])
  const session = await openers[type]({
    dial: async () => {
      const answer = await tunnel.request({ method: 'POST', path: `${agentPaths.port}?port=${port}`, body: 'open', signal, changes: false })
      if (answer.status === 200) return answer.stream
      answer.stream.destroy()
      throw new EngineError('unreachable', 'nobody listens there')
    },
    password,
    signal,
  })
  try {
    return await act(session)
  } finally {
    session.close()
  }
}

export type AskService = ReturnType<typeof createAskService>

/**
 * Asks a program with the password that it has: where nobody saw whether it took the next one, both are tried, and what is
 * found out is written down.
 */
export const createAskService =
  ({ db, secrets }: Pick<Platform, 'db' | 'secrets'>) =>
  async <T>(tunnel: Tunnel, row: ServiceRow, act: (session: Session) => Promise<T>, within?: AbortSignal): Promise<T> => {
    const password = secrets.open(row.secret, placeOfSecret('secret', row.id))
    if (row.secret_next === null) return inSession(tunnel, { ...row, password }, act, within)
    const next = secrets.open(row.secret_next, placeOfSecret('secret_next', row.id))
    const has = await takes(tunnel, { ...row, password: next }, within)
    const now = has ? next : password
    await updateService(db, row.id, { secret: secrets.seal(now, placeOfSecret('secret', row.id)), secret_next: null })
    return inSession(tunnel, { ...row, password: now }, act, within)
  }

/** Whether it takes that password. */
export async function takes(tunnel: Tunnel, sign: Parameters<typeof inSession>[1], within?: AbortSignal): Promise<boolean> {
  try {
    await inSession(tunnel, sign, async () => undefined, within)
    return true
  } catch (error) {
    if (isEngineError(error, 'unauthorized')) return false
    throw error
  }
}
