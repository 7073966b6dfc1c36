import { constants } from '@zhisuan/contract/constants'
import { idempotencyKeyHeader, type BodyInput, type Call, type QueryInput, type ResponseOf } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { EngineRequest, RefusedByPolicy } from '@zhisuan/contract/problem'
import { auth } from '@zhisuan/contract/ums/auth'
import type { z } from 'zod'
import { readToken } from './cookies.ts'
import { earlyAnswer, forgetEarly, rememberAsked } from './early.ts'
import { refreshAccess } from './refresh.ts'

type Part<Key extends string, T> = Record<string, never> extends T ? { readonly [K in Key]?: T } : { readonly [K in Key]: T }

/** What a call needs: params, query and body are asked for exactly where the contract requires them. */
export type RequestInput<C extends Call> = Part<'params', z.input<C['params']>> &
  Part<'query', QueryInput<C>> &
  Part<'body', BodyInput<C>> & {
    readonly signal?: AbortSignal
    /** Of a call that moves money: asked again with it, it moves none. */
    readonly key?: string
  }

export interface FieldError {
  /** A path such as `labels.0.label`. */
  readonly field: string
  readonly message: string
}

/** Codes of ours, below the catalogue's: with status 0 nobody answered at all. */
export const noAnswer = { foreign: -1, offline: -2, timeout: -3, aborted: -4, broken: -5 } as const

/** Every way that a call can fail, with what a person needs to report it. */
export class ApiError extends Error {
  /** HTTP status; 0 where nobody answered. */
  readonly status: number
  /** From the catalogue, or one of {@link noAnswer}'s. */
  readonly code: number
  readonly requestId: string | null
  readonly fields: readonly FieldError[]
  readonly method: string
  readonly path: string
  /** Which service of which cloud it was that failed, where it was one. */
  readonly engine: EngineRequest | null
  /** What a cloud said, in its own words. */
  readonly detail: string | null
  /** Which action policies refused, and the statement that says so. */
  readonly refused: RefusedByPolicy | null

  constructor(from: {
    readonly status: number
    readonly code: number
    readonly message: string
    readonly requestId?: string | null
    readonly fields?: readonly FieldError[]
    readonly method?: string
    readonly path?: string
    readonly engine?: EngineRequest | null
    readonly detail?: string | null
    readonly refused?: RefusedByPolicy | null
    readonly cause?: unknown
  }) {
    super(from.message, { cause: from.cause })
    this.name = 'ApiError'
    this.status = from.status
    this.code = from.code
    this.requestId = from.requestId ?? null
    this.fields = from.fields ?? []
    this.method = from.method ?? ''
    this.path = from.path ?? ''
    this.engine = from.engine ?? null
    this.detail = from.detail ?? null
    this.refused = from.refused ?? null
  }
}

/** Whatever was thrown, as an {@link ApiError}. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({ status: 0, code: noAnswer.broken, message: error instanceof Error ? error.message : String(error), cause: error })

/** The address of a call: `{name}` filled from params, undefined and empty query values left out. */
export function urlOf(call: Pick<Call, 'path'>, params: Readonly<Record<string, unknown>> = {}, query: Readonly<Record<string, unknown>> = {}): string {
  const path = call.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') search.append(key, String(one))
    }
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Their 401 says that what was typed is wrong, or that the session is over: a new access token changes nothing. */
const makesSession = (call: Pick<Call, 'path'>): boolean => call.path.startsWith('/api/ums/v1/auth/')

/** What breaks requests off when the session is given up. */
let givenUp = new AbortController()

/**
 * Makes the call that gives the session up. What is under way is broken off, and nothing else is sent until
 * this is answered: a list that refreshes just then would be refused, and say that the session is over.
 */
export async function requestLast(call: Call): Promise<void> {
  givenUp.abort()
  try {
    await send(call, urlOf(call), readToken(), { body: undefined })
  } finally {
    givenUp = new AbortController()
  }
}

/**
 * Makes a call and answers its response. Rejects with {@link ApiError}: before sending where the
 * path contains `undefined`, after 60 s without an answer, and for every answer that is no success.
 */
export const request = <C extends Call>(call: C, input: RequestInput<C>): Promise<ResponseOf<C>> => renewing(call, input, send)

/**
 * Makes a call whose answer comes in lines, and tells each as it comes. Rejects as {@link request} does, also where
 * the answer breaks off: 60 s are for silence.
 */
export const requestLines = <C extends Call>(call: C, input: RequestInput<C>, tell: (line: ResponseOf<C>) => void): Promise<void> =>
  renewing(call, input, (...asked) => receive(...asked, tell))

type Sending<C extends Call, Answer> = (call: C, url: string, token: string | null, sent: Sent, signal: AbortSignal) => Promise<Answer>

/** What goes along with a call. */
interface Sent {
  readonly body: unknown
  readonly key?: string | undefined
}

/** Asks once more with a new access token where the one at hand has ended. */
async function renewing<C extends Call, Answer>(call: C, input: RequestInput<C>, sending: Sending<C, Answer>): Promise<Answer> {
  // The conditional parts of RequestInput are open here, where C is not known yet.
  const { params, query, body, signal, key } = input as {
    params?: Readonly<Record<string, unknown>>
    query?: Readonly<Record<string, unknown>>
    body?: unknown
    signal?: AbortSignal
    key?: string
  }
  const url = urlOf(call, params, query)
  if (url.split('?', 1)[0]?.includes('undefined') === true) {
    throw new ApiError({ method: call.method, path: url, status: 400, code: errors.pathUndefined.code, message: errors.pathUndefined.text })
  }
  const token = readToken()
  const until = signal === undefined ? givenUp.signal : AbortSignal.any([givenUp.signal, signal])
  try {
    const answer = await sending(call, url, token, { body, key }, until)
    // What is read, which whoever does something does not say when to break off: some GETs send messages. Nothing of
    // a session that has ended, and nothing of nobody.
    if (signal !== undefined && !call.audit && !call.lines && token !== null && token === readToken()) rememberAsked(call, url)
    return answer
  } catch (error) {
    const renewable =
      token !== null &&
      !makesSession(call) &&
      error instanceof ApiError &&
      error.status === 401 &&
      (error.code === errors.tokenInvalid.code || error.code === errors.tokenMissing.code)
    if (!renewable) throw error
    // A refused refresh throws its own 401, which ends the session like any other.
    const renewed = await refreshAccess(token, async () => (await request(auth.refresh, {})).token)
    return await sending(call, url, renewed, { body, key }, until)
  }
}

/** One try. */
async function send<C extends Call>(call: C, url: string, token: string | null, sent: Sent, signal?: AbortSignal): Promise<ResponseOf<C>> {
  const ends = endsOf(signal)
  const [response, text] = await answered(call, url, ends, async () => {
    if (call.method !== 'GET') forgetEarly()
    const early = earlyAnswer(url, token)
    const got = (early === null ? null : await early) ?? (await fetch(url, requestOf(call, token, sent, ends.signal)))
    return [got, got.status === 204 ? '' : await got.text()] as const
  })
  const content = parseJson(text)
  if (!response.ok) throw await problemOf(call, url, content, response)
  if (response.status !== 204) checkInDevelopment(call, content)
  // The server serialises through call.response, so this is its type.
  return content as ResponseOf<C>
}

/** One try of a call in lines. */
async function receive<C extends Call>(
  call: C,
  url: string,
  token: string | null,
  sent: Sent,
  signal: AbortSignal,
  tell: (line: ResponseOf<C>) => void,
): Promise<void> {
  const ends = endsOf(signal)
  await answered(call, url, ends, async () => {
    const response = await fetch(url, requestOf(call, token, sent, ends.signal))
    if (!response.ok || response.body === null) throw await problemOf(call, url, parseJson(await response.text()), response)
    let rest = ''
    for (const reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read()
      if (done) break
      ends.heard()
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const content = JSON.parse(line) as unknown
        checkInDevelopment(call, content)
        tell(content as ResponseOf<C>)
      }
    }
  })
}

interface Ends {
  readonly signal: AbortSignal
  /** Whether the asker gave up; else it was too long silent. */
  readonly left: () => boolean
  readonly silent: () => boolean
  readonly heard: () => void
  /** Nothing is waited for any more. */
  readonly over: () => void
}

/** What ends a request: its asker, or silence. */
function endsOf(asker: AbortSignal | undefined): Ends {
  const silence = new AbortController()
  const wait = () => setTimeout(() => silence.abort(new Error('no answer')), constants.requestTimeoutMs)
  let timer = wait()
  return {
    signal: asker === undefined ? silence.signal : AbortSignal.any([asker, silence.signal]),
    left: () => asker?.aborted === true,
    silent: () => silence.signal.aborted,
    heard: () => {
      clearTimeout(timer)
      timer = wait()
    },
    over: () => clearTimeout(timer),
  }
}

/** What goes wrong on the way, said as an {@link ApiError}. */
async function answered<T>(call: Call, url: string, ends: Ends, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    const code = ends.left() ? noAnswer.aborted : ends.silent() ? noAnswer.timeout : noAnswer.offline
    throw new ApiError({ method: call.method, path: url, status: 0, code, message: '', cause })
  } finally {
    ends.over()
  }
}

/** Cookies go along because the API has our own origin; to any other none would. */
function requestOf(call: Call, token: string | null, { body, key }: Sent, signal: AbortSignal): RequestInit {
  const headers = new Headers({ accept: call.lines ? 'application/x-ndjson' : 'application/json' })
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (key !== undefined) headers.set(idempotencyKeyHeader, key)
  return { method: call.method, headers, credentials: 'same-origin', signal, ...(body !== undefined && { body: JSON.stringify(body) }) }
}

/** In development an answer that breaks the contract is said aloud; the server serialises by the same schema. */
function checkInDevelopment(call: Call, content: unknown): void {
  if (import.meta.env?.DEV !== true) return
  const check = call.response.safeParse(content)
  // oxlint-disable-next-line no-console
  if (!check.success) console.error(`${call.id} answered outside its contract`, check.error.issues)
}

function parseJson(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

/** A refusal, in the words of the catalogue. */
async function problemOf(call: Call, url: string, content: unknown, response: Response): Promise<ApiError> {
  const problem = readProblem(content, response)
  return new ApiError({ method: call.method, path: url, ...problem, message: (await catalogueText(problem.code)) ?? problem.message })
}

/** Nobody waits longer than this for the catalogue: the server says the same. */
const catalogueMs = 2_000

/**
 * What the catalogue says, which comes with the first refusal: most visits see none. Null where it does not come, does not
 * know the code, or has a place to fill in its text, which the server filled: the bare text would show holes. 9000 is only such a place.
 */
async function catalogueText(code: number): Promise<string | null> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), catalogueMs))
  const catalogue = await Promise.race([import('@zhisuan/contract/errors').catch(() => null), late])
  const text = catalogue?.errorByCode.get(code)?.text
  return text === undefined || text.includes('{') ? null : text
}

/** The server's problem, or what can be said where something between us and it answered instead. */
function readProblem(content: unknown, response: Response): ConstructorParameters<typeof ApiError>[0] {
  const record = isRecord(content) ? content : {}
  const fields = Array.isArray(record['fields']) ? record['fields'] : []
  return {
    status: response.status,
    code: typeof record['code'] === 'number' ? record['code'] : noAnswer.foreign,
    message: typeof record['message'] === 'string' ? record['message'] : '',
    requestId: typeof record['request_id'] === 'string' ? record['request_id'] : response.headers.get('x-request-id'),
    engine: readEngine(record['engine']),
    refused: readRefused(record['refused']),
    detail: typeof record['detail'] === 'string' ? record['detail'] : null,
    fields: fields.flatMap((field: unknown) =>
      isRecord(field) && typeof field['field'] === 'string' && typeof field['message'] === 'string'
        ? [{ field: field['field'], message: field['message'] }]
        : [],
    ),
  }
}

const readRefused = (refused: unknown): RefusedByPolicy | null =>
  isRecord(refused) && typeof refused['action'] === 'string' && typeof refused['outcome'] === 'string' ? (refused as unknown as RefusedByPolicy) : null

const readEngine = (engine: unknown): EngineRequest | null =>
  isRecord(engine) && ['cloud', 'service', 'request_id'].every((key) => typeof engine[key] === 'string')
    ? // A service that this console does not know yet is shown by the name that it goes by.
      (engine as unknown as EngineRequest)
    : null
