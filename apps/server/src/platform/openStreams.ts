import type { Readable } from 'node:stream'

/** What somebody holds open: a shell, a log that is followed, a file on its way. */
export interface OpenStream {
  /** By which session it was opened, or come back to. */
  readonly session_id: string
  /** @param why its session has ended, or this server is about to */
  end(why: 'session' | 'server'): void
}

export type OpenStreams = ReturnType<typeof createOpenStreams>

/** All that is open at this server. What it leads to (a container, its node) ends it from the other side, by ending what flows. */
export function createOpenStreams() {
  const open = new Set<OpenStream>()
  const endAll = (why: 'session' | 'server', which: (stream: OpenStream) => boolean): void => {
    for (const stream of open) if (which(stream)) stream.end(why)
  }
  return {
    add: (stream: OpenStream): void => void open.add(stream),
    /** Once it has ended. */
    remove: (stream: OpenStream): void => void open.delete(stream),
    /** Bytes on their way: those a server that is about to end lets arrive. */
    addTransfer<T extends Readable>(bytes: T, { session_id }: Pick<OpenStream, 'session_id'>): T {
      const stream: OpenStream = { session_id, end: (why) => void (why === 'session' && bytes.destroy()) }
      open.add(stream)
      bytes.once('close', () => open.delete(stream))
      return bytes
    },
    /** Which have something open. */
    sessions: (): ReadonlySet<string> => new Set([...open].map(({ session_id }) => session_id)),
    /** Ends what a session opened that has ended; told on every server, perhaps twice. */
    sessionEnded: (sessionId: string): void => endAll('session', ({ session_id }) => session_id === sessionId),
    /** Hangs up, so that a stop does not wait for it. */
    drain: (): void => endAll('server', () => true),
  }
}
