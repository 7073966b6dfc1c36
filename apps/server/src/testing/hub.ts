import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Of } from './uploads.ts'

const pieceBytes = 64 * 1024

/** A hub as they speak, with one model; of which what a test wants is wrong. */
export interface Hub {
  readonly url: string
  readonly files: Map<string, Buffer>
  /** Digests that it tells, where they are not those of the bytes. */
  readonly told: Map<string, string>
  /** Bytes after which it breaks off, once each. */
  readonly breaks: number[]
  /** Ranges that were asked for. */
  readonly ranges: (string | undefined)[]
  /** How long it waits before each piece of a file, so that one can look on; 0: it does not. */
  paceMs: number
  /** Whether each file is listed twice. */
  twice: boolean
  /** Answers instead, where it says so. */
  instead: ((path: string, response: ServerResponse) => boolean) | null
  close(): void
}
export async function startHub(): Promise<Hub> {
  const [files, told, breaks, ranges] = [new Map<string, Buffer>(), new Map<string, string>(), [] as number[], [] as (string | undefined)[]]
  const commit = 'a'.repeat(40)
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://hub')
    const answer = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    if (hub.instead?.(pathname, response) === true) return
    if (pathname === '/api/models/team/model/revision/main') return answer({ sha: commit })
    if (pathname === `/api/models/team/model/tree/${commit}`)
      return answer(
        [...files, ...(hub.twice ? files : [])].map(([path, content]) => {
          const large = content.length > 1_000
          const git = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
          return {
            type: 'file',
            path,
            size: content.length,
            oid: git,
            ...(large && { lfs: { oid: told.get(path) ?? sha256Of(content), size: content.length } }),
          }
        }),
      )
    const content = files.get(decodeURIComponent(pathname.replace(`/team/model/resolve/${commit}/`, '')))
    if (content === undefined) return response.writeHead(404).end()
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    ranges.push(request.headers.range)
    response.writeHead(from > 0 ? 206 : 200, {
      etag: `"${sha256Of(content)}"`,
      'content-length': content.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
    })
    const most = content.length > 1_000 ? breaks.shift() : undefined
    if (most === undefined) return void send(response, content.subarray(from))
    response.write(content.subarray(from, from + most), () => setTimeout(() => response.destroy(), 50))
  })
  const send = async (response: ServerResponse, content: Buffer): Promise<void> => {
    for (let at = 0; hub.paceMs > 0 && at < content.length; at += pieceBytes) {
      response.write(content.subarray(at, at + pieceBytes))
      await sleep(hub.paceMs)
    }
    response.end(hub.paceMs > 0 ? undefined : content)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const hub: Hub = { url: `http://127.0.0.1:${port}`, files, told, breaks, ranges, paceMs: 0, twice: false, instead: null, close: () => void server.close() }
  return hub
}
