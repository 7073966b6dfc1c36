import type { Call } from '@zhisuan/contract/define'
import fc from 'fast-check'
import type { z } from 'zod'
import { someIp, type TestApp } from './app.ts'
import { longestHold } from './loop.ts'

/** A part of a schema, as zod keeps it. */
export type Schema = z.core.$ZodType
type Path = readonly string[]

/** What nobody bounds has the length that a request may have. */
export const bodyMax = 1024 * 1024
const room = 64 * 1024

/** What a field takes that is a text, or many of something. */
export interface LongField {
  readonly path: Path
  readonly schema: Schema
  readonly kind: 'text' | 'list' | 'table'
  /** Characters of a text, entries of the others. */
  readonly most: number
}

const definitionOf = (schema: Schema) => (schema as z.core.$ZodTypes)._zod.def

/** What only wraps another. */
function within(schema: Schema): Schema | null {
  const definition = definitionOf(schema)
  if (definition.type === 'pipe') return definitionOf(definition.in).type === 'transform' ? definition.out : definition.in
  if (definition.type === 'lazy') return definition.getter()
  return 'innerType' in definition ? definition.innerType : null
}

interface Rules {
  readonly format?: string
  readonly pattern?: RegExp
  readonly minimum?: number
  readonly maximum?: number
  readonly value?: number
  readonly length?: number
}
/** What a schema and its checks ask for. */
function rulesOf(schema: Schema): Rules {
  const own = definitionOf(schema) as Rules & { checks?: readonly z.core.$ZodCheck[] }
  return [...(own.checks ?? []).map(({ _zod }) => _zod.def as Rules), own].reduce<Rules>((all, { format, pattern, minimum, maximum, value, length }) => {
    const next = { format, pattern, minimum, maximum, value, length }
    return { ...all, ...Object.fromEntries(Object.entries(next).filter(([, one]) => one !== undefined)) }
  }, {})
}
function mostOf(schema: Schema): number | undefined {
  const { maximum, length } = rulesOf(schema)
  return length ?? maximum
}

/** Texts, lists and tables that a schema takes, however deep. */
export function longFieldsOf(schema: Schema, path: Path = [], depth = 0): LongField[] {
  if (depth > 8) return []
  const inner = within(schema)
  if (inner !== null) return longFieldsOf(inner, path, depth + 1)
  const definition = definitionOf(schema)
  switch (definition.type) {
    case 'string':
    case 'unknown':
    case 'any':
      return [{ path, schema, kind: 'text', most: mostOf(schema) ?? bodyMax - room }]
    case 'object':
      return Object.entries(definition.shape).flatMap(([key, one]) => longFieldsOf(one, [...path, key], depth + 1))
    case 'array':
      return [{ path, schema, kind: 'list', most: mostOf(schema) ?? bodyMax }, ...longFieldsOf(definition.element, [...path, '0'], depth + 1)]
    case 'record':
      return [{ path, schema, kind: 'table', most: mostOf(schema) ?? bodyMax }, ...longFieldsOf(definition.valueType, [...path, 'key'], depth + 1)]
    case 'union':
      return definition.options.flatMap((one) => longFieldsOf(one, path, depth + 1))
    default:
      return []
  }
}

const formats: Readonly<Record<string, string>> = {
  uuid: '018f0000-0000-7000-8000-000000000000',
  email: 'somebody@example.com',
  date: '2026-11-28',
  datetime: '2026-11-28T00:00:00Z',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  cidrv4: '192.0.2.0/24',
  cidrv6: '2001:db8::/64',
  url: 'https://example.com/',
}

/**
 * Something that a schema takes, or near it: rules that several fields make together are not known here.
 * @param whole with what may be left out
 */
export function sampleOf(schema: Schema, whole: boolean, depth = 0): unknown {
  if (depth > 12) return undefined
  const definition = definitionOf(schema)
  switch (definition.type) {
    case 'optional':
      return whole ? sampleOf(definition.innerType, whole, depth + 1) : undefined
    case 'string': {
      const { format, pattern, minimum = 1 } = rulesOf(schema)
      if (format !== undefined && formats[format] !== undefined) return formats[format]
      const tried = [
        'a'.repeat(minimum),
        'Abcdefg1!',
        '1',
        '13912345678',
        '10.0.0.0/24',
        '192.0.2.1',
        'a/b:1',
        '1.0',
        '123456',
        'https://example.com/',
        'true',
        'docker.io/library/nginx:1',
        'a'.repeat(64),
        '/a',
        '#!/bin/sh',
        'Asia/Shanghai',
        '2026-11',
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBx8G0PZ0vPq0cmVxqfjGQ1n0zRXq1m0d1nSyd4YbY6b a',
        'a.b',
      ]
      const fitting = tried.find((text) => (schema as z.ZodType).safeParse(text).success)
      return fitting ?? (pattern === undefined ? 'a' : drawn(pattern))
    }
    case 'number': {
      const { minimum, value } = rulesOf(schema)
      return Math.max(1, minimum ?? value ?? 1)
    }
    case 'boolean':
      return false
    case 'literal':
      return definition.values[0]
    case 'enum':
      return Object.values(definition.entries)[0]
    case 'object':
      return Object.fromEntries(Object.entries(definition.shape).map(([key, one]) => [key, sampleOf(one, whole, depth + 1)]))
    case 'array':
      return [sampleOf(definition.element, whole, depth + 1)]
    case 'record':
      return { [String(sampleOf(definition.keyType, whole, depth + 1) ?? 'a')]: sampleOf(definition.valueType, whole, depth + 1) }
    case 'union':
      return sampleOf(definition.options[0] as Schema, whole, depth + 1)
    case 'unknown':
    case 'any':
      return 'a'
    case 'null':
    case 'void':
    case 'undefined':
      return null
    default: {
      const inner = within(schema)
      return inner === null ? null : sampleOf(inner, whole, depth + 1)
    }
  }
}
function drawn(pattern: RegExp): string {
  try {
    return fc.sample(fc.stringMatching(pattern), { numRuns: 1, seed: 7 })[0] ?? 'a'
  } catch {
    return 'a'
  }
}

/** The same with something else at one place. */
export function withAt(value: unknown, [key, ...rest]: Path, put: unknown): unknown {
  if (key === undefined) return put
  if (Array.isArray(value)) return [withAt(value[0], rest, put)]
  return { ...(typeof value === 'object' ? value : {}), [key]: withAt((value as Record<string, unknown> | null)?.[key], rest, put) }
}

/** `one(0)`, `one(1)` … as many as there is room for. */
function numbered(length: number, one: (index: number) => string): string {
  let text = ''
  for (let index = 0; ; index++) {
    const next = one(index)
    if (text.length + next.length > length) return text
    text += next
  }
}
const filled = (length: number, piece: string): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

/** What is worst for some parser or pattern: each makes a text of a length. */
export const longTexts = {
  'one letter': (length: number) => filled(length, 'a'),
  digits: (length: number) => filled(length, '1'),
  spaces: (length: number) => ` ${filled(Math.max(0, length - 2), ' ')}!`,
  'lines and a letter': (length: number) => filled(length, 'a\n'),
  'dots between': (length: number) => filled(length, 'a.'),
  'hyphens between': (length: number) => filled(length, 'a-'),
  slashes: (length: number) => filled(length, 'a/'),
  addresses: (length: number) => filled(length, 'a@a.'),
  emoji: (length: number) => filled(length, '😀'),
  'characters that compose': (length: number) => filled(length, 'e\u0301'),
  dollars: (length: number) => filled(length, '${a}'),
  'dollars within': (length: number) => filled(length, '${a:-'),
  brackets: (length: number) => filled(length, '['),
  braces: (length: number) => filled(length, '{'),
  closings: (length: number) => filled(length, ']'),
  'a flow map of many keys': (length: number) => `{${numbered(length - 2, (index) => `k${index}: ,`)}}`,
  'a map of many keys': (length: number) => numbered(length, (index) => `k${index}:\n`),
  'the same key': (length: number) => filled(length, 'a: 1\n'),
  'a list': (length: number) => filled(length, '- 1\n'),
  'a flow list': (length: number) => `[${filled(length - 3, '1,')}1]`,
  anchors: (length: number) => numbered(length, (index) => `- &a${index} 1\n`),
  aliases: (length: number) => `- &a 1\n${filled(length - 7, '- *a\n')}`,
  merges: (length: number) => `a: &a {x: 1}\n${numbered(length - 13, (index) => `k${index}: {<<: *a}\n`)}`,
  directives: (length: number) => filled(length, '%a\n'),
  escapes: (length: number) => `"${filled(length - 1, '\\x')}`,
  services: (length: number) => `services:\n${numbered(length - 10, (index) => ` s${index}: {image: a}\n`)}`,
  'a service of many variables': (length: number) =>
    `services:\n a:\n  image: a\n  environment:\n${numbered(length - 45, (index) => `   K${index}: $V${index}\n`)}`,
  'many services of one': (length: number) =>
    `x-a: &a\n image: a\n environment:\n${numbered(length / 2, (index) => `  K${index}: v\n`)}services:\n${numbered(length / 3, (index) => ` s${index}: *a\n`)}`,
  'JSON of many': (length: number) => `[${filled(length - 3, '{},')}{}]`,
  'JSON of many keys': (length: number) => `{${numbered(length - 8, (index) => `"k${index}":1,`)}"k":1}`,
  'lines of a table': (length: number) => filled(length, 'a,"b""",=c\n'),
  certificate: (length: number) => `-----BEGIN CERTIFICATE-----\n${filled(Math.max(0, length - 54), 'MIIB\n')}\n-----END CERTIFICATE-----`,
  certificates: (length: number) => filled(length, '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'),
  key: (length: number) => `ssh-rsa ${filled(Math.max(0, length - 8), 'AAAA')}`,
  'cloud-init': (length: number) => `#cloud-config\n${numbered(length - 14, (index) => `k${index}: [a]\n`)}`,
  patterns: (length: number) => filled(length, '*a?'),
} satisfies Readonly<Record<string, (length: number) => string>>

export interface LongBody {
  readonly field: LongField
  readonly what: string
  readonly body: string
}

/** Bodies of a call that have one of its fields as long as it may be, those that are longer, and those that are only large. */
export function* longBodies(call: Call, refusedBefore: Set<Schema> = new Set()): Generator<LongBody> {
  const definition = definitionOf(call.body)
  for (const one of definition.type === 'union' ? definition.options : [call.body]) {
    const samples = [true, false].map((whole) => sampleOf(one, whole))
    const sample = samples.find((value) => (one as z.ZodType).safeParse(value).success) ?? samples[0]
    for (const field of longFieldsOf(one)) {
      for (const [what, value] of field.kind === 'text' ? textsFor(field, refusedBefore) : manyFor(field, sample))
        yield { field, what, body: JSON.stringify(withAt(sample, field.path, value)) }
    }
  }
}

/** @param refusedBefore what another call has as well, and refuses what is too long for it by itself */
function* textsFor({ schema, most }: LongField, refusedBefore: Set<Schema>): Generator<readonly [what: string, value: string]> {
  // Escaped it may be longer than what is read at all.
  const fitting = (text: string): string => (Buffer.byteLength(JSON.stringify(text)) <= bodyMax - room ? text : text.slice(0, Math.floor(text.length / 8)))
  const { pattern, format } = rulesOf(schema)
  // What has one form is never long.
  const formed = most >= bodyMax - room && (pattern !== undefined || format !== undefined)
  if (!formed) for (const [what, make] of Object.entries(longTexts)) yield [what, fitting(make(Math.min(most, bodyMax - room)).slice(0, most))]
  if (refusedBefore.has(schema) || (!formed && most >= bodyMax - room)) return
  refusedBefore.add(schema)
  for (const what of tooLong) yield [`${what}, too long`, fitting(longTexts[what](bodyMax - room))]
}
const tooLong = ['one letter', 'spaces', 'digits', 'dots between', 'hyphens between', 'slashes', 'addresses', 'a flow map of many keys'] as const

function* manyFor(field: LongField, sample: unknown): Generator<readonly [what: string, value: unknown]> {
  const element = at(sample, [...field.path, field.kind === 'list' ? '0' : 'key']) ?? 'a'
  const size = Buffer.byteLength(JSON.stringify(element)) + 12
  const most = Math.min(field.most, Math.floor((bodyMax - room) / size))
  if (field.kind === 'list') {
    const list = (value: unknown, count: number) => Array.from({ length: count }, () => value)
    yield ['as many as there may be', list(element, most)]
    for (const wrong of [1, [], {}]) yield [`too many of ${JSON.stringify(wrong)}`, list(wrong, 300_000)]
  } else {
    const table = (value: unknown, count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]))
    yield ['as many as there may be', table(element, most)]
    yield ['too many', table(1, 80_000)]
  }
}
const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((one, key) => {
    if (Array.isArray(one)) return one[0]
    const table = one as Record<string, unknown> | null | undefined
    return key === 'key' && table !== null && typeof table === 'object' ? Object.values(table)[0] : table?.[key]
  }, value)

/** Milliseconds for which an answer may keep everybody else waiting. */
export const holdMax = 100

/** Something that is sent as it stands. */
export interface LongRequest {
  readonly said: string
  readonly method: Call['method']
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: string
}

/**
 * Those of the bodies whose answers keep everybody else waiting for longer than they may, each with how long.
 * @param tokenOf asked again where the session has ended
 */
export const slowAnswers = (app: TestApp, call: Call, tokenOf: (anew: boolean) => Promise<string>, bodies: Iterable<LongBody>): Promise<string[]> =>
  slowRequests(app, tokenOf, requestsOf(call, bodies))

function* requestsOf(call: Call, bodies: Iterable<LongBody>): Generator<LongRequest> {
  for (const { field, what, body } of bodies) {
    const said = `${call.id} ${field.path.join('.')}, ${what}`
    yield { said, method: call.method, url: urlOf(call), headers: { 'content-type': 'application/json' }, payload: body }
  }
}
/** Of something that is not there. */
export const urlOf = (call: Call): string => call.path.replace(/\{\w+\}/g, formats['uuid'] ?? '')

/**
 * Those whose answers keep everybody else waiting for longer than they may, each with how long; and those that fail.
 * @param tokenOf whose they are, asked again where the session has ended; null where each says by itself who it is
 */
export async function slowRequests(app: TestApp, tokenOf: ((anew: boolean) => Promise<string>) | null, requests: Iterable<LongRequest>): Promise<string[]> {
  const slow: string[] = []
  for (const { said, method, url, headers, payload } of requests) {
    let [held, status] = [0, 0]
    // What something else did meanwhile is not its own.
    for (let times = 0; times < 3; times++) {
      const authorization = tokenOf === null ? {} : { authorization: `Bearer ${await tokenOf(status === 401)}` }
      held = await longestHold(async () => {
        const answer = await app.http.inject({
          method,
          url,
          remoteAddress: someIp(),
          headers: { ...authorization, ...headers },
          ...(payload !== undefined && { payload }),
        })
        status = answer.statusCode
      })
      if (held <= holdMax && (status !== 401 || tokenOf === null)) break
    }
    if (held > holdMax || status >= 500) slow.push(`${said}: ${Math.round(held)} ms, ${status}`)
  }
  return slow
}
