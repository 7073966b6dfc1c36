import { isEngineError } from '@zhisuan/engines/errors'
import type { ErrorName } from '@zhisuan/contract/errors'
import { nodeTexts } from '@zhisuan/contract/texts'
import { Refusal } from '../../../platform/errors.ts'
import { isAgentError } from '../../../platform/tunnel/tunnel.ts'

export type RefusedByNode = typeof refusedByNode
export type UsualRefusal = typeof usualRefusal

const detailMax = 500

const agentRefusals = {
  offline: 'edgeOffline',
  unanswered: 'outcomeUnknown',
  refused: 'agentFailed',
  failed: 'agentFailed',
  bad_answer: 'agentAnswerInvalid',
  cancelled: 'edgeOffline',
} as const satisfies Record<string, ErrorName>

const dockerRefusals = {
  unreachable: 'dockerUnavailable',
  unanswered: 'outcomeUnknown',
  unauthorized: 'dockerFailed',
  not_found: 'dockerFailed',
  conflict: 'dockerFailed',
  busy: 'dockerFailed',
  invalid: 'dockerFailed',
  unsupported: 'dockerFailed',
  exhausted: 'dockerFailed',
  failed: 'dockerFailed',
  bad_answer: 'agentAnswerInvalid',
  cancelled: 'edgeOffline',
} as const satisfies Record<string, ErrorName>

/** What Docker, the kernel and compose of whichever version say where the usual things go wrong; the first that fits. */
const usual: readonly (readonly [RegExp, ErrorName])[] = [
  [/no space left on device|disk quota exceeded/i, 'nodeDiskFull'],
  [/cannot allocate memory|out of memory/i, 'nodeMemoryFull'],
  [/port is already allocated|address already in use|EADDRINUSE/i, 'portTaken'],
  [/could not select device driver|unknown runtime.*nvidia|nvidia-container-cli/i, 'nodeGpusTooFew'],
  [/(could not find an available|no available).*(address|network)|all predefined address pools/i, 'nodeNetworksExhausted'],
  [/exec format error|no matching manifest for|does not match the (specified|detected host) platform/i, 'imagePlatformWrong'],
  [/exec: .*permission denied|exec .*: permission denied/i, 'containerCommandDenied'],
  [/executable file not found|exec: .*no such file or directory|exec .*: no such file or directory/i, 'containerCommandMissing'],
  [/bind source path does not exist|mount source path .* (not exist|no such file)/i, 'bindSourceMissing'],
  [/container name .* is already in use/i, 'dockerNameTaken'],
  [/unable to (remove|delete).*(being used|is using|in use)|image is (being used|in use)/i, 'nodeImageInUse'],
  [/volume is in use/i, 'nodeVolumeInUse'],
  [/no such container/i, 'containerGone'],
  [/no such image/i, 'containerImageMissing'],
  [/manifest unknown|manifest for .* not found|not found: manifest/i, 'registryImageMissing'],
  [/pull access denied|unauthorized: |authentication required|denied: requested access/i, 'registryDenied'],
  [
    /(lookup|dial tcp|tls:|x509:|Get "?https?:).*(no such host|refused|timeout|unreachable|certificate|server gave HTTP|handshake)|net\/http: (TLS|request canceled)|Client\.Timeout/i,
    'registryUnreachable',
  ],
  [/permission denied|operation not permitted/i, 'nodePermissionDenied'],
]

/**
 * What a program on a node said, as a refusal of the catalogue with its words beside it; null where it is none of the usual.
 * @param image that was asked for, where one was
 */
export function usualRefusal(said: string, node: { readonly name: string }, image?: string, cause?: unknown): Refusal | null {
  const refusal = usual.find(([pattern]) => pattern.test(said))?.[1]
  if (refusal === undefined) return null
  const port = /(?::|port )(\d{1,5})[^\d]*(?:port is already allocated|address already in use|EADDRINUSE)/i.exec(said)?.[1] ?? ''
  const named = { node: node.name, image: image ?? /no such image: (\S+)/i.exec(said)?.[1] ?? '' }
  return new Refusal(refusal, {
    values: { ...named, port, name: refusal === 'portTaken' ? nodeTexts.otherProgram : node.name },
    detail: said.slice(0, detailMax),
    cause,
  })
}

const tellsMore: ReadonlySet<ErrorName> = new Set(['dockerUnavailable', 'dockerFailed', 'agentFailed'])

/** Nothing was said by who is there. */
const isCut = (error: unknown): boolean =>
  isAgentError(error, 'offline', 'unanswered', 'cancelled') || isEngineError(error, 'unreachable', 'unanswered', 'cancelled')

/**
 * What went wrong on a node, as a refusal of the catalogue that names the node. What its Docker says
 * is told beside it: it is about things of whoever asked. Anything else stays what it is.
 * @param image that was asked for, where one was
 */
export function refusedByNode(error: unknown, node: { readonly name: string }, image?: string): unknown {
  // Docker was not reached because its node was not.
  const cause = isEngineError(error) && isAgentError(error.cause) ? error.cause : error
  const agent = isAgentError(cause)
  if (!agent && !isEngineError(cause)) return error
  const refusal = agent ? agentRefusals[cause.kind] : dockerRefusals[cause.kind]
  return (
    (isCut(cause) ? null : usualRefusal(cause.message, node, image, cause)) ??
    new Refusal(refusal, {
      values: { name: node.name },
      cause,
      // In the words of who said it, beside what people read.
      ...(tellsMore.has(refusal) && { detail: cause.message.slice(0, detailMax) }),
    })
  )
}
