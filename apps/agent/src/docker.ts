import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { constants, type Http2ServerRequest, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import { answerJson } from './answers.ts'

/** Of one connection only, and unknown to HTTP/2 (RFC 9113, 8.2.2). */
const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings', 'host', 'te', 'trailer'])
const endToEnd = (headers: Readonly<Record<string, string | string[] | undefined>>): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':') && !hopByHop.has(name)))

const nothing = (): void => undefined

/** Passes a request on to Docker as it is, and its answer back; whoever lets go of one end lets go of the other. */
export function proxyToDocker(socketPath: string, request: Http2ServerRequest, path: string): void {
  const { stream } = request
  // A connection each: that costs nothing here, and none is found closed.
  const upstream = httpRequest({ socketPath, agent: false, method: request.method, path, headers: { ...endToEnd(request.headers), host: 'docker' } })
  upstream.on('error', (error) => answerJson(stream, 502, { message: `docker: ${error.message}` }))
  upstream.on('response', (answer) => {
    if (stream.destroyed || stream.closed) return upstream.destroy()
    stream.respond({ ':status': answer.statusCode ?? 502, ...endToEnd(answer.headers) })
    pipeline(answer, stream, (error) => {
      if (error !== undefined && !stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    })
  })
  // What Docker does not read any more is read away: the server waits for nothing.
  upstream.on('close', () => stream.unpipe(upstream).resume())
  stream.on('close', () => upstream.destroy())
  if (stream.endAfterHeaders) upstream.end()
  else stream.pipe(upstream)
}

/** Starts an exec, and joins its streams with the server's. */
export function attachExec(socketPath: string, stream: ServerHttp2Stream, execId: string, tty: boolean): void {
  const body = JSON.stringify({ Detach: false, Tty: tty })
  const upstream = httpRequest({
    socketPath,
    agent: false,
    method: 'POST',
    path: `/exec/${encodeURIComponent(execId)}/start`,
    headers: { host: 'docker', 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), connection: 'Upgrade', upgrade: 'tcp' },
  })
  upstream.on('error', (error) => answerJson(stream, 502, { message: `docker: ${error.message}` }))
  upstream.on('response', (answer) => {
    if (stream.destroyed || stream.closed) return upstream.destroy()
    stream.respond({ ':status': answer.statusCode ?? 502, ...endToEnd(answer.headers) })
    pipeline(answer, stream, nothing)
  })
  upstream.on('upgrade', (_answer, socket, head) => {
    socket.on('error', nothing)
    if (stream.destroyed || stream.closed) return socket.destroy()
    stream.respond({ ':status': 200, 'content-type': 'application/vnd.docker.raw-stream' })
    if (head.length > 0) stream.write(head)
    socket.pipe(stream)
    stream.pipe(socket)
    let ended = false
    socket.on('end', () => {
      ended = true
    })
    socket.on('close', () => {
      // Broken off, such as by a Docker that stops.
      if (!ended && !stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    })
    stream.on('close', () => {
      socket.destroy()
      if (tty && !ended) void hangUp(socketPath, execId).catch(nothing)
    })
  })
  stream.on('close', () => upstream.destroy())
  upstream.end(body)
}

const exec = z.object({ Running: z.boolean(), Pid: z.number(), ContainerID: z.string() })

/** Docker leaves the shell of a terminal that is gone running: it is told as by a terminal. */
async function hangUp(socketPath: string, execId: string): Promise<void> {
  const { Running, Pid, ContainerID } = await askDocker(socketPath, `/exec/${encodeURIComponent(execId)}/json`, exec)
  // The number could be another's by now: only one of that container is meant.
  if (Running && Pid > 1 && readFileSync(`/proc/${Pid}/cgroup`, 'utf8').includes(ContainerID)) process.kill(Pid, 'SIGHUP')
}

/** What Docker says of itself. @throws where it does not answer */
export async function askDocker<T extends z.ZodType>(socketPath: string, path: string, schema: T): Promise<z.output<T>> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ socketPath, agent: false, path, headers: { host: 'docker' }, signal: AbortSignal.timeout(10_000) })
      .on('response', resolve)
      .on('error', reject)
      .end()
  })
  const text = (await buffer(answer)).toString('utf8')
  if (answer.statusCode !== 200) throw new Error(`docker: ${path}: HTTP ${answer.statusCode}`)
  return schema.parse(JSON.parse(text))
}
