import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keptId, keptState, keptWanted, type KeptWish } from '@zhisuan/contract/agent/kept'
import { z } from 'zod'
import { processId } from './processes.ts'

/** What runs: a process of the node, or a container. */
export const runId = z.discriminatedUnion('kind', [
  /** `rereads`: its files are where the next ones can take their place. */
  z.object({ kind: z.literal('process'), process: processId, started_at: z.iso.datetime(), rereads: z.boolean().default(false) }),
  z.object({ kind: z.literal('container'), id: z.string(), started_at: z.iso.datetime() }),
])
export type RunId = z.output<typeof runId>

/**
 * What the agent knows of a program, beside what it looks up. Written before it is done: an agent that is ended in the
 * middle does it again.
 */
export const saved = z.object({
  to_run: z.boolean(),
  /** Of what is applied, of what lies beside it, and of what comes back should that not do. */
  current: z.string().nullable(),
  placed: z.string().nullable(),
  former: z.string().nullable(),
  /** `until` null: not begun. */
  trial: z.object({ digest: z.string(), within_ms: z.int(), until: z.number().nullable() }).nullable(),
  applied: keptState.shape.applied,
  run: runId.nullable(),
  /** It is not started again. */
  over: z.boolean(),
  error: z.string().nullable(),
  crashes: z.int(),
  /** In a row, none of which ran for long. */
  streak: z.int(),
  ended_at: z.iso.datetime().nullable(),
  exit_code: z.int().nullable(),
  exit_signal: z.string().nullable(),
  next_start_at: z.number().nullable(),
  /** Asked for, and not carried out. */
  restarting: z.string().nullable(),
  last_keys: keptState.shape.last_keys,
  program_version: z.string().nullable(),
  /** Its data folder is being prepared, or was when the agent was ended: what lies in it is half of something. */
  preparing: z.boolean().default(false),
  data_path: z.string().nullable(),
  /** Folders that were made here for its data; what was there before is not among them. */
  data_made: z.array(z.string()),
  /** Users and images that it has had, and that go with it. */
  accounts: z.array(z.string()),
  images: z.array(z.string()),
  removing: z.object({ data: z.boolean() }).nullable(),
  removing_error: z.string().nullable(),
  /** It was taken away, and its data was not: nothing is kept, but this is known. */
  left: z.boolean(),
})
export type Saved = z.output<typeof saved>

export const nothingSaved: Saved = {
  to_run: false,
  current: null,
  placed: null,
  former: null,
  trial: null,
  applied: null,
  run: null,
  over: false,
  error: null,
  crashes: 0,
  streak: 0,
  ended_at: null,
  exit_code: null,
  exit_signal: null,
  next_start_at: null,
  restarting: null,
  last_keys: { restart: null, reload: null },
  program_version: null,
  preparing: false,
  data_path: null,
  data_made: [],
  accounts: [],
  images: [],
  removing: null,
  removing_error: null,
  left: false,
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Where a program's things lie, below one folder for all of them. */
export const placesOf = (folder: string, id: string) => {
  const own = join(folder, 'programs', id)
  return {
    own,
    state: join(own, 'state.json'),
    /** How it ended; nobody else's to see. */
    run: join(own, 'run'),
    log: join(own, 'log'),
    /** Its data, where no other folder is wanted. */
    data: join(own, 'data'),
    generation: (digest: string): string => join(own, digest),
    files: (digest: string): string => join(own, digest, 'files'),
    /** Leads to the files of what is applied, for programs that read them anew. */
    filesNow: join(own, 'files'),
    /** Where files lie for as long as the program is asked whether it understands them. */
    checked: join(own, 'checked'),
  }
}
export type Places = ReturnType<typeof placesOf>

/** Whole or not at all, and for nobody else to read: what is wanted has secrets in it. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}

/** Null where there is none. @throws where it cannot be read */
export function readSaved(places: Places): Saved | null {
  try {
    return saved.parse({ ...nothingSaved, ...(JSON.parse(readFileSync(places.state, 'utf8')) as object) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
export function writeSaved(places: Places, what: Saved): void {
  // Its program passes through, and sees nothing.
  mkdirSync(places.own, { recursive: true, mode: 0o711 })
  writeWhole(places.state, JSON.stringify(what))
}

export const wantedFile = (places: Places, digest: string): string => join(places.generation(digest), 'wanted.json')
export const readWanted = (places: Places, digest: string): KeptWish => keptWanted.parse(JSON.parse(readFileSync(wantedFile(places, digest), 'utf8')))

/** Those of which the agent knows something. */
export function savedIds(folder: string): string[] {
  try {
    return readdirSync(join(folder, 'programs')).filter((name) => keptId.safeParse(name).success && existsSync(placesOf(folder, name).state))
  } catch {
    return []
  }
}

/** Generations that nobody needs any more, and what was left half written. */
export function keepGenerations(places: Places, wanted: readonly (string | null)[]): void {
  for (const name of readdirSync(places.own)) {
    if (/^[0-9a-f]{64}(\.new)?$/.test(name) && !wanted.includes(name)) rmSync(join(places.own, name), { recursive: true, force: true })
  }
}
