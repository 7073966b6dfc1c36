import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import { agentPaths, composeLine, type ComposeProject } from '@zhisuan/contract/agent/node'
import { z } from 'zod'
import { Refusal } from '../../../platform/errors.ts'
import { AgentError, type AgentAnswer, type Tunnel } from '../../../platform/tunnel/tunnel.ts'
import type { ReachedEdge } from '../../ecrm/edge/edge.reach.ts'
import type { UsualRefusal } from '../../ecrm/edge/edge.refusals.ts'

/** Of what compose says, for people. */
const outputMax = 8_000
const linesKept = 500
const reasonMax = 1_000
/** What no database stores and no page shows. */
const unprintable = /[^\P{Cc}\t]/gu
/** How long what was asked of a project before may still take. */
const busyMs = 60_000
const againMs = 500

/** What compose of whichever version says where no Docker answers, or no longer; not what a Docker that answers says of a registry. */
const dockerAway =
  /^(?!.*(error response from daemon|get "https?:)).*((couldn't|cannot) connect to (the )?docker daemon|connection (aborted|refused|reset by peer)|docker daemon running|docker\.sock.*(no such file|refused)|UnixHTTPConnectionPool)|^(unexpected )?EOF$/i

interface Ending {
  readonly lines: readonly string[]
  /** Null where it succeeded. */
  readonly error: string | null
}

/**
 * Has compose on a node bring a project to what the order says. Asked again while it runs, it is
 * followed; asked again after it, it changes nothing.
 * @param say is told the end of what compose said, when it has ended
 * @throws Refusal `composeFailed`, `composeMissing`, `operationRunning`, or a usual one; AgentError, also where the tunnel breaks in the middle; EngineError where Docker does not run
 */
export async function runCompose(
  { tunnel, docker, row }: ReachedEdge,
  order: ComposeProject,
  { signal, say, usualRefusal }: { signal: AbortSignal; say: (output: string) => Promise<void>; usualRefusal: UsualRefusal },
): Promise<void> {
  const until = Date.now() + busyMs
  let ending = await ask(tunnel, order, signal)
  while (ending === 'busy') {
    if (Date.now() > until) throw new Refusal('operationRunning')
    await sleep(againMs, undefined, { signal })
    ending = await ask(tunnel, order, signal)
  }
  const { lines, error } = ending
  await say(lines.join('\n').slice(-outputMax))
  if (error === null) return
  if (/neither docker compose nor docker-compose/.test(error)) throw new Refusal('composeMissing', { values: { name: row.name } })
  const reason = saidOf(reasonOf(error, lines)).slice(0, reasonMax)
  // A Docker that is just stopping breaks off what it does with whatever it was about to say.
  const away =
    [...lines, error].some((line) => dockerAway.test(line)) ||
    (await docker.ping({ signal }).then(
      () => false,
      (thrown: unknown) => isEngineError(thrown, 'unreachable'),
    ))
  if (away) throw new EngineError('unreachable', reason)
  // What went wrong may stand before the last line, which only says that something did.
  const usual = [error, ...lines.toReversed()]
    .values()
    .map((line) => usualRefusal(line, row))
    .find((refusal) => refusal !== null)
  throw usual ?? new Refusal('composeFailed', { values: { name: row.name, reason } })
}

/** `busy`: something else is still being done to the project. */
async function ask(tunnel: Tunnel, order: ComposeProject, signal: AbortSignal): Promise<Ending | 'busy'> {
  const answer = await tunnel.request({
    method: 'PUT',
    path: agentPaths.compose,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
    signal,
  })
  try {
    if (answer.status === 200) return await endingOf(answer)
    if (answer.status === 409) return 'busy'
    throw new AgentError(answer.status >= 500 ? 'failed' : 'refused', saidOf((await linesOf(answer)).join('\n')).slice(0, reasonMax), { status: answer.status })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    if (!answer.stream.closed) answer.stream.close()
  }
}

async function endingOf(answer: AgentAnswer): Promise<Ending> {
  const lines: string[] = []
  for (const text of await linesOf(answer)) {
    const line = lineOf(text)
    if (!('ended' in line)) lines.push(line.line.replace(unprintable, ''))
    else return { lines, error: line.ended === 'succeeded' ? null : (line.error ?? '').replace(unprintable, '') }
  }
  throw new AgentError('unanswered', 'the answer of compose broke off')
}

function lineOf(text: string) {
  try {
    return composeLine.parse(JSON.parse(text))
  } catch (error) {
    throw new AgentError('bad_answer', 'not what compose answers', { cause: error })
  }
}

/** The last ones. */
async function linesOf({ stream }: AgentAnswer): Promise<string[]> {
  const lines: string[] = []
  // What breaks the stream is told to who listens to it, and not by readline.
  const broke = new Promise<never>((_, reject) =>
    stream.once('error', (error) =>
      reject(error instanceof AgentError ? error : new AgentError('unanswered', 'the answer of compose broke off', { cause: error })),
    ),
  )
  const reading = (async () => {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line !== '') lines.push(line)
      if (lines.length > linesKept) lines.shift()
    }
  })()
  // Whichever of both comes later is nobody's any more.
  broke.catch(() => undefined)
  reading.catch(() => undefined)
  await Promise.race([reading, broke])
  return lines
}

/** The words of an answer, which Docker and agents wrap: `{"message":"…"}`. */
function saidOf(text: string): string {
  const wrapped = /\{\s*"message"\s*:\s*"(?:[^"\\]|\\.)*"\s*\}/.exec(text)?.[0]
  if (wrapped === undefined) return text
  const { message } = z.object({ message: z.string() }).parse(JSON.parse(wrapped))
  return text.replace(wrapped, () => message)
}

/** The last line often only says that there were errors; what they were stands before it. */
function reasonOf(last: string, lines: readonly string[]): string {
  if (!/^(ERROR: )?Encountered errors while bringing up the project/.test(last)) return last
  return lines.findLast((line) => /error|cannot|failed/i.test(line) && !line.includes('Encountered errors')) ?? last
}
