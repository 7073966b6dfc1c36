import { fillText } from '@zhisuan/contract/errors'
import { fetchTexts } from '@zhisuan/contract/texts'
import { Agent, request, type Dispatcher } from 'undici'
import type { OutboundGuard } from './guard.ts'
import { Refusal } from '../errors.ts'

const mostRedirects = 5
const connectMs = 10_000
const answerMs = 30_000
/** Silence after which a connection is taken for dead. */
const silenceMs = 60_000

/** Connections to nowhere but where the guard lets them go. The caller destroys it. */
export const createOutboundAgent = (guard: OutboundGuard): Agent =>
  new Agent({ connect: { lookup: guard.lookup, timeout: connectMs }, headersTimeout: answerMs, bodyTimeout: silenceMs, connections: 1, pipelining: 0 })

interface Following {
  readonly guard: OutboundGuard
  readonly agent: Agent
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Asks, and goes where it is sent: each place is looked at anew. The caller reads the body or destroys it.
 * @returns the answer, and where it came from at last
 * @throws Refusal 94164, 94165; whatever else as it is, see {@link fetchRefusal}
 */
export async function follow(from: string, { guard, agent, signal, headers }: Following): Promise<{ answer: Dispatcher.ResponseData; url: URL }> {
  let url = new URL(from)
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Refusal('imageAddressForbidden', { field: 'url' })
    guard.checkLiteral(url)
    const answer = await request(url, { dispatcher: agent, signal, headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': 'zhisuan' } })
    const { location } = answer.headers
    if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string') return { answer, url }
    letGo(answer)
    if (!URL.canParse(location, url.href)) throw fetchFailed('unreachable')
    url = new URL(location, url)
  }
  throw fetchFailed('redirects')
}

/** Nobody reads the rest. */
const letGo = ({ body }: Dispatcher.ResponseData): void => {
  body.on('error', () => undefined).destroy()
}

/**
 * Where a file is that is to be fetched by somebody else, such as a cloud, who would go wherever they are sent: the last
 * address of all redirects, which are followed here.
 * @throws Refusal 94164, 94165
 */
export async function finalAddress(from: string, guard: OutboundGuard): Promise<string> {
  const agent = createOutboundAgent(guard)
  try {
    // Not HEAD: an address that is signed for reading answers nothing else.
    const { answer, url } = await follow(from, { guard, agent, signal: AbortSignal.timeout(answerMs) })
    letGo(answer)
    if (answer.statusCode !== 200) throw fetchFailed('status', { status: answer.statusCode })
    return url.href
  } catch (error) {
    throw fetchRefusal(error) ?? fetchFailed(fetchReason(error), {}, error)
  } finally {
    await agent.destroy()
  }
}

export const fetchFailed = (reason: keyof typeof fetchTexts, values: Record<string, number> = {}, cause?: unknown): Refusal =>
  new Refusal('imageFetchFailed', { field: 'url', values: { reason: fillText(fetchTexts[reason], values) }, ...(cause !== undefined && { cause }) })

/** The refusal among what a request failed with; null where there is none. */
export function fetchRefusal(error: unknown): Refusal | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof Refusal) return cause
  return null
}

/** What whoever asked for it is told of a request that failed. */
export function fetchReason(error: unknown): keyof typeof fetchTexts {
  const { code, name } = error as NodeJS.ErrnoException
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'nameUnknown'
  if (name === 'TimeoutError' || (typeof code === 'string' && /TIMEOUT|ETIMEDOUT/.test(code))) return 'silent'
  return 'unreachable'
}
