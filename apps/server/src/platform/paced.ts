import type { WebSocket } from 'ws'

/** Above this much unsent, whoever sends waits. */
const unsentBytes = 1024 * 1024

/**
 * Sends, and waits while the other side takes it more slowly than it comes, so that what it comes from waits too.
 * @param isWanted false: nobody waits for this socket any more
 */
export async function sendPaced(socket: WebSocket, data: Buffer | string, isWanted: () => boolean = () => true): Promise<void> {
  socket.send(data)
  while (isWanted() && socket.readyState === socket.OPEN && socket.bufferedAmount > unsentBytes) await new Promise((resolve) => setTimeout(resolve, 5))
}
