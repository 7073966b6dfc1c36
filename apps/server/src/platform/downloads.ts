import { open as openFile, stat } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Refusal } from './errors.ts'
import type { Actor } from './auth/actor.ts'
import { FileStream } from './bytes/fileStream.ts'
import { createHeld } from './held.ts'
import type { Secrets } from './secrets.ts'

/** What a link leads to, found anew each time somebody follows it. */
export interface Download {
  /** As it is to be saved; any characters. */
  name: string
  /** Bytes; null where only the end tells: then it comes whole. */
  size: number | null
  /** Of these bytes and no others, such as their SHA-256: so that a download that broke off can go on. */
  etag?: string
  /** Its type, where it is looked at and not saved: one that a browser does not run. */
  inline?: string
  /** Bytes `start` to `end`, both of them too; without a range all. Read to its end, or destroyed. */
  open(range?: { start: number; end: number }): Readable | Promise<Readable>
}

/** Finds what is called so; null where it is gone, or not there yet. */
export type FindDownload = (id: string) => Promise<Download | null>

export interface Downloads {
  /** Once for each kind of object, by whoever keeps them. */
  offer(kind: string, find: FindDownload): void
  /**
   * A link to one object, for whoever may have it: who has the link needs nothing else, for ten minutes.
   * @param by whose it is what it opens; null: nobody's who is known, so it counts by where they come from
   */
  link(kind: string, id: string, by: Pick<Actor, 'user_id'> | null): { path: string; expires_at: string }
  /** Counts a file on its way until its answer ends, as links do. @throws Refusal streamsExceeded, tooMuchAtOnce */
  hold(by: Pick<Actor, 'user_id'> | null, request: FastifyRequest, reply: FastifyReply): void
}

const keptMs = 600_000
const base = '/api/downloads'
const sealPlace = 'downloads.link'
const ticket = z.object({ kind: z.string(), id: z.string(), expires: z.number(), by: z.string().nullable() })

/**
 * Links that a browser saves a file from without a token. What is asked for and until when is
 * sealed in the link itself: nobody can guess one or turn it to another object, any server of the
 * platform answers it, and nothing has to be kept or cleared.
 */
export function createDownloads(parts: { secrets: Secrets; now: () => Date }): Downloads & { serve(app: FastifyInstance): void } {
  const { secrets, now } = parts
  const finders = new Map<string, FindDownload>()
  const open = new Set<Readable>()
  const [held, visitors] = [createHeld('streams'), createHeld('visitors')]

  const hold: Downloads['hold'] = (by, request, reply) => {
    const free = held.take(by === null ? `visitor ${networkOf(request.ip)}` : by.user_id)
    reply.raw.once('close', free)
    if (by !== null) return
    try {
      reply.raw.once('close', visitors.take('all'))
    } catch (error) {
      free()
      throw error
    }
  }
  const find = async (link: string): Promise<{ download: Download; by: string | null }> => {
    const asked = read(secrets, link)
    const download = asked === null || asked.expires < now().getTime() ? null : await finders.get(asked.kind)?.(asked.id)
    if (asked === null || download === null || download === undefined) throw new Refusal('downloadLinkInvalid')
    return { download, by: asked.by }
  }

  return {
    offer(kind, of) {
      if (finders.has(kind)) throw new Error(`downloads of ${kind} are offered twice`)
      finders.set(kind, of)
    },
    hold,
    link(kind, id, of) {
      const by = of?.user_id ?? null
      const expires = now().getTime() + keptMs
      const sealed = secrets.seal(JSON.stringify({ kind, id, expires, by }), sealPlace)
      return { path: `${base}/${sealed.replaceAll('+', '-').replaceAll('/', '_')}`, expires_at: new Date(expires).toISOString() }
    },
    serve(app) {
      app.get<{ Params: { link: string } }>(`${base}/:link`, { exposeHeadRoute: false }, async (request, reply) => {
        const { download, by } = await find(request.params.link)
        hold(by === null ? null : { user_id: by }, request, reply)
        const stream = await answer(download, request, reply)
        if (stream === null) return reply.send()
        open.add(stream)
        stream.once('close', () => open.delete(stream))
        return sendBytes(reply, stream)
      })
      // A stop does not wait for them: whoever was reading goes on where it broke off.
      app.addHook('preClose', async () => {
        for (const stream of open) stream.destroy()
      })
    },
  }
}

/** An address of IPv4, or of IPv6 what one customer is given: 64 bits of it. */
function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.includes('.')) return ip
  const [head = '', tail] = ip.split('::')
  const [before, after] = [head === '' ? [] : head.split(':'), tail === undefined || tail === '' ? [] : tail.split(':')]
  const missing = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...missing, ...after].slice(0, 4).join(':')
}

/** Answers with these bytes; headers are set. What comes from a file goes there by itself. */
export async function sendBytes(reply: FastifyReply, stream: Readable): Promise<unknown> {
  if (!(stream instanceof FileStream)) return reply.send(stream)
  reply.hijack()
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  const left = (): void => void stream.destroy()
  reply.raw.once('close', left)
  try {
    await stream.sendTo(reply.raw)
  } catch (error) {
    // Headers have gone: all that can be said is that it is not whole.
    reply.raw.destroy()
    stream.destroy(error instanceof Error ? error : undefined)
  } finally {
    reply.raw.off('close', left)
  }
  return reply
}

/** A file that is whole and never changes; whoever has begun to read it gets it all, whoever removes it. Null where it is not there. */
export async function fileDownload(path: string, about: Pick<Download, 'name' | 'etag'>): Promise<Download | null> {
  const missing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'
  try {
    const { size } = await stat(path)
    const open = async (range: { start: number; end: number } | undefined): Promise<Readable> => {
      try {
        return (await openFile(path)).createReadStream({ ...range, highWaterMark: 256 * 1024 })
      } catch (error) {
        throw missing(error) ? new Refusal('downloadLinkInvalid', { cause: error }) : error
      }
    }
    return { ...about, size, open }
  } catch (error) {
    if (missing(error)) return null
    throw error
  }
}

function read(secrets: Secrets, link: string): z.output<typeof ticket> | null {
  try {
    return ticket.parse(JSON.parse(secrets.open(link.replaceAll('-', '+').replaceAll('_', '/'), sealPlace)))
  } catch {
    return null
  }
}

/** In a sandbox browsers do not open their reader; it runs nothing of a page, and lies in no frame of anybody's. */
const pdfPolicy = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"

/** Sets the headers; null where there is nothing to send but them. */
async function answer({ name, size, etag, inline, open }: Download, request: FastifyRequest, reply: FastifyReply): Promise<Readable | null> {
  reply.header('cache-control', 'private, no-store').header('content-disposition', disposition(name, inline === undefined ? 'attachment' : 'inline'))
  reply.type(inline ?? 'application/octet-stream')
  // Whatever it is, nothing in it runs here, nor asks for anything.
  if (inline !== undefined)
    reply.header('content-security-policy', inline === 'application/pdf' ? pdfPolicy : "sandbox; default-src 'none'; style-src 'unsafe-inline'")
  const tag = etag === undefined ? undefined : `"${etag}"`
  if (tag !== undefined) reply.header('etag', tag)
  if (size === null) return open()
  reply.header('accept-ranges', 'bytes')
  const { range, 'if-range': unchanged } = request.headers
  const part = range === undefined || (unchanged !== undefined && unchanged !== tag) ? null : rangeOf(range, size)
  if (part === 'outside') {
    reply.code(416).header('content-range', `bytes */${size}`)
    return null
  }
  if (part === null) {
    reply.header('content-length', size)
    return open()
  }
  reply
    .code(206)
    .header('content-range', `bytes ${part.start}-${part.end}/${size}`)
    .header('content-length', part.end - part.start + 1)
  return open(part)
}

/** RFC 9110: one range of bytes. Of others, and of what cannot be read, the whole is sent. */
export function rangeOf(header: string, size: number): { start: number; end: number } | 'outside' | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null
  return start >= size || end < start ? 'outside' : { start, end }
}

/** RFC 6266: the name itself for all browsers of today, and what ASCII can say of it for the others. */
function disposition(name: string, how: 'attachment' | 'inline'): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${how}; filename="${name.replace(/[^\x20-\x7e]|["\\%]/g, '_')}"; filename*=UTF-8''${encoded}`
}
