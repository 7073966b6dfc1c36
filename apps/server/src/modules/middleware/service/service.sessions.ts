import { agentPaths } from '@zhisuan/contract/agent/node'
import type { ServiceType } from '@zhisuan/contract/middleware/service'
import { EngineError } from '@zhisuan/engines/errors'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'
import { openMysql } from './mysql.ts'
import { openPostgresql } from './postgresql.ts'
import { openRedis } from './redis.ts'
import type { Session, SessionParts } from './session.ts'

const sessionMs = 15_000
const openers: Readonly<Record<ServiceType, (parts: SessionParts) => Promise<Session>>> = { mysql: openMysql, postgresql: openPostgresql, redis: openRedis }

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
