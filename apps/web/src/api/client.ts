import { constants } from '@zhisuan/contract/constants'
import type { BodyInput, Call, QueryInput, ResponseOf } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { auth } from '@zhisuan/contract/ums/auth'
import type { z } from 'zod'
import { readToken } from '../session/cookies.ts'
import { refreshAccess } from './refresh.ts'

type Part<Key extends string, T> = Record<string, never> extends T ? { readonly [K in Key]?: T } : { readonly [K in Key]: T }

/** What a call needs: params, query and body are asked for exactly where the contract requires them. */
export type RequestInput<C extends Call> = Part<'params', z.input<C['params']>> & Part<'query', QueryInput<C>> & Part<'body', BodyInput<C>> & { readonly signal?: AbortSignal }

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

  constructor(from: {
    readonly status: number
    readonly code: number
    readonly message: string
    readonly requestId?: string | null
    readonly fields?: readonly FieldError[]
    readonly method?: string
    readonly path?: string
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
  }
}

/** Whatever was thrown, as an {@link ApiError}. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({ status: 0, code: noAnswer.broken, message: error instanceof Error ? error.message : String(error), cause: error })

/** The address of a call: `{name}` filled from params, undefined and empty query values left out. */
export function urlOf(
  call: Pick<Call, 'path'>,
  params: Readonly<Record<string, unknown>> = {},
  query: Readonly<Record<string, unknown>> = {},
): string {
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
    await send(call, urlOf(call), readToken(), undefined)
  } finally {
    givenUp = new AbortController()
  }
}

/**
 * Makes a call and answers its response. Rejects with {@link ApiError}: before sending where the
 * path contains `undefined`, after 60 s without an answer, and for every answer that is no success.
 */
export async function request<C extends Call>(call: C, input: RequestInput<C>): Promise<ResponseOf<C>> {
  // The conditional parts of RequestInput are open here, where C is not known yet.
  const { params, query, body, signal } = input as {
    params?: Readonly<Record<string, unknown>>
    query?: Readonly<Record<string, unknown>>
    body?: unknown
    signal?: AbortSignal
  }
  const url = urlOf(call, params, query)
  if (url.split('?', 1)[0]?.includes('undefined') === true) {
    throw new ApiError({ method: call.method, path: url, status: 400, code: errors.pathUndefined.code, message: errors.pathUndefined.text })
  }
  const token = readToken()
  const until = signal === undefined ? givenUp.signal : AbortSignal.any([givenUp.signal, signal])
  try {
    return await send(call, url, token, body, until)
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
    return await send(call, url, renewed, body, until)
  }
}

/** One try. Cookies go along because the API has our own origin; to any other none would. */
async function send<C extends Call>(call: C, url: string, token: string | null, body: unknown, signal?: AbortSignal): Promise<ResponseOf<C>> {
  const about = { method: call.method, path: url }
  const timeout = AbortSignal.timeout(constants.requestTimeoutMs)
  const headers = new Headers({ accept: 'application/json' })
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  if (body !== undefined) headers.set('content-type', 'application/json')
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method: call.method,
      headers,
      credentials: 'same-origin',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    text = response.status === 204 ? '' : await response.text()
  } catch (cause) {
    const code = signal?.aborted === true ? noAnswer.aborted : timeout.aborted ? noAnswer.timeout : noAnswer.offline
    throw new ApiError({ ...about, status: 0, code, message: '', cause })
  }
  const content = parseJson(text)
  if (!response.ok) throw new ApiError({ ...about, ...readProblem(content, response) })
  // In development an answer that breaks the contract is said aloud; the server serialises by the same schema.
  if (import.meta.env?.DEV && response.status !== 204) {
    const check = call.response.safeParse(content)
    // oxlint-disable-next-line no-console
    if (!check.success) console.error(`${call.id} answered outside its contract`, check.error.issues)
  }
  // The server serialises through call.response, so this is its type.
  return content as ResponseOf<C>
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

/** The server's problem, or what can be said where something between us and it answered instead. */
function readProblem(content: unknown, response: Response): ConstructorParameters<typeof ApiError>[0] {
  const record = isRecord(content) ? content : {}
  const fields = Array.isArray(record['fields']) ? record['fields'] : []
  return {
    status: response.status,
    code: typeof record['code'] === 'number' ? record['code'] : noAnswer.foreign,
    message: typeof record['message'] === 'string' ? record['message'] : '',
    requestId: typeof record['request_id'] === 'string' ? record['request_id'] : response.headers.get('x-request-id'),
    fields: fields.flatMap((field: unknown) =>
      isRecord(field) && typeof field['field'] === 'string' && typeof field['message'] === 'string'
        ? [{ field: field['field'], message: field['message'] }]
        : [],
    ),
  }
}
