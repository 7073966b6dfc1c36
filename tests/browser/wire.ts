import { once } from 'node:events'
import { createConnection, createServer, type Server, type Socket } from 'node:net'

/** A line to an engine's Unix socket that a test can cut, mend and hold. */
export interface Wire {
  /** Nobody answers any more, and who was connected is cut off. */
  cut(): Promise<void>
  mend(): Promise<void>
  /** What is sent to the engine stays on the way until it is let go. */
  hold(): void
  letGo(): void
}

/** @param path where the wire answers @param engine the socket that it leads to */
export async function startWire(path: string, engine: string): Promise<Wire> {
  const sockets = new Set<Socket>()
  let held: (() => void)[] | null = null

  const join = (client: Socket): void => {
    const upstream = createConnection(engine)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    upstream.on('data', (chunk) => void client.write(chunk))
    client.on('data', (chunk) => {
      const pass = () => void upstream.write(chunk)
      if (held === null) pass()
      else held.push(pass)
    })
  }

  let server: Server | null = null
  const mend = async (): Promise<void> => {
    if (server !== null) return
    server = createServer(join).listen(path)
    await once(server, 'listening')
  }
  await mend()
  return {
    mend,
    async cut() {
      if (server === null) return
      const closed = once(server, 'close')
      server.close()
      server = null
      for (const socket of sockets) socket.destroy()
      await closed
    },
    hold() {
      held ??= []
    },
    letGo() {
      const passing = held ?? []
      held = null
      for (const pass of passing) pass()
    },
  }
}
