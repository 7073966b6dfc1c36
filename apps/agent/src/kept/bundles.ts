import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { KeptWish } from '@zhisuan/contract/agent/kept'
import { Denied } from '../answers.ts'
import { openFromServer, type ServerAddress } from '../server.ts'
import { BadArchive, untar } from './untar.ts'

export type BundleWish = Extract<KeptWish['program'], { kind: 'bundle' }>

/** From the server that does not go on sending. */
const silentMs = 60_000

/** Programs that were fetched, by their digest: what several want lies here once. */
export interface Bundles {
  /**
   * Has it here, verified and unpacked.
   * @returns its folder
   * @throws Denied where it is not what was announced
   */
  need(wish: BundleWish, signal: AbortSignal, told: (doneBytes: number) => void): Promise<string>
  folderOf(sha256: string): string
  /** Where the program in it is. @throws where there is none */
  entryOf(wish: BundleWish): Promise<string>
  /** Removes what is not among these. */
  keepOnly(wanted: ReadonlySet<string>): Promise<void>
}

export function createBundles(folder: string, server: ServerAddress): Bundles {
  const folderOf = (sha256: string): string => join(folder, sha256)
  /** Being fetched: nobody wants them yet, and they are not to be removed. */
  const fetching = new Map<string, Promise<void>>()

  const fetchTo = async (wish: BundleWish, path: string, signal: AbortSignal, told: (doneBytes: number) => void): Promise<void> => {
    const url = new URL(wish.path, server.url)
    if (url.origin !== new URL(server.url).origin) throw new Denied(400, 'program.path: not of the server')
    const hash = createHash('sha256')
    const silent = new AbortController()
    let done = 0
    let timer = setTimeout(() => silent.abort(new Error('the server sends nothing any more')), silentMs)
    const { status, body, close } = await openFromServer(server, { path: `${url.pathname}${url.search}`, signal: AbortSignal.any([signal, silent.signal]) })
    try {
      if (status !== 200) throw new Denied(422, `the bundle: the server answered ${status}`)
      const file = await open(path, 'wx', 0o600)
      try {
        for await (const part of body as AsyncIterable<Buffer>) {
          done += part.length
          if (done > wish.size_bytes) break
          clearTimeout(timer)
          timer = setTimeout(() => silent.abort(new Error('the server sends nothing any more')), silentMs)
          hash.update(part)
          await file.writeFile(part)
          told(done)
        }
        await file.sync()
      } finally {
        await file.close()
      }
    } finally {
      clearTimeout(timer)
      close()
    }
    silent.signal.throwIfAborted()
    signal.throwIfAborted()
    if (done !== wish.size_bytes) throw new Denied(422, `the bundle is not the one that was announced: ${done} bytes instead of ${wish.size_bytes}`)
    if (hash.digest('hex') !== wish.sha256) throw new Denied(422, 'the bundle is not the one that was announced: another SHA-256')
  }

  const unpack = async (wish: BundleWish, file: string, into: string): Promise<void> => {
    await mkdir(into, { mode: 0o755 })
    if (wish.format === 'file') {
      const path = join(into, wish.entry)
      await mkdir(dirname(path), { recursive: true, mode: 0o755 })
      await rename(file, path)
      return chmod(path, 0o755)
    }
    const source = createReadStream(file)
    try {
      if (wish.format === 'tar') return await untar(source as AsyncIterable<Buffer>, into)
      const unzipped = createGunzip()
      // Whichever of both fails first says why.
      await Promise.all([pipeline(source, unzipped), untar(unzipped as AsyncIterable<Buffer>, into).finally(() => unzipped.destroy())])
    } catch (error) {
      throw error instanceof BadArchive || (error as { code?: string }).code?.startsWith('Z_') === true
        ? new Denied(422, `the bundle: ${(error as Error).message}`)
        : error
    } finally {
      source.destroy()
    }
  }

  const fetchAndUnpack = async (wish: BundleWish, signal: AbortSignal, told: (doneBytes: number) => void): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o711 })
    const [file, fresh] = [`${folderOf(wish.sha256)}.part`, `${folderOf(wish.sha256)}.new`]
    const clear = async (): Promise<void> => {
      for (const path of [file, fresh]) await rm(path, { recursive: true, force: true })
    }
    await clear()
    try {
      await fetchTo(wish, file, signal, told)
      await unpack(wish, file, fresh)
      await rename(fresh, folderOf(wish.sha256))
    } finally {
      await clear()
    }
  }
  const isThere = (path: string): Promise<boolean> =>
    lstat(path).then(
      () => true,
      () => false,
    )

  return {
    folderOf,
    async need(wish, signal, told) {
      const path = folderOf(wish.sha256)
      for (;;) {
        const other = fetching.get(wish.sha256)
        if (other !== undefined) await other.catch(() => undefined)
        else if (await isThere(path)) return path
        else {
          const mine = fetchAndUnpack(wish, signal, told)
          fetching.set(wish.sha256, mine)
          await mine.finally(() => fetching.delete(wish.sha256))
        }
        signal.throwIfAborted()
      }
    },
    async entryOf(wish) {
      const root = await realpath(folderOf(wish.sha256))
      const path = await realpath(join(root, wish.entry)).catch(() => null)
      if (path === null || !path.startsWith(root + sep) || !(await lstat(path)).isFile()) throw new Denied(422, `the bundle has no program ${wish.entry}`)
      return path
    },
    async keepOnly(wanted) {
      for (const name of await readdir(folder).catch(() => [])) {
        const sha256 = basename(name).split('.')[0] ?? ''
        if (!wanted.has(sha256) && !fetching.has(sha256)) await rm(join(folder, name), { recursive: true, force: true })
      }
    },
  }
}
