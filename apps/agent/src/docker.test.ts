import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer as createDocker, type RequestListener, type Server } from 'node:http'
import { connect, createServer, type ClientHttp2Session, type Http2Server } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { attachExec, proxyToDocker } from './docker.ts'

let folder: string
let docker: Server
let server: Http2Server
let session: ClientHttp2Session
let answer: RequestListener

const ask = (path: string, headers: Record<string, string> = {}, open = false) => {
  const stream = session.request({ ':path': path, ...headers }, { endStream: !open })
  stream.on('error', () => undefined)
  const head = once(stream, 'response').then(([one]) => one as Record<string, string | number>)
  head.catch(() => undefined)
  return { stream, head }
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-proxy-'))
  const socketPath = join(folder, 'docker.sock')
  docker = createDocker((request, response) => answer(request, response))
  // An exec that says back what it hears, and goodbye at the end.
  docker.on('upgrade', (request, socket: Socket) => {
    socket.on('error', () => undefined)
    if (request.url !== '/exec/one/start')
      return void socket.end('HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 26\r\n\r\n{"message":"No such exec"}')
    socket.write('HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\nhello ')
    socket.pipe(socket, { end: false })
    socket.on('end', () => socket.end(' goodbye'))
  })
  docker.listen(socketPath)
  await once(docker, 'listening')
  server = createServer((request, response) => {
    for (const one of [request, response, request.stream]) one.on('error', () => undefined)
    if (request.url.startsWith('/exec/')) attachExec(socketPath, request.stream, request.url.slice('/exec/'.length), false)
    else proxyToDocker(socketPath, request, request.url)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterEach(() => {
  session.destroy()
  server.close()
  docker.closeAllConnections()
  docker.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('what goes through to Docker', () => {
  it('is the request as it was, and the answer as it is', async () => {
    answer = (request, response) => {
      response.writeHead(201, {
        'x-docker-said': `${request.method} ${request.url} ${request.headers['x-registry-auth']}`,
        'transfer-encoding': 'chunked',
        connection: 'keep-alive',
      })
      request.pipe(response)
    }
    const { stream, head } = ask('/v1.41/images/create?fromImage=a%2Fb', { ':method': 'POST', 'x-registry-auth': 'secret' }, true)
    const sent = Buffer.alloc(5 * 2 ** 20, '智')
    stream.end(sent)
    expect(await head).toMatchObject({ ':status': 201, 'x-docker-said': 'POST /v1.41/images/create?fromImage=a%2Fb secret' })
    expect((await buffer(stream)).equals(sent)).toBe(true)
  })

  it('is an answer without a body, too', async () => {
    answer = (request, response) => void response.writeHead(request.method === 'HEAD' ? 200 : 304, { 'x-docker-container-path-stat': 'e30=' }).end()
    const asked = ask('/containers/a/archive?path=/', { ':method': 'HEAD' })
    expect(await asked.head).toMatchObject({ ':status': 200, 'x-docker-container-path-stat': 'e30=' })
    const started = ask('/containers/a/start', { ':method': 'POST' })
    expect((await started.head)[':status']).toBe(304)
    expect(await text(started.stream)).toBe('')
  })

  it('is let go of by Docker where the server lets go', async () => {
    let closed = false
    answer = (_, response) => {
      response.writeHead(200).write('first')
      response.on('close', () => (closed = true))
    }
    const { stream } = ask('/events')
    await once(stream, 'data')
    stream.close()
    await vi.waitFor(() => expect(closed).toBe(true))
  })

  it('breaks off for the server where Docker breaks off: half an answer is not a whole one', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setImmediate(() => response.destroy())
    }
    const { stream, head } = ask('/containers/a/logs')
    await head
    await expect(buffer(stream)).rejects.toThrow()
  })

  it('is refused as a gateway does where no Docker is there', async () => {
    docker.close()
    rmSync(join(folder, 'docker.sock'), { force: true })
    const { stream, head } = ask('/info')
    expect((await head)[':status']).toBe(502)
    expect(JSON.parse(await text(stream))).toEqual({ message: expect.stringContaining('ENOENT') as string })
  })

  it('is an upload that Docker does not want to hear to its end', async () => {
    answer = (_, response) => void response.writeHead(404, { connection: 'close' }).end('{"message":"No such container"}')
    const { stream, head } = ask('/containers/none/archive?path=/', { ':method': 'PUT' }, true)
    const pour = () => {
      while (!stream.destroyed && stream.writable && stream.write(Buffer.alloc(65_536)));
      stream.once('drain', pour)
    }
    pour()
    expect((await head)[':status']).toBe(404)
    stream.close()
  })
})

describe('an exec', () => {
  it('is joined both ways, to the end of each', async () => {
    const { stream, head } = ask('/exec/one', { ':method': 'POST' }, true)
    expect((await head)[':status']).toBe(200)
    stream.write('ping')
    stream.end()
    expect(await text(stream)).toBe('hello ping goodbye')
  })
  it('that is not there is told in Docker’s words', async () => {
    const { stream, head } = ask('/exec/none', { ':method': 'POST' }, true)
    expect((await head)[':status']).toBe(404)
    expect(await text(stream)).toContain('No such exec')
  })
})
