import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** As much of RFC 5321 as it takes to be handed a message. */
export async function startMailServer(): Promise<{ url: string; messages: { from: string; to: string; data: string }[]; stop: () => void }> {
  const messages: { from: string; to: string; data: string }[] = []
  const talk = (socket: Socket) => {
    let [buffer, from, to, inData] = ['', '', '', false]
    socket.write('220 test\r\n')
    socket.on('data', (chunk) => {
      buffer += chunk.toString()
      for (;;) {
        const separator = inData ? '\r\n.\r\n' : '\r\n'
        const at = buffer.indexOf(separator)
        if (at < 0) return
        const line = buffer.slice(0, at)
        buffer = buffer.slice(at + separator.length)
        if (inData) {
          messages.push({ from, to, data: line })
          inData = false
          socket.write('250 taken\r\n')
        } else if (/^(EHLO|HELO)/i.test(line)) socket.write('250 test\r\n')
        else if (/^MAIL FROM/i.test(line)) {
          from = line
          socket.write('250 ok\r\n')
        } else if (/^RCPT TO/i.test(line)) {
          to = line
          socket.write('250 ok\r\n')
        } else if (/^DATA/i.test(line)) {
          inData = true
          socket.write('354 go on\r\n')
        } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else socket.write('250 ok\r\n')
      }
    })
    socket.on('error', () => undefined)
  }
  const server = createServer(talk)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}?ignoreTLS=true`, messages, stop: () => void server.close() }
}
