import { lookup as resolve } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { Refusal } from '../errors.ts'
import { hostOf, isPublic } from './addresses.ts'
import type { OutboundGuard } from './guard.ts'

const connectMs = 5_000
const answerMs = 10_000
/** Discovery documents and key sets are a few thousand bytes. */
const answerMaxBytes = 1024 * 1024

/** We would not ask there. */
export class AddressForbidden extends Error {}
/** Nobody answered as a provider does: not at all, too slowly, or without end. */
export class ProviderUnreachable extends Error {}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/** Whether a provider may be at this address at all. Plain HTTP is for one on this machine, in development. */
export function isProviderAddress(url: URL, development: boolean): boolean {
  return (url.protocol === 'https:' || (development && url.protocol === 'http:' && isLoopback(hostOf(url)))) && url.username === '' && url.password === ''
}

interface Asked {
  readonly method?: string | undefined
  readonly headers?: Record<string, string> | undefined
  readonly body?: unknown
}

/**
 * Asks a provider, and whom its documents name. What an administrator typed may be in the own
 * network, such as a company's directory; where its answers lead must be the same host, or public.
 * What an organisation typed (there is a guard) is asked where the guard lets it, and a name that leads elsewhere
 * is as good as one that leads nowhere, so that nobody learns which names the own network has.
 * Redirections are followed nowhere.
 */
export function createProviderFetch(issuer: URL, development: boolean, guard?: OutboundGuard): (address: string, asked: Asked) => Promise<Response> {
  const typed = hostOf(issuer)
  const trusting: LookupFunction = (host, wish, done) => {
    resolve(host, { all: true }).then(
      (found) => {
        const [first] = found
        if (first === undefined || (host.toLowerCase() !== typed && !found.every(({ address }) => isPublic(address))))
          return done(new AddressForbidden(host), '')
        if (wish.all === true) return done(null, found)
        return done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, ''),
    )
  }

  const mayBeLiteral = (url: URL, host: string): boolean => {
    if (guard === undefined) return isIP(host) === 0 || host === typed || isPublic(host)
    try {
      guard.checkLiteral(url)
      return true
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }
  const lookup = guard?.lookup ?? trusting

  return async (address, asked) => {
    const url = new URL(address)
    const host = hostOf(url)
    if (!isProviderAddress(url, development) || !mayBeLiteral(url, host)) throw new AddressForbidden(host)
    const agent = new Agent({ connect: { lookup, timeout: connectMs }, headersTimeout: answerMs, bodyTimeout: answerMs, connections: 1, pipelining: 0 })
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: agent,
        // The library sends no other methods.
        method: asked.method === 'POST' ? 'POST' : 'GET',
        headers: asked.headers ?? {},
        body: asked.body == null ? null : String(asked.body as URLSearchParams | string),
        signal: AbortSignal.timeout(answerMs),
      })
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > answerMaxBytes) throw new ProviderUnreachable('the answer is too long')
        chunks.push(chunk)
      }
      const kept = new Headers()
      for (const [name, value] of Object.entries(headers))
        for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) kept.append(name, one)
      const empty = statusCode === 204 || statusCode === 205 || statusCode === 304
      return new Response(empty ? null : Buffer.concat(chunks), { status: statusCode, headers: kept })
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof AddressForbidden ? error.cause : error
      if (cause instanceof AddressForbidden || cause instanceof ProviderUnreachable) throw cause
      throw new ProviderUnreachable(error instanceof Error ? error.message : String(error), { cause: error })
    } finally {
      await agent.destroy()
    }
  }
}
