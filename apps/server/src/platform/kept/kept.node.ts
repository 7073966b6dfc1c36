import {
  keptList,
  keptPaths,
  keptPreflight,
  keptState,
  type KeptAction,
  type KeptOrder,
  type KeptPreflight,
  type KeptState,
} from '@zhisuan/contract/agent/kept'
import type { ClientHttp2Stream } from 'node:http2'
import { isAgentError, type Tunnel } from '../tunnel/tunnel.ts'

/** Its program is asked for its version, and its ports are looked for. */
const preflightMs = 60_000
const logMs = 30_000

/** What the agent of a node is asked. What it does not have is null. */
export const list = async (tunnel: Tunnel, signal?: AbortSignal): Promise<KeptState[]> =>
  (await tunnel.json(keptList, { path: keptPaths.all, ...(signal && { signal }) })).items

export const get = (tunnel: Tunnel, id: string, signal?: AbortSignal): Promise<KeptState | null> =>
  tunnel.json(keptState, { path: keptPaths.one(id), ...(signal && { signal }) }).catch(missing)

export const preflight = (tunnel: Tunnel, id: string, order: KeptOrder, signal: AbortSignal): Promise<KeptPreflight> =>
  tunnel.json(keptPreflight, { method: 'POST', path: keptPaths.preflight(id), body: order, signal, timeoutMs: preflightMs, changes: false })

export const put = (tunnel: Tunnel, id: string, order: KeptOrder, signal: AbortSignal): Promise<KeptState> =>
  tunnel.json(keptState, { method: 'PUT', path: keptPaths.one(id), body: order, signal })

export const act = (tunnel: Tunnel, id: string, action: KeptAction, signal: AbortSignal): Promise<KeptState> =>
  tunnel.json(keptState, { method: 'POST', path: keptPaths.action(id), body: action, signal })

/** @returns null where it is gone already */
export const remove = (tunnel: Tunnel, id: string, data: boolean, signal: AbortSignal): Promise<KeptState | null> =>
  tunnel.json(keptState, { method: 'DELETE', path: `${keptPaths.one(id)}?data=${data}`, signal }).catch(missing)

/** The reader ends it. @throws AgentError */
export async function log(
  tunnel: Tunnel,
  id: string,
  { tail, follow, signal }: { tail: number; follow: boolean; signal: AbortSignal },
): Promise<ClientHttp2Stream | null> {
  const { status, stream } = await tunnel.request({ path: `${keptPaths.log(id)}?tail=${tail}&follow=${follow}`, signal, timeoutMs: logMs })
  if (status === 200) return stream
  stream.destroy()
  return null
}

const missing = (error: unknown): null => {
  if (isAgentError(error, 'refused') && error.status === 404) return null
  throw error
}
