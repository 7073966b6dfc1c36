import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, ResponseOf } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { problem, type Problem } from '@zhisuan/contract/problem'
import type { z } from 'zod'
import { someIp, type TestApp } from './app.ts'

/** A part of the request: to be left out where nothing in it is required. */
type Part<Name extends string, Shape> = Record<never, never> extends Shape ? { [K in Name]?: Shape } : { [K in Name]: Shape }

/** Who asks, and from where. */
export interface Caller {
  /** Access token; absent: nobody. */
  token?: string | undefined
  cookies?: Record<string, string>
  /** Else an address nobody else comes from. */
  ip?: string
}

/** What a call takes, by its declaration. */
export type CallInput<C extends Call> = Caller & Part<'params', z.input<C['params']>> & Part<'query', z.input<C['query']>> & Part<'body', z.input<C['body']>>

/** Whatever somebody may send, right or wrong. */
export interface AnyInput extends Caller {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
}

export interface Answer {
  status: number
  /** The body, parsed where it is JSON. */
  body: unknown
  headers: Readonly<Record<string, string | string[] | number | undefined>>
  cookies: readonly { name: string; value: string; [attribute: string]: unknown }[]
}

/** Sends a request to a declared call and hands back whatever comes. */
export async function send(app: TestApp, call: Call, input: AnyInput = {}): Promise<Answer> {
  const path = call.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? ''))
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(input.query ?? {})) if (value !== undefined) query.append(key, String(value))
  const response = await app.http.inject({
    method: call.method,
    url: query.size === 0 ? path : `${path}?${query}`,
    remoteAddress: input.ip ?? someIp(),
    headers: {
      ...(input.token !== undefined && { authorization: `Bearer ${input.token}` }),
      ...(input.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(input.cookies !== undefined && { cookies: input.cookies }),
    ...(input.body !== undefined && { payload: JSON.stringify(input.body) }),
  })
  const json = response.headers['content-type']?.toString().startsWith('application/json') === true
  return {
    status: response.statusCode,
    body: json ? (JSON.parse(response.body) as unknown) : response.body,
    headers: response.headers,
    cookies: response.cookies,
  }
}

/** How long somebody waits for what is going on with an object, as the refusal asks them to. */
const patienceMs = 60_000
const isBusy = ({ status, body }: Answer): boolean => status === 409 && problem.safeParse(body).data?.code === errors.operationRunning.code

/**
 * Makes a call that has to succeed. What an operation did shows before it has ended, so that a test which saw it may
 * come too early with what is next: it does as it is told, and tries again.
 */
export async function call<C extends Call>(app: TestApp, declared: C, input: CallInput<C>): Promise<ResponseOf<C>> {
  const until = Date.now() + patienceMs
  // The declared shapes are narrower than what may be sent.
  let answer = await send(app, declared, input as AnyInput)
  while (isBusy(answer) && Date.now() < until) {
    await sleep(50)
    answer = await send(app, declared, input as AnyInput)
  }
  if (answer.status !== declared.status) throw new Error(`${declared.id} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  // In tests the server has checked its answer against this declaration.
  return (declared.status === 204 ? undefined : answer.body) as ResponseOf<C>
}

/** Makes a call that has to be refused, with whatever input. */
export async function refused(app: TestApp, declared: Call, input: AnyInput = {}): Promise<Problem & { status: number }> {
  const answer = await send(app, declared, input)
  if (answer.status < 400) throw new Error(`${declared.id} was not refused but answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return { status: answer.status, ...problem.parse(answer.body) }
}
