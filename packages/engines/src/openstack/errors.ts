import { z } from 'zod'
import { EngineError, type EngineErrorKind } from '../errors.ts'

/** The services that this client speaks to; what a cloud's catalogue calls them stands in `catalogue.ts`. */
export type Service = 'identity' | 'compute' | 'placement' | 'image' | 'network' | 'volume'

/** Where something went wrong: what a person needs who asks the cloud's operators about it. */
export interface Place {
  /** What people call the cloud. */
  readonly cloud: string
  readonly service: Service
  /** `req-…`: the service's own, or ours where no answer came; either stands in the service's log. */
  readonly requestId: string
}

/** It was disabled, deleted, or our user has no role in it any more. */
export type ProjectProblem = 'disabled' | 'gone' | 'role'

/** How much of a quota there was when a service refused, in the unit that it counts in; null is what it did not say. */
export interface QuotaFigures {
  readonly asked: number | null
  readonly used: number | null
  readonly limit: number | null
}

/** An EngineError that says of which cloud, which service and which request it is. */
export class OpenStackError extends EngineError implements Place {
  readonly cloud: string
  readonly service: Service
  readonly requestId: string
  /**
   * What the service said to somebody who may ask it: of a request that it took for wrong, or that the state of
   * things forbids. Null of everything else, which is between it and its operators.
   */
  readonly words: string | null
  /** Which quotas are used up, as the service calls them (`cores`, `gigabytes`, `port`); empty of all else that is exhausted. */
  readonly quotas: readonly string[]
  /** Of each of them that the service gave figures of. */
  readonly quotaFigures: ReadonlyMap<string, QuotaFigures>

  /** Why Keystone lets nobody into the project that something was asked within, where it is that and not the account. */
  readonly project: ProjectProblem | null
  /** What it is about, without where. */
  readonly #said: string

  constructor(kind: EngineErrorKind, message: string, place: Place, options: { cause?: unknown; status?: number; project?: ProjectProblem } = {}) {
    const status = options.status === undefined ? '' : `HTTP ${options.status}, `
    super(kind, `${place.cloud}, ${place.service}: ${message} (${status}${place.requestId})`, options)
    this.name = 'OpenStackError'
    this.#said = message
    this.project = options.project ?? null
    this.cloud = place.cloud
    this.service = place.service
    this.requestId = place.requestId
    this.quotas = kind === 'exhausted' ? quotasIn(message) : []
    this.quotaFigures = figuresIn(message, this.quotas)
    this.words =
      options.status !== undefined && options.status < 500 && ['invalid', 'busy', 'conflict', 'exhausted', 'unsupported'].includes(kind) ? message : null
  }

  /** The same, of another kind, or with more that is known of it. */
  as(kind: EngineErrorKind, more: { project?: ProjectProblem } = {}): OpenStackError {
    return new OpenStackError(kind, this.#said, this, { cause: this.cause, ...(this.status !== undefined && { status: this.status }), ...more })
  }
}

/**
 * A refusal in the words of each service: `{"itemNotFound": {"message", "code"}}` of Nova and Cinder,
 * `{"NeutronError": {"type", "message", "detail"}}`, `{"error": {"message", "code", "title"}}` of Keystone,
 * `{"errors": [{"title", "detail"}]}` of Placement and of gateways, `{"message", "title"}` with markup of Glance.
 */
const told = z.union([
  z
    .object({ errors: z.array(z.object({ title: z.string().nullish(), detail: z.string().nullish() })).min(1) })
    .transform(({ errors: [first] }) => ({ type: '', message: first?.detail ?? first?.title ?? '' })),
  z.object({ message: z.string(), title: z.string().nullish() }).transform(({ message }) => ({ type: '', message })),
  z.record(z.string(), z.union([z.object({ message: z.string(), type: z.string().nullish() }), z.string()])).transform((raw) => {
    const [name = '', what = ''] = Object.entries(raw)[0] ?? []
    return typeof what === 'string' ? { type: name, message: what } : { type: what.type ?? name, message: what.message }
  }),
])

/**
 * What a service that refused has said, and what kind of refusal that is.
 * @param changes whether something was to be changed: then who stood between may not know what became of it
 */
export function refusal(place: Place, status: number, body: Buffer, changes = false): OpenStackError {
  const { type, message } = wordsOf(body)
  const unknown = changes && (status === 502 || status === 504 || (status === 500 && hung.test(body.toString('utf8'))))
  const kind = unknown ? 'unanswered' : status === 500 && lostRace.test(body.toString('utf8')) ? 'busy' : kindOf(status, type, message)
  return new OpenStackError(kind, message === '' ? 'refused' : message, place, { status })
}

/** Each service, and each of its quotas, has words of its own (nova/exception.py, cinder/exception.py, neutron_lib/exceptions). */
function quotasIn(message: string): readonly string[] {
  const [, nova, neutron, cinder, size, number] =
    /Quota exceeded for ([a-z_, ]+): Requested|Quota exceeded for resources: \[([^\]]*)\]|exceeded for quota '(\w+)'|exceeds allowed ([\w ]+?) quota|(?:Maximum number of|Quota exceeded, too many) ([a-z ]+?)(?: allowed.*)?(?: exceeded|\.|$)/i.exec(
      message,
    ) ?? []
  const names = (nova ?? neutron ?? cinder ?? size ?? number ?? '').split(',')
  return names
    .map((name) => name.trim().replace(/^'|'$/g, '').toLowerCase().replaceAll(' ', '_'))
    .map((name) => typed.exec(name)?.[1] ?? ones[name] ?? name)
    .filter((name) => name !== '')
}
/**
 * The same messages, for their figures. Nova tells of several what is asked of those that are too little, in the order
 * of their names, and what is used of each; Cinder of space all three, of a number the limit; Neutron nothing.
 */
function figuresIn(message: string, quotas: readonly string[]): ReadonlyMap<string, QuotaFigures> {
  const numbers = (list: string | undefined): readonly (number | undefined)[] =>
    (list ?? '').split(',').map((one) => (/\d/.test(one) ? Number(one) : undefined))
  const [, requested, used, limits] = /Requested ([\d, ]+), but already used ([\d, ]+) of ([\d, ]+)/i.exec(message) ?? []
  const [, size, most, consumed] = /Requested (\d+)G, quota is (\d+)G(?: and (\d+)G has been consumed)?/i.exec(message) ?? []
  const [, allowed] = /Maximum number of [a-z ]+ allowed \((\d+)\)/i.exec(message) ?? []
  const lists = { asked: numbers(requested ?? size), used: numbers(used ?? consumed), limit: numbers(limits ?? most ?? allowed) }
  return new Map(
    quotas.flatMap((name, at) => {
      const figures = { asked: lists.asked[at] ?? null, used: lists.used[at] ?? null, limit: lists.limit[at] ?? null }
      return figures.limit === null ? [] : [[name, figures] as const]
    }),
  )
}
/** Cinder has a quota of each type of volume too. */
const typed = /^(volumes|gigabytes|snapshots)_\w+$/
/** What Nova calls those of Neutron. */
const ones: Readonly<Record<string, string>> = { ports: 'port', floating_ips: 'floatingip', security_groups: 'security_group' }

/** Of two who ask at once for what a server can do one after the other, Nova tells the second that it is at fault itself, and names what happened. */
const lostRace = /nova\.exception\.Unexpected(Deleting)?TaskStateError/

/** An API that waited in vain for the service behind it, which may be at it still. */
const hung = /MessagingTimeout/

function wordsOf(body: Buffer): { type: string; message: string } {
  const text = body.toString('utf8').trim()
  try {
    const parsed = told.safeParse(JSON.parse(text))
    if (parsed.success) return { type: parsed.data.type, message: plain(parsed.data.message) }
  } catch {
    // Not JSON: something between us and the service.
  }
  return { type: '', message: plain(text) }
}

const plain = (text: string): string =>
  text
    .replace(/<(head|style|script)\b.*?<\/\1>/gis, ' ')
    .replace(/<\/?[a-z][^>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300)

/** The status tells the kind, and where that is too coarse the type or the text. */
function kindOf(status: number, type: string, message: string): EngineErrorKind {
  if (status === 401) return 'unauthorized'
  // Each service has a status of its own for a quota that is used up.
  if (
    /quota|OverLimit|limit exceeded|Maximum number of [a-z ]+ (allowed .*)?exceeded|NoMoreFixedIps|IpAddressGenerationFailure|No valid host|NoNetworkAvailable|No more IP addresses|Insufficient (compute|capacity)|no valid (backend|host)/i.test(
      `${type} ${message}`,
    ) &&
    status < 500
  )
    return 'exhausted'
  if (status === 403) return 'unauthorized'
  if (status === 404 || status === 410) return 'not_found'
  if (status === 405 || status === 406 || status === 501) return 'unsupported'
  if (status === 409)
    return /already (exists|in use)|duplicate|conflict occurred|already associated|overlaps with/i.test(`${type} ${message}`) ? 'conflict' : 'busy'
  if (status === 413) return 'exhausted'
  if (status === 429 || (status >= 502 && status <= 504)) return 'unreachable'
  // Cinder says so of what is in another state, or what something builds on.
  if (status === 400 && /Invalid (volume|snapshot|backup): /i.test(message)) return 'busy'
  if (status >= 400 && status < 500) return 'invalid'
  return status >= 500 ? 'failed' : 'bad_answer'
}
