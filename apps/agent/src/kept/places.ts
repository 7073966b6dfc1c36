import { execFile } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { keptWanted, type KeptWish } from '@zhisuan/contract/agent/kept'
import { Denied } from '../answers.ts'
import type { Account } from './accounts.ts'
import { wantedFile, type Places } from './store.ts'

const run = promisify(execFile)
const versionMs = 10_000
const versionBytes = 65_536

/** Where programs of the node are, also where the agent's own path does not say so. */
const folders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Reads the text of what is wanted. @throws Denied that names the field */
export function understood(text: string): KeptWish {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Denied(400, 'wanted: not JSON')
  }
  const parsed = keptWanted.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Denied(400, `wanted.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not understood'}`)
  }
  const { files } = parsed.data
  const paths = files.map(({ path }) => path)
  const twice = paths.find((path, index) => paths.indexOf(path) !== index || paths.some((other) => other.startsWith(`${path}/`)))
  if (twice !== undefined) throw new Denied(400, `wanted.files: ${twice} is named twice, or is a folder too`)
  return parsed.data
}

/** A program of the node, by its name or path; null where it is not there. */
export function findProgram(name: string): string | null {
  const candidates = name.startsWith('/')
    ? [name]
    : [...new Set([...folders, ...(process.env['PATH'] ?? '').split(':')])].filter(Boolean).map((one) => join(one, name))
  return (
    candidates.find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return statSync(path).isFile()
      } catch {
        return false
      }
    }) ?? null
  )
}

/** What a program says when it is asked for its version. @throws with what went wrong */
export async function versionOf(path: string, parameters: readonly string[]): Promise<string> {
  const said = await run(path, [...parameters], {
    timeout: versionMs,
    maxBuffer: versionBytes,
    killSignal: 'SIGKILL',
    cwd: '/',
    env: { PATH: folders.join(':'), LANG: 'C.UTF-8', HOME: '/' },
  }).catch((error: Error & { code?: unknown; stdout?: string; stderr?: string }) => {
    // Some tell their version and end as if that were wrong.
    if (typeof error.code === 'number') return { stdout: error.stdout ?? '', stderr: error.stderr ?? '' }
    throw error
  })
  return `${said.stdout}\n${said.stderr}`.trim().slice(0, 1_000)
}

/** Whether that version is named there, and not as a part of another. */
export function saysVersion(said: string, version: string): boolean {
  const literal = version.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`(?<![0-9A-Za-z.])v?${literal}(?![0-9A-Za-z])(?!\\.[0-9])`).test(said)
}

/** What stands for them in arguments, environment and files. */
export interface Folders {
  readonly files: string
  readonly data: string
  readonly program: string
}
export const filled = (text: string, { files, data, program }: Folders): string =>
  text.replaceAll('${KEPT_FILES}', files).replaceAll('${KEPT_DATA}', data).replaceAll('${KEPT_PROGRAM}', program)

/** As the program sees them. */
export function foldersOf(wish: KeptWish, places: Places, digest: string, program: string): Folders {
  const data = wish.data === null ? '' : (wish.data.path ?? places.data)
  if (wish.program.kind === 'image') return { files: wish.program.files_at, data: wish.data === null ? '' : wish.program.data_at, program: '' }
  return { files: wish.reload_signal === null ? places.files(digest) : places.filesNow, data, program }
}

/** Has the program find these files from now on. */
export function pointTo(places: Places, digest: string): void {
  const fresh = `${places.filesNow}.new`
  rmSync(fresh, { force: true })
  symlinkSync(places.files(digest), fresh)
  renameSync(fresh, places.filesNow)
}

function writeFiles(folder: string, wish: KeptWish, seen: Folders, account: Account | null): void {
  mkdirSync(folder, { mode: 0o755 })
  for (const { path, text: content, mode, secret } of wish.files) {
    const at = join(folder, path)
    mkdirSync(dirname(at), { recursive: true, mode: 0o755 })
    writeFileSync(at, filled(content, seen), { mode: 0o600, flag: 'wx' })
    if (secret && account?.switch === true) chownSync(at, 0, account.gid)
    // The program reads what its owner would, and writes nothing: it is made anew with each change.
    const owner = mode & 0o700
    chmodSync(at, secret ? owner | (account?.switch === true ? (owner >> 3) & 0o050 : 0) : mode)
  }
  // The umask of whoever started the agent is not the program's.
  for (const path of [folder, ...wish.files.map((one) => dirname(join(folder, one.path)))]) chmodSync(path, 0o755)
}

/** Asks the program whether it understands its files. @throws with what it says */
export async function checkFiles(places: Places, command: string, wish: KeptWish, seen: Folders, account: Account | null): Promise<void> {
  if (wish.check_arguments === null) return
  const there = { ...seen, files: places.checked }
  rmSync(places.checked, { recursive: true, force: true })
  mkdirSync(places.own, { recursive: true, mode: 0o711 })
  try {
    writeFiles(places.checked, wish, there, account)
    await run(
      command,
      wish.check_arguments.map((one) => filled(one, there)),
      {
        timeout: versionMs,
        maxBuffer: versionBytes,
        killSignal: 'SIGKILL',
        cwd: '/',
        env: { PATH: folders.join(':'), LANG: 'C.UTF-8', HOME: '/', ...wish.environment },
        ...(account?.switch === true && { uid: account.uid, gid: account.gid }),
      },
    ).catch((error: Error & { stdout?: string; stderr?: string }) => {
      const said = `${error.stdout ?? ''}\n${error.stderr ?? ''}`.trim().replaceAll(`${places.checked}/`, '')
      throw new Denied(422, said === '' ? error.message : said.slice(-1_500))
    })
  } finally {
    rmSync(places.checked, { recursive: true, force: true })
  }
}

/** Writes what is wanted and its files beside what runs; whole or not at all. */
export function writeGeneration(places: Places, digest: string, text: string, wish: KeptWish, seen: Folders, account: Account | null): void {
  const [target, fresh] = [places.generation(digest), `${places.generation(digest)}.new`]
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(places.own, { recursive: true, mode: 0o711 })
  mkdirSync(fresh, { mode: 0o711 })
  writeFiles(join(fresh, 'files'), wish, seen, account)
  writeFileSync(join(fresh, 'wanted.json'), text, { mode: 0o600, flush: true })
  rmSync(target, { recursive: true, force: true })
  renameSync(fresh, target)
  chmodSync(target, 0o711)
  if (statSync(wantedFile(places, digest)).size === 0) throw new Error('what is wanted could not be written')
}

/** The first folder on the way that is there. */
export function nearest(path: string): string {
  return path === '/' || lstatSync(path, { throwIfNoEntry: false }) !== undefined ? path : nearest(dirname(path))
}

/** Folders that are missing on the way to it, the uppermost first. */
export function missingTo(path: string): string[] {
  const there = nearest(path)
  const missing: string[] = []
  for (let at = path; at !== there; at = dirname(at)) missing.unshift(at)
  return missing
}

/** Whether that user passes through to it. */
export function passes(account: Account | null, path: string): boolean {
  if (account === null || !account.switch || account.uid === 0) return true
  for (let at = path; ; at = dirname(at)) {
    const about = statSync(at, { throwIfNoEntry: false })
    if (about !== undefined) {
      const bit = about.uid === account.uid ? 0o100 : about.gid === account.gid ? 0o010 : 0o001
      if ((about.mode & bit) === 0) return false
    }
    if (at === '/') return true
  }
}

export const isEmpty = (path: string): boolean => {
  try {
    return readdirSync(path).length === 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
    throw error
  }
}
