import { createHmac } from 'node:crypto'
import type { ReceiverKind, Severity } from '@zhisuan/contract/omc/alarm'
import type { ApiEvent } from '@zhisuan/contract/omc/log'
import { fillText } from '@zhisuan/contract/errors'
import { request, type Agent } from 'undici'
import { z } from 'zod'
import { isRefusalOf } from './refused.ts'
import { alarmTexts as texts } from './alarm.texts.ts'

/** What is told of one episode, or event. */
export interface Told {
  readonly id: string
  readonly what: 'firing' | 'resolved' | 'escalated' | 'event' | 'test'
  readonly severity: Severity
  readonly summary: string
  /** All of an event, for programs. */
  readonly event?: ApiEvent
}

/** Where a receiver is: what is sealed in its row. */
export const receiverPlace = z.union([
  z.object({ kind: z.literal('mail'), addresses: z.array(z.string()) }),
  z.object({ kind: z.enum(['webhook', 'wecom', 'dingtalk', 'feishu']), url: z.string(), secret: z.string().nullable() }),
])
export type ReceiverPlace = z.output<typeof receiverPlace>

/**
 * How long a message may be, in bytes, and how soon another may come: robots of 企业微信, 钉钉 and 飞书 take 20, 20 and 100
 * messages a minute, and are shut for a while by who sends more.
 */
export const limits: Readonly<Record<ReceiverKind, { readonly bytes: number; readonly everyMs: number }>> = {
  mail: { bytes: 200_000, everyMs: 5_000 },
  webhook: { bytes: 200_000, everyMs: 0 },
  wecom: { bytes: 3_800, everyMs: 3_500 },
  dingtalk: { bytes: 18_000, everyMs: 3_500 },
  feishu: { bytes: 18_000, everyMs: 1_000 },
}

/** Why it was not taken, in words for people. */
export class NotTaken extends Error {}

const lineOf = ({ severity, what, summary }: Told): string =>
  what === 'test' ? summary : fillText(texts.line, { severity: texts.severity[severity], what: texts.what[what], summary })

/**
 * One message of all that is due: critical first, as they come. What does not fit is not lost: its number is named, and
 * lines of the rest are made short before any is left out.
 */
export function digestOf(told: readonly Told[], bytes: number, base: string): string {
  const [first] = told
  if (told.length === 1 && first !== undefined) return cutTo(lineOf(first), bytes)
  const head = `${fillText(texts.digest, { count: told.length })}\n`
  for (const length of [500, 120, 40]) {
    const text = head + told.map((one) => cutTo(lineOf(one), length * 3)).join('\n')
    if (Buffer.byteLength(text) <= bytes) return text
  }
  const lines: string[] = []
  let used = Buffer.byteLength(head) + 300
  for (const one of told) {
    const line = cutTo(lineOf(one), 48)
    used += Buffer.byteLength(line) + 1
    if (used > bytes) break
    lines.push(line)
  }
  return `${head}${lines.join('\n')}\n${fillText(texts.cut, { count: told.length - lines.length })}${base}`
}

/** So many bytes of it at most, whole characters. */
function cutTo(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  let kept = ''
  let used = 3
  for (const character of text) {
    used += Buffer.byteLength(character)
    if (used > bytes) break
    kept += character
  }
  return `${kept}…`
}

export interface Channels {
  readonly agent: Agent
  /** Refuses addresses that are ours. */
  readonly check: (url: URL) => void
  readonly mail: (address: string, text: string) => Promise<void> | null
  readonly base: string
  readonly now: () => Date
}

const timeoutMs = 10_000
const answerMostBytes = 65_536

/** Sends one message of all of it. @throws NotTaken where it was not taken */
export async function send(place: ReceiverPlace, told: readonly Told[], { agent, check, mail, base, now }: Channels): Promise<void> {
  const text = digestOf(told, limits[place.kind].bytes, base)
  if (place.kind === 'mail') {
    // One mail to all of them: what is tried again is tried with all.
    const sent = mail(place.addresses.join(', '), text)
    if (sent === null) throw new NotTaken(texts.noMail)
    await sent.catch((error: unknown) => {
      throw new NotTaken(texts.unanswered, { cause: error })
    })
    return
  }
  const { kind, secret } = place
  const url = new URL(place.url)
  const at = now()
  const seconds = String(Math.floor(at.getTime() / 1_000))
  let body: string
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (kind === 'webhook') {
    body = JSON.stringify({ version: '1', at: at.toISOString(), text, alerts: told.map((one) => ({ ...one })) })
    headers['x-zhisuan-timestamp'] = seconds
    if (secret !== null) headers['x-zhisuan-signature'] = `sha256=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
  } else if (kind === 'wecom') body = JSON.stringify({ msgtype: 'text', text: { content: text } })
  else if (kind === 'dingtalk') {
    const stamp = String(at.getTime())
    if (secret !== null) {
      url.searchParams.set('timestamp', stamp)
      url.searchParams.set('sign', createHmac('sha256', secret).update(`${stamp}\n${secret}`).digest('base64'))
    }
    body = JSON.stringify({ msgtype: 'text', text: { content: text } })
  } else {
    const signed = secret === null ? {} : { timestamp: seconds, sign: createHmac('sha256', `${seconds}\n${secret}`).update('').digest('base64') }
    body = JSON.stringify({ ...signed, msg_type: 'text', content: { text } })
  }
  const answer = await posted(url, { body, headers, agent, check })
  if (answer.status < 200 || answer.status > 299) throw new NotTaken(fillText(texts.refused, { answer: `HTTP ${answer.status}` }))
  const problem = kind === 'webhook' ? null : robotProblem(answer.text)
  if (problem !== null) throw new NotTaken(fillText(texts.refused, { answer: problem }))
}

async function posted(
  url: URL,
  { body, headers, agent, check }: { body: string; headers: Record<string, string> } & Pick<Channels, 'agent' | 'check'>,
): Promise<{ status: number; text: string }> {
  try {
    check(url)
    const { statusCode, body: answer } = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers,
      body,
      signal: AbortSignal.timeout(timeoutMs),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    let text = ''
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      text += chunk.toString('utf8')
      if (text.length > answerMostBytes) break
    }
    return { status: statusCode, text }
  } catch (error) {
    throw new NotTaken(isRefusalOf(error, 'imageAddressForbidden') ? texts.forbidden : texts.unanswered, { cause: error })
  }
}

/** Robots answer 200 whatever became of it; 企业微信 and 钉钉 say `errcode`, 飞书 `code`. */
function robotProblem(text: string): string | null {
  const said = z.object({ errcode: z.number().optional(), errmsg: z.string().optional(), code: z.number().optional(), msg: z.string().optional() })
  let parsed: z.output<typeof said>
  try {
    parsed = said.parse(JSON.parse(text))
  } catch {
    return text.slice(0, 200)
  }
  const code = parsed.errcode ?? parsed.code ?? 0
  return code === 0 ? null : `${code} ${parsed.errmsg ?? parsed.msg ?? ''}`.trim().slice(0, 200)
}
