import type { BodyOf, Call, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor, Scope } from '../auth/actor.ts'

/** What a handler gets: everything parsed, and the actor that the declaration promises. */
export interface HandlerInput<C extends Call> {
  params: ParamsOf<C>
  query: QueryOf<C>
  body: BodyOf<C>
  /** Null only for calls that are declared public. */
  actor: C['access'] extends 'public' ? Actor | null : Actor
  request: FastifyRequest
  reply: FastifyReply
}

/** What a shared handler gets: nothing of the one person who asks but what they may see. */
export interface SharedInput<C extends Call> {
  params: ParamsOf<C>
  query: QueryOf<C>
  scope: Scope
}

/** What a handler gets whose answer comes in lines. */
export type LinesInput<C extends Call> = HandlerInput<C> & {
  /** Aborted when nobody reads any more. */
  signal: AbortSignal
}

/** A call with what answers it. */
export type Handler =
  | { readonly call: Call; readonly shared: false; readonly lines: true; readonly run: (input: LinesInput<Call>) => AsyncIterable<unknown> }
  | { readonly call: Call; readonly shared: false; readonly lines?: false; readonly run: (input: HandlerInput<Call>) => Promise<unknown> }
  | { readonly call: Call; readonly shared: true; readonly lines?: false; readonly run: (input: SharedInput<Call>) => Promise<unknown> }

/** Binds a handler to a declared call; one whose answer does not fit the declared response does not compile. */
export const handle = <C extends Call>(call: C, run: (input: HandlerInput<C>) => Promise<ResponseOf<C>>): Handler => ({
  call,
  shared: false,
  // The HTTP layer parses with this very call's schemas before it runs the handler.
  run: run as (input: HandlerInput<Call>) => Promise<unknown>,
})

/**
 * Binds a handler to a read that many make again and again, such as a list that consoles watch:
 * those of one scope who ask the same at once share one answer, see shared.ts.
 */
export const handleShared = <C extends Call>(call: C, run: (input: SharedInput<C>) => Promise<ResponseOf<C>>): Handler => ({
  call,
  shared: true,
  run: run as (input: SharedInput<Call>) => Promise<unknown>,
})

/** Binds a call whose answer comes in lines; each has to fit the declared response. */
export const handleLines = <C extends Call>(call: C, run: (input: LinesInput<C>) => AsyncIterable<ResponseOf<C>>): Handler => ({
  call,
  shared: false,
  lines: true,
  run: run as (input: LinesInput<Call>) => AsyncIterable<unknown>,
})
