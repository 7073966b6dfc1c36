import { errors, fillText, type ErrorName } from '@zhisuan/contract/errors'
import type { Problem } from '@zhisuan/contract/problem'
import { cloudQuotaTexts, cloudQuotaUnits, quotaFigureTexts, type CloudQuota } from '@zhisuan/contract/texts'
import { isEngineError } from '@zhisuan/engines/errors'
import { OpenStackError, type ProjectProblem, type QuotaFigures } from '@zhisuan/engines/openstack/errors'
import type { FastifyError, FastifyInstance } from 'fastify'
import { isConnectionError } from '../db/connections.ts'
import { isUnstorableText } from '../db/database.ts'
import { Refusal } from '../errors.ts'
import { UnreadableError } from '../secrets.ts'
import { auditEntry, type AuditEntry } from './entry.ts'

/** What each way of failing on an engine is to the person who asked. */
const engineRefusals = {
  unreachable: 'cloudUnreachable',
  unanswered: 'outcomeUnknown',
  unauthorized: 'cloudUnauthorised',
  not_found: 'notFound',
  conflict: 'changedMeanwhile',
  busy: 'operationRunning',
  invalid: 'engineRefused',
  unsupported: 'engineUnsupported',
  exhausted: 'nodeResourcesInsufficient',
  failed: 'engineFailed',
  bad_answer: 'engineAnswerInvalid',
  cancelled: 'cloudUnreachable',
} as const satisfies Record<string, ErrorName>

/** Why a cloud lets nobody into somebody's project. */
const closedProjects = { disabled: 'computeProjectDisabled', gone: 'computeProjectGone', role: 'computeProjectRole' } as const satisfies Record<
  ProjectProblem,
  ErrorName
>

/** A quota by its name and, as far as its service said, how much of it is asked for, used and allowed. */
function quotaText(name: string, figures: QuotaFigures | undefined): string {
  const known = name in cloudQuotaTexts ? (name as CloudQuota) : null
  const quota = known === null ? name : cloudQuotaTexts[known]
  if (figures === undefined) return quota
  const unit = known === null ? '' : (cloudQuotaUnits[known] ?? '')
  const amount = (figure: number | null): string => `${figure}${unit}`
  const text = figures.asked === null ? 'limit' : figures.used === null ? 'sizes' : 'whole'
  return fillText(quotaFigureTexts[text], { quota, asked: amount(figures.asked), used: amount(figures.used), limit: amount(figures.limit) })
}

/** Whatever was thrown, as a refusal of the catalogue. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof OpenStackError) {
    const { cloud, service, requestId: request_id, quotas, quotaFigures, project } = error
    const quota = quotas.map((name) => quotaText(name, quotaFigures.get(name))).join('、')
    return new Refusal(quota !== '' ? 'computeQuotaExceeded' : project !== null ? closedProjects[project] : engineRefusals[error.kind], {
      ...(quota !== '' && { values: { quota } }),
      cause: error,
      detail: error.words ?? undefined,
      engine: { cloud, service, request_id },
    })
  }
  if (isEngineError(error)) return new Refusal(engineRefusals[error.kind], { cause: error })
  // Where a call's schema forgot to refuse them.
  if (isUnstorableText(error)) return new Refusal('requestInvalid', { cause: error })
  if (error instanceof UnreadableError) return new Refusal('contentUnreadable', { cause: error })
  if (isConnectionError(error)) return new Refusal('databaseUnavailable', { cause: error })
  const { code, statusCode } = error as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Refusal('bodyTooLarge', { cause: error })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new Refusal('mediaTypeUnsupported', { cause: error })
  if (statusCode === 400 && (error instanceof SyntaxError || code?.startsWith('FST_ERR_CTP') === true)) {
    return new Refusal('bodyMalformed', { cause: error })
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new Refusal('requestInvalid', { cause: error })
  return new Refusal('unknown', { cause: error })
}

/** What a refusal is to whoever asked. */
export const problemOf = (refusal: Refusal, requestId: string): Problem => ({
  code: errors[refusal.refusal].code,
  message: fillText(errors[refusal.refusal].text, refusal.values),
  request_id: requestId,
  ...(refusal.fields !== undefined && { fields: [...refusal.fields] }),
  ...(refusal.refused !== undefined && { refused: refusal.refused }),
  ...(refusal.detail !== undefined && { detail: refusal.detail }),
  ...(refusal.engine !== undefined && { engine: refusal.engine }),
})

/** Every answer that is not a success is a {@link Problem}; causes go to the log, never to the caller. */
export function answerProblems(app: FastifyInstance, audit: (entry: AuditEntry) => Promise<void>): void {
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = toRefusal(error)
    const entry = errors[refusal.refusal]
    if (entry.status >= 500 || refusal.refusal === 'contentUnreadable') request.log.error({ err: refusal.cause ?? refusal }, 'request failed')
    else request.log.debug({ err: refusal }, 'request refused')
    const { call } = request.routeOptions.config
    // Attempts are part of the record too, except what is not even a request of somebody.
    if (call?.audit === true && (request.actor !== null || call.access === 'public')) {
      await audit(auditEntry(request, call, entry.code)).catch((cause: unknown) => request.log.error({ err: cause }, 'audit failed'))
    }
    const problem = problemOf(refusal, request.id)
    if (refusal.refusal === 'tooManyRequests') reply.header('retry-after', String(refusal.values['seconds'] ?? 60))
    return reply.code(entry.status).type('application/json; charset=utf-8').send(problem)
  })
}
