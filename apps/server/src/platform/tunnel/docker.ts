import { agentPaths } from '@zhisuan/contract/agent/node'
import { EngineError } from '@zhisuan/engines/errors'
import type { DockerTransport } from '@zhisuan/engines/docker/transport'
import { isAgentError, type AgentAnswer, type AgentAsk, type Tunnel } from './tunnel.ts'

/** The way to the Docker Engine of a node. */
export function dockerOver(tunnel: Tunnel): DockerTransport {
  const request = async (ask: AgentAsk): Promise<AgentAnswer> => {
    try {
      return await tunnel.request(ask)
    } catch (error) {
      if (ask.signal?.aborted === true || isAgentError(error, 'cancelled')) throw new EngineError('cancelled', 'cancelled', { cause: error })
      throw new EngineError(isAgentError(error, 'unanswered') ? 'unanswered' : 'unreachable', error instanceof Error ? error.message : String(error), {
        cause: error,
      })
    }
  }
  return {
    request: (ask) => request({ ...ask, path: `${agentPaths.docker}${ask.path}` }),
    attach: (execId, { tty, signal }) =>
      request({ method: 'POST', path: `${agentPaths.exec}/${encodeURIComponent(execId)}?tty=${tty ? 1 : 0}`, body: 'open', signal, changes: false }),
  }
}
