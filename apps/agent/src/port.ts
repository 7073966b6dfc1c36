import { constants, type ServerHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import { answerJson, Denied } from './answers.ts'

/** Joins a stream with a port of this node, on its loopback address. */
export function joinPort(stream: ServerHttp2Stream, port: number): void {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Denied(400, 'port: 1 to 65535')
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  let ended = false
  socket.on('error', (error) => {
    if (!stream.headersSent) answerJson(stream, 502, { message: error.message })
  })
  socket.once('connect', () => {
    if (stream.destroyed || stream.closed) return socket.destroy()
    stream.respond({ ':status': 200, 'content-type': 'application/octet-stream' })
    socket.pipe(stream)
    stream.pipe(socket)
  })
  socket.on('end', () => {
    ended = true
  })
  socket.on('close', () => {
    if (!ended && stream.headersSent && !stream.closed) stream.close(constants.NGHTTP2_CONNECT_ERROR)
  })
  stream.on('close', () => socket.destroy())
}
