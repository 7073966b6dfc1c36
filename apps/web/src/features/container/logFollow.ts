import type { containers } from '@zhisuan/contract/cis/container'
import type { ResponseOf } from '@zhisuan/contract/define'
import { z } from 'zod'

export type LogLine = ResponseOf<typeof containers.logs>['items'][number]

/** What is sent to whoever follows: lines as they come, at the end that there are no more. */
const logMessage = z.union([
  z.object({ items: z.array(z.object({ at: z.string().nullable(), stream: z.enum(['stdout', 'stderr']), text: z.string() })) }),
  z.object({ ended: z.literal(true) }),
])

/** `following`: lines come as they are printed. `waiting`: dialled again soon. `ended`: nothing more will come. */
export type FollowState = 'connecting' | 'following' | 'waiting' | 'ended' | 'refused'

/** What a browser scrolls through easily; the whole is in the download. */
export const linesKept = 5_000
/** Asked for from before, each time it is dialled. */
const tailLines = 1_000

const firstPauseMs = 1_000
const longestPauseMs = 15_000

/** A socket as far as it is listened to. */
export interface LogSocket {
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code: number }) => void) | null
  readonly close: () => void
}

export interface FollowLog {
  /** A link to follow by: each is good for a few minutes, so that every dial asks for its own. */
  readonly link: (signal: AbortSignal) => Promise<string>
  readonly dial: (path: string) => LogSocket
  /** Ends it. */
  readonly signal: AbortSignal
  /** Lines come from the beginning again: what was shown before is among them. */
  readonly onStart: () => void
  readonly onLines: (lines: readonly LogLine[]) => void
  /** @param error what asking for a link failed with */
  readonly onState: (state: FollowState, error: unknown) => void
  /** Whether asking again makes sense after this. */
  readonly temporary: (error: unknown) => boolean
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Follows the log of a container over broken connections, until it ends or the signal says so. */
export async function followLog({ link, dial, signal, onStart, onLines, onState, temporary, pause }: FollowLog): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    onState('connecting', null)
    let failed: unknown = null
    try {
      const path = await link(signal)
      if (signal.aborted) return
      let first = true
      const end = await listen(dial(withTail(path)), signal, {
        onOpen: () => onState('following', null),
        onLines: (lines) => {
          // Where a node is away, the socket opens and closes at once: what is shown stays until lines come.
          if (first) onStart()
          first = false
          failures = 0
          onLines(lines)
        },
      })
      if (signal.aborted) return
      // 1008: the session is over, or the container gone. Whoever asks for more than this says so.
      if (end === 'ended' || end === 1008) return onState('ended', null)
    } catch (error) {
      if (signal.aborted) return
      if (!temporary(error)) return onState('refused', error)
      failed = error
    }
    onState('waiting', failed)
    await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** failures++), signal)
  }
}

const withTail = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}tail=${tailLines}`

/** Resolves with why it closed, or that the log ended. */
function listen(
  socket: LogSocket,
  signal: AbortSignal,
  { onOpen, onLines }: { onOpen: () => void; onLines: (lines: readonly LogLine[]) => void },
): Promise<'ended' | number> {
  return new Promise((resolve) => {
    let ended = false
    const stop = (): void => {
      socket.onopen = null
      socket.onmessage = null
      socket.onclose = null
      socket.close()
      resolve(1000)
    }
    signal.addEventListener('abort', stop, { once: true })
    socket.onopen = onOpen
    socket.onmessage = ({ data }) => {
      const message = logMessage.safeParse(parsed(data))
      if (!message.success) return
      if ('ended' in message.data) ended = true
      else onLines(message.data.items)
    }
    socket.onclose = ({ code }) => {
      signal.removeEventListener('abort', stop)
      resolve(ended ? 'ended' : code)
    }
  })
}

function parsed(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : null
  } catch {
    return null
  }
}
