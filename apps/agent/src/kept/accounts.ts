import { execFile } from 'node:child_process'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { KeptWish } from '@zhisuan/contract/agent/kept'
import { z } from 'zod'

const run = promisify(execFile)
const execMs = 20_000

/** As whom a program runs. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
  /** Whether it is another than the agent itself. */
  readonly switch: boolean
}

/** Users that programs run as. Those that were made here go when nobody has them any more. */
export interface Accounts {
  /** What it is to run as; null of an image that says that itself. */
  nameFor(wish: Pick<KeptWish, 'name' | 'user' | 'program'>): string | null
  /** Null where there is none of that name. */
  find(name: string): Promise<Account | null>
  /** Why one cannot be made here; null where it can. */
  cannotMake(name: string): string | null
  /** @throws where it is not there and cannot be made */
  need(name: string): Promise<Account>
  /** Removes one that was made here. */
  remove(name: string): Promise<void>
}

const isRoot = process.getuid?.() === 0

export function createAccounts(folder: string): Accounts {
  const file = join(folder, 'accounts.json')
  const made = (): string[] => {
    try {
      return z.array(z.string()).parse(JSON.parse(readFileSync(file, 'utf8')))
    } catch {
      return []
    }
  }
  const write = (names: readonly string[]): void => {
    if (names.length === 0) return rmSync(file, { force: true })
    writeFileSync(`${file}.new`, JSON.stringify(names), { mode: 0o600, flush: true })
    renameSync(`${file}.new`, file)
  }
  // Two at once would both make it.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const mine = turn.then(act)
    turn = mine.catch(() => undefined)
    return mine
  }

  const own = userInfo()
  const find = async (name: string): Promise<Account | null> => {
    if (name === own.username) return { name, uid: own.uid, gid: own.gid, switch: false }
    try {
      const [uid, gid] = await Promise.all(['-u', '-g'].map(async (option) => Number((await run('id', [option, '--', name], { timeout: execMs })).stdout)))
      return uid === undefined || gid === undefined ? null : { name, uid, gid, switch: true }
    } catch {
      return null
    }
  }
  const cannotMake = (name: string): string | null => (isRoot ? null : `the agent runs as ${own.username}, and can neither make ${name} nor become another`)
  return {
    nameFor({ name, user, program }) {
      if (user !== null) return user
      if (program.kind === 'image') return null
      return isRoot ? `zs-${name}` : own.username
    },
    find,
    cannotMake,
    need: (name) =>
      inTurn(async () => {
        const there = await find(name)
        if (there !== null && (isRoot || !there.switch)) return there
        const reason = cannotMake(name)
        if (reason !== null) throw new Error(reason)
        // Known first: one that is there and that nobody is known to have made would stay.
        write([...new Set([...made(), name])])
        await run('useradd', ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', '--', name], {
          timeout: execMs,
        })
        const account = await find(name)
        if (account === null) throw new Error(`useradd made no user ${name}`)
        return account
      }),
    remove: (name) =>
      inTurn(async () => {
        const all = made()
        if (!all.includes(name)) return
        if ((await find(name)) !== null) await run('userdel', ['--', name], { timeout: execMs })
        write(all.filter((one) => one !== name))
      }),
  }
}
