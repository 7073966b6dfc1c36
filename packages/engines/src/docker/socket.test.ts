import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createDocker } from './engine.ts'
import { socketTransport } from './socket.ts'

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'docker-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}
async function engine(answer: RequestListener) {
  const path = join(folder(), 'docker.sock')
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return socketTransport(path)
}

it('where nobody is, nothing was done', async () => {
  await expect(socketTransport(join(folder(), 'none.sock')).request({ method: 'POST', path: '/' })).rejects.toMatchObject({ kind: 'unreachable' })
})

it('what became of a change that was sent and not answered is not known; of what changes nothing nobody asks', async () => {
  const cut = await engine((request) => request.socket.destroy())
  const silent = await engine(() => undefined)
  for (const [transport, ask] of [
    [cut, {}],
    [silent, { timeoutMs: 2_000 }],
  ] as const) {
    await expect(transport.request({ method: 'POST', path: '/', body: '{}', ...ask })).rejects.toMatchObject({ kind: 'unanswered' })
    await expect(transport.request({ method: 'DELETE', path: '/', ...ask })).rejects.toMatchObject({ kind: 'unanswered' })
    await expect(transport.request({ path: '/', ...ask })).rejects.toMatchObject({ kind: 'unreachable' })
    await expect(transport.request({ method: 'POST', path: '/', changes: false, ...ask })).rejects.toMatchObject({ kind: 'unreachable' })
  }
  await expect(silent.request({ method: 'POST', path: '/', signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ kind: 'cancelled' })
})

it('nor is that of one whose answer broke off', async () => {
  const docker = createDocker(
    await engine((request, response) => {
      if (request.url === '/_ping') return void response.writeHead(200, { 'api-version': '1.47' }).end('OK')
      response.writeHead(201, { 'content-length': 100 }).write('{"Id"')
      setTimeout(() => request.socket.destroy(), 20)
    }),
  )
  await expect(docker.containers.create('x', { image: 'app:1' })).rejects.toMatchObject({ kind: 'unanswered' })
  await expect(docker.containers.list()).rejects.toMatchObject({ kind: 'unreachable' })
})
