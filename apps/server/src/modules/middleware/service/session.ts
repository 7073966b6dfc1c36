import type { Duplex } from 'node:stream'
import type { ServiceAccount, ServiceDatabase, ServiceFigures } from '@zhisuan/contract/middleware/service'

/** The way to a program, made anew for each connection: a stream through the tunnel of its node. */
export type Dial = () => Promise<Duplex>

/** With whom a session is opened; what takes longer than its signal is given up. */
export interface SessionParts {
  readonly dial: Dial
  readonly password: string
  readonly signal: AbortSignal
}

/**
 * One signed-in connection to a program, as its administrator. What goes wrong is an `EngineError`: `unauthorized` where the
 * password is another, `unreachable` where nobody answers, `conflict` and `not_found` of names, `failed` in its own words.
 */
export interface Session {
  figures(): Promise<ServiceFigures>
  /** From then on the one before is refused; what is connected stays connected. */
  setPassword(password: string): Promise<void>
  databases(): Promise<ServiceDatabase[]>
  createDatabase(name: string): Promise<void>
  dropDatabase(name: string): Promise<void>
  accounts(): Promise<ServiceAccount[]>
  createAccount(account: { readonly name: string; readonly password: string; readonly databases: readonly string[] }): Promise<void>
  dropAccount(name: string): Promise<void>
  close(): void
}

/** What libraries take for a socket that is yet to connect; it is connected. */
export function asSocket(stream: Duplex) {
  const socket = Object.assign(stream, {
    connect: () => {
      process.nextTick(() => socket.emit('connect'))
      return socket
    },
    setNoDelay: () => socket,
    setKeepAlive: () => socket,
    setTimeout: () => socket,
    ref: () => socket,
    unref: () => socket,
  })
  return socket
}
