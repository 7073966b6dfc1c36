import { agentPaths } from '@zhisuan/contract/agent/node'
import { fillText } from '@zhisuan/contract/errors'
import { fetchTexts } from '@zhisuan/contract/texts'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import { createPrometheus } from '@zhisuan/engines/prometheus/client'
import type { Prometheus } from '@zhisuan/engines/prometheus/types'
import { z } from 'zod'
import { createEndpoints, type EndpointKind, type EndpointPart } from '../../../platform/endpoints.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'
import * as store from './integration.store.ts'
import type { IntegrationRow } from './integration.store.ts'

/** How a component is reached: what is sealed in its row. */
export const keptConnection = z.discriminatedUnion('kind', [
  /** At the loopback address of its node, through the tunnel. */
  z.object({ kind: z.literal('node'), node_id: z.uuid(), port: z.int() }),
  z.object({
    kind: z.literal('address'),
    url: z.string(),
    certificate_authority: z.string().nullable(),
    account: z.object({ username: z.string(), password: z.string() }).nullable(),
    token: z.string().nullable(),
  }),
])
export type KeptConnection = z.output<typeof keptConnection>

export interface PrometheusLook {
  readonly parts: readonly EndpointPart[]
  readonly version: string | null
}

/** The way to a node that is connected to this server; null where it is not. */
export type Connected = (nodeId: string) => Tunnel | null

/** A stream to a port of a node. @throws EngineError where the node is away, or nobody listens there */
export const portOf = async (connected: Connected, { node_id, port }: { node_id: string; port: number }, signal: AbortSignal) => {
  const tunnel = connected(node_id)
  if (tunnel === null) throw new EngineError('unreachable', 'the node is not connected')
  const { status, stream } = await tunnel.request({ method: 'POST', path: `${agentPaths.port}?port=${port}`, body: 'open', signal, changes: false })
  if (status === 200) return stream
  stream.destroy()
  throw new EngineError('unreachable', `nobody listens at port ${port} of the node`)
}

const open = (connection: KeptConnection, connected: Connected): Prometheus =>
  connection.kind === 'node'
    ? createPrometheus({ url: 'http://127.0.0.1', credentials: { kind: 'none' }, connect: (signal) => portOf(connected, connection, signal) })
    : createPrometheus({
        url: connection.url,
        ...(connection.certificate_authority !== null && { certificateAuthority: connection.certificate_authority }),
        credentials:
          connection.account !== null
            ? { kind: 'basic', ...connection.account }
            : connection.token !== null
              ? { kind: 'bearer', token: connection.token }
              : { kind: 'none' },
      })

export type PrometheusEndpoints = ReturnType<typeof createPrometheusEndpoints>

/** Those that are asked, as endpoints. */
export const createPrometheusEndpoints = (platform: Platform, connected: Connected) => {
  const { db } = platform
  const kind: EndpointKind<IntegrationRow, KeptConnection, Prometheus, PrometheusLook> = {
    topic: 'omc.integration',
    column: 'monitor_integrations.connection',
    connection: keptConnection,
    rows: {
      looked: async () => (await store.integrationsOf(db, 'prometheus')).filter(({ status }) => status === 'active' || status === 'changing'),
      get: (id) => store.getIntegration(db, id),
      record: (row, health, look) => store.recordIntegration(db, row, { ...health, ...(look !== null && { version: look.version }) }),
    },
    open: (connection) => open(connection, connected),
    close: (client) => client.close(),
    async look(client, { limitMs, signal }) {
      const { version } = await client.check({ signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]) })
      return { parts: [], version }
    },
    explain: async (error) => explainPrometheus(error),
    incomplete: (_name, { words }) => new Refusal('monitorUnanswered', { values: { reason: words } }),
  }
  return createEndpoints(platform, kind)
}

/** Why one that was tried does not let us in, at the field that is to be changed. Whatever else went wrong as it is. */
export function explainPrometheus(error: unknown): unknown {
  if (!isEngineError(error)) return error
  if (error.kind === 'unauthorized') return new Refusal('monitorRefused', { field: 'connection.account', cause: error })
  if (error.kind === 'bad_answer' || error.kind === 'not_found' || error.kind === 'invalid')
    return new Refusal('monitorIsNone', { field: 'connection.url', cause: error })
  return new Refusal('monitorUnanswered', { field: 'connection.url', values: { reason: reasonOf(error) }, cause: error })
}

/** Why nobody answered, in Chinese: what a socket says is for operators. */
function reasonOf({ cause, status }: EngineError): string {
  if (status !== undefined) return fillText(fetchTexts.status, { status })
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return fetchTexts.nameUnknown
  return cause instanceof DOMException ? fetchTexts.silent : fetchTexts.unreachable
}
