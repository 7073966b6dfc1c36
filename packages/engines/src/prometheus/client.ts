import { request as askHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as TlsAgent, request as askHttps } from 'node:https'
import { Agent } from 'node:http'
import { z } from 'zod'
import { EngineError } from '../errors.ts'
import { refuseAborted } from '../signals.ts'
import type { Prometheus, PrometheusConnection, PrometheusOptions, PrometheusResult, QueryOptions } from './types.ts'

/** Answers of questions that nobody sets a limit to, such as its targets. */
const answerMostBytes = 32 * 2 ** 20
/** So much later than it should stop by itself it is given up. */
const graceMs = 400
const saidMost = 500

interface Ask extends PrometheusOptions {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** Of a form: questions may be longer than addresses. */
  readonly form?: URLSearchParams
  readonly timeoutMs?: number
  readonly mostBytes?: number
}
interface Answer {
  readonly status: number
  readonly body: Buffer
}

const failure = z.object({ status: z.literal('error'), errorType: z.string().default(''), error: z.string().default('') })
const labels = z.record(z.string(), z.string())
const point = z.tuple([z.number(), z.string()])
const answered = z.object({
  status: z.literal('success'),
  warnings: z.array(z.string()).nullish(),
  data: z.discriminatedUnion('resultType', [
    z.object({ resultType: z.literal('vector'), result: z.array(z.object({ metric: labels, value: point })) }),
    z.object({ resultType: z.literal('matrix'), result: z.array(z.object({ metric: labels, values: z.array(point) })) }),
    z.object({ resultType: z.literal('scalar'), result: point }),
    z.object({ resultType: z.literal('string'), result: point }),
  ]),
})
const targetsAnswer = z.object({
  data: z.object({
    activeTargets: z.array(
      z.object({
        labels,
        scrapePool: z.string().default(''),
        scrapeUrl: z.string(),
        lastError: z.string().default(''),
        lastScrape: z.string().default(''),
        lastScrapeDuration: z.number().default(0),
        health: z.string(),
      }),
    ),
  }),
})
const rulesAnswer = z.object({
  data: z.object({
    groups: z.array(
      z.object({
        name: z.string(),
        file: z.string().default(''),
        rules: z.array(
          z.object({
            name: z.string(),
            query: z.string(),
            labels: labels.nullish(),
            health: z.string().default('unknown'),
            lastError: z.string().nullish(),
            state: z.string().nullish(),
          }),
        ),
      }),
    ),
  }),
})
const buildAnswer = z.object({ data: z.object({ version: z.string().nullish() }) })

/** Asks nothing yet. */
export function createPrometheus(connection: PrometheusConnection): Prometheus {
  const base = connection.url.replace(/\/+$/, '')
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol)) throw new EngineError('invalid', `not an address of a Prometheus: ${connection.url}`)
  const { credentials, connect, timeoutMs: usualMs = 10_000 } = connection
  const isTls = base.startsWith('https:')
  const agent = isTls
    ? new TlsAgent({ keepAlive: true, maxSockets: 16, ...(connection.certificateAuthority !== undefined && { ca: connection.certificateAuthority }) })
    : new Agent({ keepAlive: true, maxSockets: 16 })
  const authorization =
    credentials.kind === 'basic'
      ? `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
      : credentials.kind === 'bearer'
        ? `Bearer ${credentials.token}`
        : undefined

  const send = async (ask: Ask): Promise<Answer> => {
    refuseAborted(ask.signal)
    const deadline = AbortSignal.timeout(ask.timeoutMs ?? usualMs)
    const signal = AbortSignal.any([deadline, ...(ask.signal === undefined ? [] : [ask.signal])])
    try {
      const stream = connect === undefined ? undefined : await connect(signal)
      const options: RequestOptions = {
        method: ask.method ?? 'GET',
        signal,
        headers: {
          accept: 'application/json',
          ...(authorization !== undefined && { authorization }),
          ...(ask.form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(stream === undefined ? { agent } : { createConnection: () => stream }),
      }
      try {
        return await exchanged(new URL(`${base}${ask.path}`), options, isTls && stream === undefined, ask)
      } finally {
        stream?.destroy()
      }
    } catch (error) {
      if (error instanceof EngineError) throw error
      refuseAborted(ask.signal)
      // It looks only now and then whether its time is up.
      if (deadline.aborted && ask.timeoutMs !== undefined)
        throw new EngineError('exhausted', `${ask.path}: no answer within ${ask.timeoutMs} ms`, { cause: error })
      throw new EngineError('unreachable', `${ask.path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }
  const asked = async (ask: Ask): Promise<Answer> => {
    const answer = await send(ask)
    if (answer.status >= 300) throw prometheusError(ask.path, answer)
    return answer
  }
  const parsed = async <T extends z.ZodType>(schema: T, ask: Ask): Promise<z.output<T>> => {
    const { body } = await asked(ask)
    try {
      return schema.parse(JSON.parse(body.toString('utf8')))
    } catch (error) {
      throw new EngineError('bad_answer', `${ask.path}: not what the API promises`, { cause: error })
    }
  }
  const signalOf = ({ signal }: PrometheusOptions): PrometheusOptions => (signal === undefined ? {} : { signal })
  const evaluated = async (path: string, form: URLSearchParams, options: QueryOptions): Promise<PrometheusResult> => {
    const { timeoutMs, mostBytes } = options
    if (timeoutMs !== undefined) form.set('timeout', `${timeoutMs}ms`)
    const { data, warnings } = await parsed(answered, {
      ...signalOf(options),
      method: 'POST',
      path,
      form,
      ...(timeoutMs !== undefined && { timeoutMs: timeoutMs + graceMs }),
      ...(mostBytes !== undefined && { mostBytes }),
    })
    const series =
      data.resultType === 'vector'
        ? data.result.map(({ metric, value }) => ({ labels: metric, points: [value] }))
        : data.resultType === 'matrix'
          ? data.result.map(({ metric, values }) => ({ labels: metric, points: values }))
          : [{ labels: {}, points: [data.result] }]
    return { type: data.resultType, series, warnings: warnings ?? [] }
  }

  return {
    async check(options = {}) {
      // An answer that any web server could give is none.
      const { type, series } = await evaluated('/api/v1/query', new URLSearchParams({ query: '1' }), options)
      if ((type !== 'scalar' && type !== 'vector') || series[0]?.points[0]?.[1] !== '1') throw new EngineError('bad_answer', 'no Prometheus answers there')
      try {
        return { version: (await parsed(buildAnswer, { ...signalOf(options), path: '/api/v1/status/buildinfo' })).data.version ?? null }
      } catch (error) {
        if (error instanceof EngineError && (error.kind === 'not_found' || error.kind === 'bad_answer' || error.kind === 'invalid')) return { version: null }
        throw error
      }
    },
    query: (query, { at, ...options } = {}) =>
      evaluated('/api/v1/query', new URLSearchParams({ query, ...(at !== undefined && { time: String(at) }) }), options),
    queryRange: (query, { start, end, step }, options = {}) =>
      evaluated('/api/v1/query_range', new URLSearchParams({ query, start: String(start), end: String(end), step: String(step) }), options),
    async targets(options = {}) {
      const { data } = await parsed(targetsAnswer, { ...signalOf(options), path: '/api/v1/targets?state=active' })
      return data.activeTargets.map((target) => ({
        job: target.labels['job'] ?? target.scrapePool,
        url: target.scrapeUrl,
        labels: target.labels,
        health: target.health === 'up' || target.health === 'down' ? target.health : 'unknown',
        error: target.lastError === '' ? null : target.lastError.slice(0, saidMost),
        scrapedAt: momentOf(target.lastScrape),
        seconds: target.lastScrapeDuration,
      }))
    },
    async rules(options = {}) {
      const { data } = await parsed(rulesAnswer, { ...signalOf(options), path: '/api/v1/rules' })
      return data.groups.flatMap((group) =>
        group.rules.map((rule) => ({
          group: group.name,
          file: group.file,
          name: rule.name,
          query: rule.query,
          labels: rule.labels ?? {},
          health: rule.health,
          error: rule.lastError == null || rule.lastError === '' ? null : rule.lastError.slice(0, saidMost),
          state: rule.state ?? null,
        })),
      )
    },
    async reload(options = {}) {
      await asked({ ...signalOf(options), method: 'POST', path: '/-/reload' })
    },
    close: async () => agent.destroy(),
  }
}

/** What never was is told as the year 1. */
function momentOf(text: string): Date | null {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < 1970 ? null : at
}

function exchanged(url: URL, options: RequestOptions, tls: boolean, { form, mostBytes = answerMostBytes }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const question = (tls ? askHttps : askHttp)(url, options, (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > mostBytes) {
          reject(new EngineError('exhausted', `${url.pathname}: more than ${mostBytes} bytes`))
          question.destroy()
        } else chunks.push(chunk)
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }))
      answer.on('error', reject)
    })
    question.on('error', reject)
    question.end(form?.toString())
  })
}

/** What an answer that is no success means ("HTTP API", "Format overview"). */
export function prometheusError(what: string, { status, body }: Answer): EngineError {
  const text = body.subarray(0, 4_096).toString('utf8')
  let type = ''
  let words = text.slice(0, saidMost)
  try {
    const said = failure.parse(JSON.parse(text))
    type = said.errorType
    words = said.error.slice(0, saidMost)
  } catch {
    // Whoever stands before it answered.
  }
  const message = type === '' ? `${what}: ${status} ${words}` : words
  if (type === 'timeout' || type === 'canceled' || /too many samples|query timed out|exceed(ed|ing)/.test(words))
    return new EngineError('exhausted', message, { status })
  if (type === 'bad_data' || type === 'execution' || status === 400 || status === 422) return new EngineError('invalid', message, { status })
  if (status === 401 || status === 403) return new EngineError('unauthorized', message, { status })
  if (status === 404) return new EngineError('not_found', message, { status })
  if (status === 405) return new EngineError('unsupported', message, { status })
  return new EngineError(status === 502 || status === 503 || status === 504 ? 'unreachable' : 'failed', message, { status })
}
