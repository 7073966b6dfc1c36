import type { WebSocket } from 'ws'

/** Silence on a websocket after which it is taken for dead is one to two of these. */
const pingEveryMs = 15_000

/**
 * A cut cable closes no connection: only silence shows.
 * @returns ends it
 */
export function keepAlive(socket: WebSocket): () => void {
  let alive = true
  const heard = () => {
    alive = true
  }
  socket.on('message', heard)
  socket.on('pong', heard)
  const timer = setInterval(() => {
    // One that we do not read from cannot answer.
    if (!alive && !socket.isPaused) return socket.terminate()
    alive = false
    if (socket.readyState === socket.OPEN) socket.ping()
  }, pingEveryMs).unref()
  return () => clearInterval(timer)
}
