import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** The cable between agents and their server: it can be cut, and hang. */
export interface AgentProxy {
  /** What agents take for their server. */
  readonly url: string
  /** All connections end, and none is taken. */
  cut(): void
  /** Connections are taken again, and whatever hung goes on. */
  mend(): void
  /** Nothing arrives any more, on either side, and nothing is told of it. */
  hang(): void
  /** Resolves when the server sends an agent this text: it hangs before the text goes on, or right after it, so that it is done and nobody hears of it. */
  hangAt(text: string, when: 'before' | 'after'): Promise<void>
  close(): Promise<void>
}

/** As long as a text may be that is looked for over the border of two pieces. */
const keptBytes = 4_096

export async function startProxy(serverUrl: string): Promise<AgentProxy> {
  const target = Number(new URL(serverUrl).port)
  const pairs = new Set<{ readonly agent: Socket; readonly server: Socket }>()
  let isCut = false
  let isHanging = false
  let watch: { readonly text: Buffer; readonly when: 'before' | 'after'; readonly seen: () => void } | null = null

  const settle = (): void => {
    for (const { agent, server } of pairs)
      for (const one of [agent, server])
        if (isHanging) one.pause()
        else one.resume()
  }
  const hang = (): void => {
    isHanging = true
    settle()
  }

  const listener = createServer((agent) => {
    if (isCut) return void agent.destroy()
    const server = connect(target, '127.0.0.1')
    const pair = { agent, server }
    pairs.add(pair)
    let kept: Buffer = Buffer.alloc(0)
    /** Held back until the cable is mended. */
    const waiting: [Socket, Buffer][] = []
    const pass = (to: Socket, chunk: Buffer): void => {
      if (isHanging) waiting.push([to, chunk])
      else to.write(chunk)
    }
    agent.on('data', (chunk: Buffer) => pass(server, chunk))
    server.on('data', (chunk: Buffer) => {
      const all = Buffer.concat([kept, chunk])
      kept = all.subarray(Math.max(0, all.length - keptBytes))
      if (watch === null || !all.includes(watch.text)) return pass(agent, chunk)
      const { when, seen } = watch
      watch = null
      if (when === 'after') pass(agent, chunk)
      hang()
      if (when === 'before') waiting.push([agent, chunk])
      seen()
    })
    for (const socket of [agent, server]) {
      socket.on('resume', () => {
        if (!isHanging) for (const [to, chunk] of waiting.splice(0)) to.write(chunk)
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        pairs.delete(pair)
        agent.destroy()
        server.destroy()
      })
    }
    settle()
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  const cut = (): void => {
    isCut = true
    for (const { agent, server } of pairs) for (const one of [agent, server]) one.destroy()
  }
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    cut,
    mend() {
      isCut = false
      isHanging = false
      settle()
    },
    hang,
    hangAt: (text, when) =>
      new Promise((resolve) => {
        watch = { text: Buffer.from(text), when, seen: resolve }
      }),
    async close() {
      cut()
      listener.close()
      await once(listener, 'close')
    },
  }
}
