import type { Readable } from 'node:stream'
import { createHeld } from './held.ts'

/** What somebody holds open: a shell, a log that is followed, a file on its way. */
export interface OpenStream {
  /** By which session it was opened, or come back to. */
  readonly session_id: string
  /** Whose it is. */
  readonly user_id: string
  /** @param why its session has ended, or this server is about to */
  end(why: 'session' | 'server'): void
}

export type OpenStreams = ReturnType<typeof createOpenStreams>

/** All that is open at this server. What it leads to (a container, its node) ends it from the other side, by ending what flows. */
export function createOpenStreams() {
  /** Each with what gives its place free. */
  const open = new Map<OpenStream, () => void>()
  const waits = new Set<Pick<OpenStream, 'session_id' | 'end'>>()
  const held = createHeld('streams')
  const endAll = (why: 'session' | 'server', which: (stream: Pick<OpenStream, 'session_id'>) => boolean): void => {
    for (const stream of open.keys()) if (which(stream)) stream.end(why)
    for (const wait of waits) if (which(wait)) wait.end(why)
  }
  /** @throws Refusal 90024 where its person has too many */
  const add = (stream: OpenStream): void => void open.set(stream, held.take(stream.user_id))
  const remove = (stream: OpenStream): void => {
    open.get(stream)?.()
    open.delete(stream)
  }
  return {
    /**
     * An answer that is waited for: it ends with the session that asked, and takes nobody's place.
     * @returns once it is answered
     */
    addWait(wait: Pick<OpenStream, 'session_id' | 'end'>): () => void {
      waits.add(wait)
      return () => void waits.delete(wait)
    },
    /** Before something is opened that cannot be refused any more. @throws Refusal 90024 */
    refuseMore: held.refuse,
    add,
    /** Once it has ended. */
    remove,
    /** Bytes on their way: those a server that is about to end lets arrive. @throws Refusal 90024 */
    addTransfer<T extends Readable>(bytes: T, { session_id, user_id }: Pick<OpenStream, 'session_id' | 'user_id'>): T {
      const stream: OpenStream = { session_id, user_id, end: (why) => void (why === 'session' && bytes.destroy()) }
      try {
        add(stream)
      } catch (error) {
        bytes.destroy()
        throw error
      }
      bytes.once('close', () => remove(stream))
      return bytes
    },
    /** Which have something open. */
    sessions: (): ReadonlySet<string> => new Set([...open.keys(), ...waits].map(({ session_id }) => session_id)),
    /** Ends what a session opened that has ended; told on every server, perhaps twice. */
    sessionEnded: (sessionId: string): void => endAll('session', ({ session_id }) => session_id === sessionId),
    /** Hangs up, so that a stop does not wait for it. */
    drain: (): void => endAll('server', () => true),
  }
}
