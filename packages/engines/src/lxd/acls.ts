import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { checkAcl } from '../network.checks.ts'
import type { Acl, AclRule, Acls } from '../network.ts'
import { find, undisturbed } from './objects.ts'
import { change } from './operations.ts'
import { parse } from './parse.ts'
import type { Server } from './server.ts'
import { sameTexts, tagged, tagsOf } from './tags.ts'
import type { Transport } from './transport.ts'

/** LXD REST API `GET /1.0/network-acls/{name}`. Fields that say nothing are left out, or empty. */
const rule = z.object({
  action: z.enum(['allow', 'reject', 'drop']),
  /** `enabled`, `logged`, `disabled` */
  state: z.string(),
  protocol: z.string().nullish(),
  source: z.string().nullish(),
  destination: z.string().nullish(),
  source_port: z.string().nullish(),
  destination_port: z.string().nullish(),
  icmp_type: z.string().nullish(),
  icmp_code: z.string().nullish(),
  description: z.string().nullish(),
})
type LxdRule = z.output<typeof rule>
const acl = z.object({
  name: z.string(),
  description: z.string().nullish(),
  ingress: z.array(rule).nullish(),
  egress: z.array(rule).nullish(),
  config: z.record(z.string(), z.string()).nullish(),
})

const path = (name: string): string => `/1.0/network-acls/${encodeURIComponent(name)}`

/** How often is asked again where LXD says that there is none, and lists it. */
const mostTries = 5

export function createAcls(transport: Transport, server: Server): Acls {
  /**
   * LXD 5.0 looks through all networks for users of an ACL, and answers 404 where one of them goes meanwhile: that an ACL
   * is gone is certain only where its list of names, which looks at nothing else, has it no longer.
   */
  const unlessGone = async <T>(name: string, options: CallOptions, ask: () => Promise<T | null>): Promise<T | null> => {
    await server.needs(['network_acl'], options)
    for (let tries = 1; ; tries++) {
      try {
        const answer = await ask()
        if (answer !== null) return answer
      } catch (error) {
        if (!isEngineError(error, 'not_found')) throw error
      }
      const { metadata } = await transport.ask('/1.0/network-acls', { signal: options.signal })
      if (!parse(z.array(z.string()), metadata, 'ACLs').some((one) => one.split('?')[0] === path(name))) return null
      if (tries >= mostTries) throw new EngineError('busy', `${name} is listed, and LXD does not find it`)
    }
  }
  const read = (name: string, options: CallOptions) => unlessGone(name, options, () => find(transport, path(name), acl, 'ACL', options))

  return {
    async get(name, options = {}) {
      const found = await read(name, options)
      return found === null ? null : shapeAcl(found.raw)
    },

    async apply(wanted, options = {}) {
      checkAcl(wanted)
      const body = { description: wanted.description, ingress: rulesOf(wanted.ingress), egress: rulesOf(wanted.egress) }
      await undisturbed(async () => {
        const found = await read(wanted.name, options)
        if (found === null) {
          await change(transport, '/1.0/network-acls', { method: 'POST', body: { ...body, name: wanted.name, config: tagged(wanted.tags) } }, options)
          return
        }
        const { raw, etag } = found
        if (!sameTexts(tagsOf(raw.config), wanted.tags)) throw new EngineError('conflict', `${wanted.name} exists and is not ours`)
        if ((raw.description ?? '') === body.description && sameRules(raw.ingress, body.ingress) && sameRules(raw.egress, body.egress)) return
        await change(transport, path(wanted.name), { method: 'PUT', ifMatch: etag, body: { ...body, config: raw.config ?? {} } }, options).catch(disturbed)
      })
    },

    async delete(name, options = {}) {
      await unlessGone(name, options, async () => {
        await change(transport, path(name), { method: 'DELETE' }, options)
        return true
      })
    },
  }
}

/** Of one that was there a moment ago: it has gone, or a network has that LXD looks through. Either is seen by reading it again. */
function disturbed(error: unknown): never {
  if (!isEngineError(error, 'not_found')) throw error
  throw new EngineError('busy', error.message, { cause: error, ...(error.status !== undefined && { status: error.status }) })
}

/** As the engine keeps them: without what says nothing, and each but once, which is all it takes. */
function rulesOf(rules: readonly AclRule[]): Record<string, string>[] {
  const all = rules.map((one) => ({
    action: one.action,
    state: 'enabled',
    ...(one.protocol !== null && { protocol: one.protocol }),
    ...(one.source.length > 0 && { source: one.source.join(',') }),
    ...(one.destination.length > 0 && { destination: one.destination.join(',') }),
    ...(one.destinationPorts.length > 0 && { destination_port: one.destinationPorts.join(',') }),
    ...(one.description !== '' && { description: one.description }),
  }))
  return [...new Map(all.map((one) => [keyOf(one), one])).values()]
}

const keyOf = (fields: Readonly<Record<string, string | null | undefined>>): string =>
  JSON.stringify(
    Object.entries(fields)
      .filter(([, value]) => value !== '' && value !== null && value !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  )
/** Their order says nothing. */
const sameRules = (there: readonly LxdRule[] | null | undefined, wanted: readonly Record<string, string>[]): boolean =>
  JSON.stringify((there ?? []).map(keyOf).sort()) === JSON.stringify(wanted.map(keyOf).sort())

const listOf = (text: string | null | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function shapeAcl(raw: z.output<typeof acl>): Acl {
  // What is disabled is not in force.
  const shaped = (rules: readonly LxdRule[] | null | undefined): AclRule[] => (rules ?? []).filter(({ state }) => state !== 'disabled').map(shapeRule)
  return { name: raw.name, description: raw.description ?? '', ingress: shaped(raw.ingress), egress: shaped(raw.egress), tags: tagsOf(raw.config) }
}

function shapeRule(raw: LxdRule): AclRule {
  const { protocol } = raw
  return {
    action: raw.action,
    protocol: protocol === 'tcp' || protocol === 'udp' || protocol === 'icmp4' || protocol === 'icmp6' ? protocol : null,
    source: listOf(raw.source),
    destination: listOf(raw.destination),
    destinationPorts: listOf(raw.destination_port),
    description: raw.description ?? '',
  }
}
