import { z } from 'zod'
import type { Access, Role } from './roles.ts'

/**
 * One call of the API, declared once: the server binds a handler to it, the console gets its
 * client from it, OpenAPI, the permission matrix and the fuzz test are printed from it.
 */
export interface Call<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** `family.resource.verb`; also the policy action, the audit verb and the root of its messages. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As the specification writes it: `/api/cmp/v1/clouds/{id}`. */
  readonly path: string
  /** One English line for OpenAPI. */
  readonly summary: string
  readonly access: Access
  /**
   * What it is about, where that stands in the body: policies are asked about each of them.
   * Otherwise it is about the resource that its own id names, and about `{id}` of its path.
   */
  readonly subjects: ((body: unknown) => readonly Subject[]) | undefined
  /**
   * How policies name what it is about, where that is not `{id}` of its path: of a part of the path as it was asked for,
   * such as a repository within its project. Undefined is the whole kind.
   */
  readonly subjectId: ((params: PathParts) => string | undefined) | undefined
  /**
   * What it does besides, which has to be allowed as well: another call whose work it does, or its own action on something
   * else that it acts in or on. Asked before the body is read, without one, and once it is.
   */
  readonly also: ((input: AlsoInput) => readonly Also[]) | undefined
  /** The tags that the body would give to what it is about; undefined where it leaves them. For `zs:RequestTag/…` of policies. */
  readonly requestTags: ((body: unknown) => Tags | undefined) | undefined
  /** Whether the call is written to the audit log under its id. */
  readonly audit: boolean
  /**
   * What it does, it does in an engine outside, such as a cloud: what was asked is written to the audit log before, and
   * what came of it after.
   */
  readonly outside: boolean
  /** It moves money: who asks with a key (`Idempotency-Key`) and then asks again with it is answered the same, and nothing moves. */
  readonly keyed: boolean
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly response: Response
  /** Success status; 202 answers with the resource in its transitional status. */
  readonly status: 200 | 201 | 202 | 204
  /** Roles that may make it only where a policy says so: what is built in does not allow them. */
  readonly onlyByPolicy: readonly Role[]
  /** Callable before an initial password was changed, and while the licence has expired. */
  readonly always: boolean
  /**
   * What only a person does, signed in: an access key may not make it. Calls of `ums` that are for everybody or
   * need nobody are so unless they say otherwise: they are about one's own account.
   */
  readonly personal: boolean
  /**
   * The answer comes as lines of JSON (NDJSON) as they are known; `response` is one of them. What fails before
   * the first line is answered as ever; after it, only the lines can tell.
   */
  readonly lines: boolean
  /**
   * They are server-sent events: each has a `cursor`, by which whoever comes back goes on, and says nothing where its `event`
   * is null. It goes on as long as somebody reads.
   */
  readonly events: boolean
  /** The answer is a page of a list: the query says which. */
  readonly paged: boolean
  /** Requests in a minute from one address (of IPv6 a /64), for calls that people could abuse. */
  readonly perMinute: number | undefined
}

/** Values by keys; a key without a value has the empty one. */
export type Tags = Readonly<Record<string, string>>

export interface Subject {
  /** The first two parts of an id of a call: `nextstack.vm`. */
  readonly kind: string
  readonly id: string
}

const nothing = z.object({})
type Nothing = typeof nothing

/** The body of a 204. */
export const empty = z.void()

/** What a call that does another one's work asks for as well. */
export interface Also {
  /** The id of a call. */
  readonly action: string
  /** On what; left out: on the whole kind that the action is about. */
  readonly on?: AlsoSubject
}

export interface AlsoSubject {
  readonly kind: string
  /** Unknown where nobody said yet what it is about. */
  readonly id: string | undefined
  /** The id is that of a thing of this kind, and it is about what that one belongs to: the instance of a snapshot. */
  readonly of?: string
}

/** Parts of a path, as they were asked for. */
export interface PathParts {
  readonly id?: string | undefined
  readonly volume_id?: string | undefined
  readonly pid?: string | undefined
  readonly name?: string | undefined
}

/** Of the path as it was asked for, and of the body once it is read. */
export interface AlsoInput<B = unknown> {
  readonly params: PathParts
  readonly body: B | undefined
}

/** What acts in or on something asks for its own action on that, and for being allowed to see it. */
export const actsOn = (action: string, on: AlsoSubject): readonly Also[] => [
  { action, on },
  { action: `${on.kind}.get`, on },
]

type Definition<P, Q, B extends z.ZodType, R> = Pick<Call, 'id' | 'method' | 'path' | 'summary' | 'access'> &
  Partial<Pick<Call, 'audit' | 'status' | 'always' | 'personal' | 'onlyByPolicy' | 'perMinute' | 'lines' | 'events' | 'outside' | 'keyed' | 'subjectId'>> & {
    params?: P
    query?: Q
    body?: B
    response: R
    subjects?: (body: z.output<B>) => readonly Subject[]
    also?: (input: AlsoInput<z.output<B>>) => readonly Also[]
    requestTags?: (body: z.output<B>) => Tags | undefined
  }

/**
 * Declares a call. What is left out: no params, query or body; status 200 (204 where the response
 * is {@link empty}); changes are audited, reads are not.
 */
export const defineCall = <R extends z.ZodType, P extends z.ZodType = Nothing, Q extends z.ZodType = Nothing, B extends z.ZodType = Nothing>(
  definition: Definition<P, Q, B, R>,
): Call<P, Q, B, R> => ({
  id: definition.id,
  method: definition.method,
  path: definition.path,
  summary: definition.summary,
  access: definition.access,
  response: definition.response,
  audit: definition.audit ?? definition.method !== 'GET',
  status: definition.status ?? ((definition.response as z.ZodType) === empty ? 204 : 200),
  always: definition.always ?? false,
  personal: definition.personal ?? (definition.id.startsWith('ums.') && typeof definition.access === 'string'),
  onlyByPolicy: definition.onlyByPolicy ?? [],
  lines: definition.lines ?? false,
  events: definition.events ?? false,
  paged: definition.query instanceof z.ZodObject && 'page_num' in definition.query.shape,
  perMinute: definition.perMinute,
  outside: definition.outside ?? (definition.id.startsWith('compute.') && definition.method !== 'GET'),
  keyed: definition.keyed ?? false,
  // They are asked only about bodies that the call's own schema took.
  subjects: definition.subjects as Call['subjects'],
  subjectId: definition.subjectId,
  requestTags: definition.requestTags as Call['requestTags'],
  also: definition.also as Call['also'],
  // The defaults stand in exactly where the type parameter fell back to its own default.
  params: definition.params ?? (nothing as unknown as P),
  query: definition.query ?? (nothing as unknown as Q),
  body: definition.body ?? (nothing as unknown as B),
})

export type ParamsOf<C extends Call> = z.output<C['params']>
export type QueryOf<C extends Call> = z.output<C['query']>
export type BodyOf<C extends Call> = z.output<C['body']>
export type ResponseOf<C extends Call> = z.output<C['response']>
/** What a client has to give: before defaults are filled in. */
export type QueryInput<C extends Call> = z.input<C['query']>
export type BodyInput<C extends Call> = z.input<C['body']>

/** The header that a call which moves money is asked with, so that it can be asked again: a fresh one for each wish. */
export const idempotencyKeyHeader = 'idempotency-key'
export const idempotencyKey = z.string().regex(/^[\w.:-]{8,128}$/)

/** `{id}` in a path: our objects have UUIDs. Anything else does not exist, so it answers 404. */
export const byId = z.object({ id: z.uuid() })

/**
 * The query of a list: 1-based `page_num`, `page_size` (10), `sort` as a column name, descending
 * with a leading minus, and the list's own filters.
 */
export const listQuery = <const S extends readonly [string, ...string[]], F extends z.ZodRawShape>(
  sortable: S,
  filters: F,
  options: { maxPageSize?: number } = {},
) =>
  z.object({
    page_num: z.coerce.number().int().min(1).max(10_000_000).default(1),
    page_size: z.coerce
      .number()
      .int()
      .min(1)
      .max(options.maxPageSize ?? 1000)
      .default(10),
    sort: z.enum(sortable.flatMap((name) => [name, `-${name}`]) as [S[number] | `-${S[number]}`]).optional(),
    ...filters,
  })

/** A page of a list: how many there are in all, and the ones of this page. */
export const listOf = <T extends z.ZodType>(item: T) => z.object({ total: z.int(), items: z.array(item) })

/** A day that somebody asks about, ISO 8601. Before the year 1 there is none: databases know no year 0. */
export const day = z.iso.date().regex(/^(?!0000)/)

/** A moment, ISO 8601 with zone, as JSON carries it. */
export const moment = z.iso.datetime({ offset: true })

/** Booleans in a query string. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true')
