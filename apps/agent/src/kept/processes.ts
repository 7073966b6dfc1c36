import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/** One process and no other: numbers are given again, also after the node was started anew. */
export const processId = z.object({
  pid: z.int(),
  /** When it began, in ticks since boot: field 22 of proc(5)'s stat. */
  ticks: z.string(),
  boot_id: z.string(),
})
export type ProcessId = z.output<typeof processId>

/** All that a kept program starts has it in its environment, unless it takes care not to. */
export const markName = 'KEPT_MARK'

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Ended meanwhile, or not for us to see.
    return null
  }
}
const bootId = (): string => (read('/proc/sys/kernel/random/boot_id') ?? '').trim()

interface Stat {
  readonly state: string
  readonly parent: number
  readonly session: number
  readonly ticks: string
}
function statOf(pid: number): Stat | null {
  const text = read(`/proc/${pid}/stat`)
  if (text === null) return null
  // The name before may hold anything, also blanks and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', parent: Number(fields[1]), session: Number(fields[3]), ticks: fields[19] ?? '' }
}
const isDead = ({ state }: Stat): boolean => state === 'Z' || state === 'X'

/** Null where it has ended. */
export function identify(pid: number): ProcessId | null {
  const stat = statOf(pid)
  return stat === null || isDead(stat) ? null : { pid, ticks: stat.ticks, boot_id: bootId() }
}

/** By the clock of the node, to a hundredth of a second. */
export function beganAt({ ticks }: ProcessId): Date {
  const booted = Number(/^btime (\d+)$/m.exec(read('/proc/stat') ?? '')?.[1] ?? 0)
  // USER_HZ is 100 on all that Linux runs on.
  return new Date(booted * 1_000 + Number(ticks) * 10)
}

/** Whether that very process runs. */
export function isRunning({ pid, ticks, boot_id }: ProcessId): boolean {
  const stat = statOf(pid)
  return stat !== null && !isDead(stat) && stat.ticks === ticks && bootId() === boot_id
}

export const allPids = (): number[] =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    return Number.isInteger(pid) ? [pid] : []
  })

/** That run. */
export const childrenOf = (pid: number): number[] => {
  const listed = read(`/proc/${pid}/task/${pid}/children`)
  const children = listed === null ? allPids().filter((one) => statOf(one)?.parent === pid) : listed.trim().split(' ').filter(Boolean).map(Number)
  return children.filter((one) => identify(one) !== null)
}

/** All that run with that mark, whatever became of who started them. */
export const markedWith = (mark: string): number[] => allPids().filter((pid) => pid !== process.pid && markOf(pid) === mark && identify(pid) !== null)

/** Whose it is; null where it is nobody's here. */
export function markOf(pid: number): string | null {
  const environment = read(`/proc/${pid}/environ`)
  const entry = environment?.split('\0').find((one) => one.startsWith(`${markName}=`))
  return entry === undefined ? null : entry.slice(markName.length + 1)
}

/** The first of a session of its own, such as the shell around a program. */
export const isLeader = (pid: number): boolean => statOf(pid)?.session === pid

export const nameOf = (pid: number): string => (read(`/proc/${pid}/comm`) ?? '').trim()

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Ends all that have the mark, at once; what they start meanwhile too. @throws where one does not go */
export async function endAll(mark: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const left = markedWith(mark)
    if (left.length === 0) return
    // One that waits for a disk that does not answer cannot be ended.
    if (tries > 100) throw new Error(`processes ${left.join(', ')} do not end`)
    for (const pid of left) send(pid, 'SIGKILL')
    await sleep(50)
  }
}
