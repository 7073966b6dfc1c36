import type { BodyOf, Call, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../auth/actor.ts'

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

/** A call with what answers it. */
export interface Handler {
  readonly call: Call
  readonly run: (input: HandlerInput<Call>) => Promise<unknown>
}

/** Binds a handler to a declared call; one whose answer does not fit the declared response does not compile. */
export const handle = <C extends Call>(call: C, run: (input: HandlerInput<C>) => Promise<ResponseOf<C>>): Handler => ({
  call,
  // The HTTP layer parses with this very call's schemas before it runs the handler.
  run: run as Handler['run'],
})
