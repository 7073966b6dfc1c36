import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { createWebSocketStream, type WebSocket } from 'ws'

/**
 * A socket whose other end is a WebSocket: what is written comes out there as binary messages, and
 * the other way round; when one ends, so does the other.
 *
 * HTTP/2 needs a real one. On a stream of JavaScript, Node's HTTP/2 ends the process where a
 * session is destroyed while something is being written (an assertion in JSStreamSocket.doWrite,
 * Node 24), which whoever is on the other side could bring about.
 *
 * @param early what the WebSocket has brought already
 */
export async function carriedBy(webSocket: WebSocket, early: readonly Buffer[] = []): Promise<Socket> {
  const stream = createWebSocketStream(webSocket, { allowHalfOpen: false })
  for (const part of early) stream.push(part)
  const [near, far] = await pair()
  const end = () => {
    stream.destroy()
    far.destroy()
    near.destroy()
    webSocket.terminate()
  }
  for (const one of [stream, near, far]) one.on('error', () => undefined)
  // What was sent before a close is still read.
  stream.on('end', () => far.end())
  stream.on('close', () => far.destroySoon())
  far.on('close', end)
  near.on('close', end)
  stream.pipe(far, { end: false })
  far.pipe(stream)
  return near
}

/** Whoever has called, by what they say first: many call at once. */
const calls = new Map<string, (far: Socket) => void>()
const callBytes = 16
/** So many at once: the kernel has little room for those that were not taken yet (net.core.somaxconn), and refuses others. */
let room = 64
const waiting: (() => void)[] = []
let listener: Promise<string> | null = null

/** Two sockets of this process that lead to each other. */
async function pair(): Promise<[Socket, Socket]> {
  const path = await (listener ??= listening())
  if (room === 0) await new Promise<void>((resolve) => waiting.push(resolve))
  else room--
  const call = randomBytes(callBytes)
  const far = new Promise<Socket>((resolve) => calls.set(call.toString('hex'), resolve))
  const near = connect(path)
  try {
    near.write(call)
    const answered = await Promise.race([far, once(near, 'close').then(() => null)])
    if (answered === null) throw near.errored ?? new Error('the socket closed')
    return [near, answered]
  } finally {
    calls.delete(call.toString('hex'))
    const next = waiting.shift()
    if (next === undefined) room++
    else next()
  }
}

async function listening(): Promise<string> {
  // Short: the whole path has 107 bytes at most.
  const path = join(tmpdir(), `zhisuan-${randomBytes(8).toString('hex')}.sock`)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    const look = (): void => {
      const call = socket.read(callBytes) as Buffer | null
      if (call === null) return
      socket.off('readable', look)
      const caller = calls.get(call.toString('hex'))
      if (call.length < callBytes || caller === undefined) socket.destroy()
      else caller(socket)
    }
    socket.on('readable', look)
  })
  server.listen({ path, readableAll: false, writableAll: false })
  await once(server, 'listening')
  server.unref()
  process.once('exit', () => rmSync(path, { force: true }))
  return path
}
