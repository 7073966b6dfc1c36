import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { KeptAction, KeptPreflight, KeptState, KeptWish } from '@zhisuan/contract/agent/kept'
import { Denied } from '../answers.ts'
import type { Host } from '../facts.ts'
import type { Account, Accounts } from './accounts.ts'
import type { Bundles } from './bundles.ts'
import { createContainers, isImage } from './container.ts'
import type { Docker } from './docker.ts'
import { beganAt } from './processes.ts'
import { notWatched, watchHealth, type Watch } from './health.ts'
import { follow, lastWords, logFile, rotate, sizeOf, tail, wordsOf } from './logs.ts'
import { createNative } from './native.ts'
import {
  checkFiles,
  filled,
  findProgram,
  foldersOf,
  isEmpty,
  missingTo,
  pointTo,
  saysVersion,
  understood,
  versionOf,
  writeGeneration,
  type Folders,
} from './places.ts'
import { preflight, type Neighbour } from './preflight.ts'
import { digestOf, keepGenerations, nothingSaved, placesOf, readSaved, readWanted, wantedFile, writeSaved, type RunId, type Saved } from './store.ts'

/** It is looked at so often, whether or not anything is told. */
const lookEveryMs = 1_000
/** One that ran for so long did not end for the reason of the time before. */
const longRunMs = 60_000
/** In a trial: it does not become better. */
const crashesMost = 3
const wordsShown = 20
/** So long a program may take to hear of a signal. */
const rereadMs = 500

export interface ProgramParts {
  /** Of all that are kept. */
  readonly folder: string
  readonly id: string
  readonly host: Host
  readonly accounts: Accounts
  readonly bundles: Bundles
  readonly docker: Docker
  /** The others of this agent. */
  readonly others: () => readonly (Neighbour & { readonly account: string | null })[]
  /** Others may want less from now on. */
  readonly changed: () => void
  /** It is gone. */
  readonly gone: () => void
  readonly say: (line: string) => void
}

type RegistryAuth = Parameters<Docker['pull']>[1]
type Placing = { readonly digest: string; readonly abort: AbortController; done: number; total: number | null; error: string | null; ended: Promise<void> }

export type Program = ReturnType<typeof createProgram>

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1_500)
const iso = (): string => new Date().toISOString()

/**
 * One program. What is wanted of it is written down, and one loop brings it there, one thing after the other: whoever is
 * ended in the middle begins where that is written down.
 */
export function createProgram(parts: ProgramParts) {
  const { folder, id, host, accounts, bundles, docker, say } = parts
  const places = placesOf(folder, id)
  const mark = places.own
  const native = createNative(mark, places.run)
  const containers = createContainers(docker, id, mark)
  const state: Saved = readSaved(places) ?? { ...nothingSaved }
  const closing = new AbortController()
  let placing: Placing | null = null
  /** Ends what prepares its data: nobody waits for that who stops it or takes it away. */
  let preparation = new AbortController()
  let stopping = false
  let watch: Watch = notWatched
  /** So much had been said when it was started last. */
  let saidBefore = 0
  let wake: () => void = () => undefined
  let looked = false
  const wishes = new Map<string, KeptWish>()

  const save = (change: Partial<Saved>): void => writeSaved(places, Object.assign(state, change))
  const wishOf = (digest: string): KeptWish => {
    const wish = wishes.get(digest) ?? readWanted(places, digest)
    wishes.set(digest, wish)
    return wish
  }
  const current = (): KeptWish | null => (state.current === null ? null : wishOf(state.current))

  const isThere = async (run: RunId): Promise<boolean> => {
    if (run.kind === 'process') return native.exitOf(run.process) === null
    return containers.isRunning(run.id)
  }
  const watched = (run: RunId, wish: KeptWish): void => {
    watch.stop()
    watch = watchHealth(wish, new Date(run.started_at), () => wake())
  }
  const unwatched = (): void => {
    watch.stop()
    watch = notWatched
  }

  /** What an agent before this one left, also where it was ended before it wrote that down. */
  const find = async (): Promise<void> => {
    if (state.run !== null && (await isThere(state.run))) return
    const wish = current()
    if (wish === null) return
    if (isImage(wish)) {
      const there = await containers.find()
      if (there !== null) save({ run: { kind: 'container', ...there } })
    } else {
      const process = native.find()
      if (process !== null) save({ run: { kind: 'process', process, started_at: beganAt(process).toISOString(), rereads: false } })
    }
  }

  const stopNow = async (): Promise<void> => {
    const wish = current()
    unwatched()
    stopping = true
    try {
      const { signal, timeout_ms } = wish?.stop ?? { signal: 'SIGTERM' as const, timeout_ms: 10_000 }
      if (state.run?.kind === 'container') await containers.stop(state.run.id, signal, timeout_ms)
      else await native.stop(state.run?.kind === 'process' ? state.run.process : null, signal, timeout_ms)
      if (state.run?.kind === 'container' || state.next_start_at !== null || state.run !== null) save({ run: null, next_start_at: null })
    } finally {
      stopping = false
    }
  }

  const accountOf = async (wish: KeptWish): Promise<Account | null> => {
    const name = accounts.nameFor(wish)
    if (name === null) return null
    const before = await accounts.find(name)
    if (before === null && !state.accounts.includes(name)) save({ accounts: [...state.accounts, name] })
    return accounts.need(name)
  }
  const dataFor = (wish: KeptWish, account: Account | null): string | null => {
    if (wish.data === null) return null
    const path = wish.data.path ?? places.data
    const missing = missingTo(path)
    if (missing.length > 0 || state.data_path !== path) save({ data_path: path, data_made: [...new Set([...state.data_made, ...missing])] })
    for (const one of missing) mkdirSync(one, { mode: 0o711 })
    if (missing.includes(path) || state.data_made.includes(path)) {
      if (account?.switch === true) chownSync(path, account.uid, account.gid)
      chmodSync(path, 0o700)
    }
    return path
  }
  const commandOf = async (wish: KeptWish): Promise<string> => {
    const { program } = wish
    if (program.kind === 'bundle') return bundles.entryOf(program)
    const path = program.kind === 'path' ? findProgram(program.name) : null
    if (path === null) throw new Error(`${program.kind === 'path' ? program.name : ''}: there is no such program on the node`)
    return path
  }

  /** Fills an empty data folder, once and whole. */
  const prepare = async (
    { name, arguments: given, timeout_ms }: NonNullable<KeptWish['prepare']>,
    { data, seen, environment, account }: { data: string; seen: Folders; environment: Record<string, string>; account: Account },
  ): Promise<void> => {
    if (state.preparing) for (const one of readdirSync(data)) rmSync(join(data, one), { recursive: true, force: true })
    else if (!isEmpty(data)) return
    const path = findProgram(name)
    if (path === null) throw new Error(`${name}: there is no such program on the node`)
    save({ preparing: true })
    const command = [path, ...given.map((one) => filled(one, seen))]
    preparation = new AbortController()
    await native.once({ command, environment, directory: data, account }, timeout_ms, AbortSignal.any([closing.signal, preparation.signal]))
    save({ preparing: false })
  }

  const start = async (digest: string): Promise<void> => {
    const wish = wishOf(digest)
    const account = await accountOf(wish)
    const data = dataFor(wish, account)
    const seen = foldersOf(wish, places, digest, wish.program.kind === 'bundle' ? bundles.folderOf(wish.program.sha256) : '')
    const parameters = wish.arguments.map((one) => filled(one, seen))
    const environment = {
      ...Object.fromEntries(Object.entries(wish.environment).map(([name, value]) => [name, filled(value, seen)])),
      KEPT_FILES: seen.files,
      ...(seen.data !== '' && { KEPT_DATA: seen.data }),
    }
    if (isImage(wish)) {
      const container = await containers.start({ wish, digest, arguments: parameters, environment, files: places.files(digest), data, account })
      save({ run: { kind: 'container', id: container, started_at: iso() } })
    } else {
      if (account === null) throw new Error('it has no user')
      // Whatever is left of the one before has what this one wants.
      await native.stop(null, 'SIGKILL', 0)
      mkdirSync(places.log, { recursive: true, mode: 0o700 })
      const rereads = wish.reload_signal !== null
      if (rereads) pointTo(places, digest)
      const command = await commandOf(wish)
      const version_arguments = wish.program.kind === 'image' ? null : wish.program.version_arguments
      const program_version = version_arguments === null ? null : await versionOf(command, version_arguments).catch(() => null)
      if (wish.prepare !== null && data !== null) await prepare(wish.prepare, { data, seen, environment, account })
      saidBefore = sizeOf(logFile(places.log))
      const process = native.start(
        { command: [command, ...parameters], environment, directory: data ?? (rereads ? places.own : places.files(digest)), account, log: logFile(places.log) },
        () => wake(),
      )
      save({ run: { kind: 'process', process, started_at: iso(), rereads }, program_version })
    }
    if (state.run !== null) watched(state.run, wish)
    say(`kept ${wish.name} (${id}): started`)
  }

  /** It ended by itself, or could not be started. */
  const fell = (wish: KeptWish, exit: { code: number | null; signal: string | null }, error: string | null): void => {
    unwatched()
    const ranMs = state.run === null ? 0 : Date.now() - new Date(state.run.started_at).getTime()
    const { policy, first_ms, most_ms } = wish.restart
    const over = policy === 'never' || (policy === 'on-failure' && exit.code === 0 && error === null)
    const streak = ranMs > longRunMs ? 1 : state.streak + 1
    save({
      run: null,
      over,
      error,
      streak,
      crashes: state.crashes + 1,
      ended_at: iso(),
      exit_code: exit.code,
      exit_signal: exit.signal,
      next_start_at: over ? null : Date.now() + Math.min(most_ms, first_ms * 2 ** Math.min(streak - 1, 20)),
    })
    say(`kept ${wish.name} (${id}): ended with ${exit.signal ?? exit.code ?? 'nobody knows what'}${error === null ? '' : `: ${error}`}`)
  }

  const startOrFall = async (digest: string): Promise<void> => {
    save({ next_start_at: null, error: null, over: false })
    try {
      await start(digest)
    } catch (error) {
      fell(wishOf(digest), { code: null, signal: null }, words(error))
    }
  }

  const wordsNow = async (run: RunId | null = state.run): Promise<string[]> => {
    const wish = current()
    if (wish === null) return []
    if (!isImage(wish)) return lastWords(places.log, wordsShown, saidBefore)
    const one = run?.kind === 'container' ? run.id : await containers.any()
    if (one === null) return []
    const said: Buffer[] = []
    for await (const part of (await docker.logs(one, { tail: wordsShown, follow: false })) as AsyncIterable<Buffer>) said.push(part)
    return wordsOf(Buffer.concat(said))
  }

  /** Has what runs go on with the files of another, where it differs in nothing that a start would be needed for. */
  const reread = async (digest: string): Promise<boolean> => {
    const { run } = state
    const [before, wish] = [current(), wishOf(digest)]
    if (before === null || wish.reload_signal === null || run?.kind !== 'process' || !run.rereads || !(await isThere(run))) return false
    const { files: _1, ports: _2, health: _3, ...was } = before
    const { files: _4, ports: _5, health: _6, ...is } = wish
    if (!isDeepStrictEqual(was, is)) return false
    saidBefore = sizeOf(logFile(places.log))
    pointTo(places, digest)
    native.signal(run.process, wish.reload_signal)
    // Who is asked sooner may answer as before.
    await sleep(rereadMs)
    watched(run, wish)
    return true
  }

  /** Puts what is placed in the place of what runs. */
  const beginTrial = async ({ digest, within_ms }: NonNullable<Saved['trial']>): Promise<void> => {
    const before = current()
    const goesOn = state.current !== digest && (await reread(digest))
    if (!goesOn && (state.run !== null || state.current !== digest)) await stopNow()
    if (before !== null && isImage(before)) await containers.removeAll()
    const former = state.current === digest ? state.former : state.current
    save({
      former,
      current: digest,
      placed: null,
      to_run: true,
      over: false,
      crashes: 0,
      streak: 0,
      ended_at: null,
      exit_code: null,
      exit_signal: null,
      error: null,
      trial: { digest, within_ms, until: Date.now() + within_ms },
    })
    if (!goesOn) await startOrFall(digest)
  }

  const decide = async (trial: NonNullable<Saved['trial']>, until: number): Promise<void> => {
    const health = watch.state()
    if (state.run !== null && health.state === 'healthy') {
      const { former } = state
      save({ trial: null, former: null, applied: { digest: trial.digest, result: 'kept', at: iso(), error: null } })
      if (former !== null) keepGenerations(places, [state.current, state.placed])
      return parts.changed()
    }
    if (Date.now() < until && state.crashes < crashesMost && !state.over) return
    const ended = state.run !== null ? null : (state.error ?? `it ended with ${state.exit_signal ?? state.exit_code ?? 'nobody knows what'}`)
    const spoken = await wordsNow().catch(() => [])
    const why = [ended ?? health.error ?? 'it does not become healthy', ...(ended === null || state.error === null ? spoken.slice(-5) : [])]
      .join('\n')
      .slice(0, 1_900)
    const { former } = state
    if (former === null) return save({ trial: null, applied: { digest: trial.digest, result: 'failed', at: iso(), error: why } })
    say(`kept ${wishOf(trial.digest).name} (${id}): goes back: ${why}`)
    const goesOn = await reread(former)
    if (!goesOn) await stopNow()
    if (isImage(wishOf(trial.digest))) await containers.removeAll()
    save({
      trial: null,
      former: null,
      current: former,
      over: false,
      crashes: 0,
      streak: 0,
      error: null,
      applied: { digest: trial.digest, result: 'went_back', at: iso(), error: why },
    })
    keepGenerations(places, [former, state.placed])
    parts.changed()
    if (!goesOn) await startOrFall(former)
  }

  /** All that it has here; its data where that is asked for and was made for it. */
  const takeAway = async ({ data }: { readonly data: boolean }): Promise<void> => {
    placing?.abort.abort()
    await placing?.ended
    try {
      await stopNow()
      const hadImage = state.images.length > 0 || (state.current !== null && isImage(wishOf(state.current)))
      if (hadImage) {
        await containers.removeAll()
        for (const image of state.images) await docker.removeImage(image)
      }
      if (data) for (const path of state.data_made.toReversed()) removeFolder(path)
      const left = !data && state.data_made.some((path) => existsSync(path))
      for (const name of readdirSync(places.own)) if (name !== 'data' && name !== 'state.json') rmSync(join(places.own, name), { recursive: true, force: true })
      // Whose data it is is nobody else from now on.
      if (left) writeSaved(places, { ...nothingSaved, left, data_path: state.data_path, data_made: state.data_made, accounts: state.accounts })
      else {
        const users = new Set(parts.others().map((one) => one.account))
        for (const name of state.accounts) if (!users.has(name)) await accounts.remove(name)
        // Last: an agent that is ended before goes on with it.
        rmSync(places.own, { recursive: true, force: true })
      }
    } catch (error) {
      if (existsSync(places.own)) save({ removing_error: words(error) })
      throw error
    }
    parts.gone()
  }

  /** One step towards what is wanted. @returns whether there may be another at once */
  const turn = async (): Promise<boolean> => {
    if (!looked) {
      await find()
      looked = true
    }
    if (state.removing !== null) {
      if (state.removing_error !== null) return false
      await takeAway(state.removing)
      return false
    }
    const wish = current()
    if (state.run !== null && wish !== null) {
      if (!(await isThere(state.run))) {
        const exit = state.run.kind === 'process' ? { ...native.exitOf(state.run.process), said: '' } : await containers.exitOf(state.run.id)
        fell(wish, { code: exit.code ?? null, signal: exit.signal ?? null }, exit.said === '' ? null : exit.said)
      } else if (watch === notWatched && state.to_run) watched(state.run, wish)
    }
    if (wish !== null && !isImage(wish) && rotate(places.log, wish.log)) saidBefore = 0
    if (state.trial !== null && state.trial.until === null) {
      await beginTrial(state.trial)
      return true
    }
    if (!state.to_run) {
      if (state.run === null) return false
      await stopNow()
      return true
    }
    if (state.restarting !== null && state.current !== null) {
      const key = state.restarting
      await stopNow()
      save({ restarting: null, last_keys: { ...state.last_keys, restart: key }, crashes: 0, streak: 0, ended_at: null, exit_code: null, exit_signal: null })
      await startOrFall(state.current)
      return true
    }
    if (state.run === null && state.current !== null && !state.over && (state.next_start_at ?? 0) <= Date.now()) {
      await startOrFall(state.current)
      return true
    }
    if (state.trial !== null && state.trial.until !== null) await decide(state.trial, state.trial.until)
    return false
  }

  let complaint = ''
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      try {
        while (!closing.signal.aborted && (await turn()));
        complaint = ''
      } catch (error) {
        if (complaint !== words(error)) say(`kept ${id}: ${words(error)}`)
        complaint = words(error)
      }
      if (closing.signal.aborted) return
      const due = Math.max(
        20,
        Math.min(lookEveryMs, ...[state.next_start_at, state.trial?.until ?? null].flatMap((at) => (at === null ? [] : [at - Date.now()]))),
      )
      await Promise.race([woken, sleep(due, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)])
    }
  }
  const running = loop()

  const place = async (mine: Placing, text: string, wish: KeptWish, auth: RegistryAuth): Promise<void> => {
    const { signal } = mine.abort
    const { program, version } = wish
    if (program.kind === 'image') {
      if ((await docker.image(program.image)) === null) {
        if (program.pull === 'never') throw new Denied(422, `the image ${program.image} is not on the node`)
        await docker.pull(program.image, auth, signal, (done, total) => Object.assign(mine, { done, total }))
        // Known, so that it goes with it.
        save({ images: [...new Set([...state.images, program.image])] })
      }
    } else {
      if (program.kind === 'bundle') {
        mine.total = program.size_bytes
        await bundles.need(program, signal, (done) => Object.assign(mine, { done }))
        mine.done = program.size_bytes
      }
      const path = await commandOf(wish)
      if (program.version_arguments !== null) {
        const said = await versionOf(path, program.version_arguments)
        if (version !== null && !saysVersion(said, version)) throw new Denied(422, `${path} is of another version: ${said.slice(0, 200)}`)
      }
    }
    signal.throwIfAborted()
    const account = await accountOf(wish)
    const seen = foldersOf(wish, places, mine.digest, program.kind === 'bundle' ? bundles.folderOf(program.sha256) : '')
    if (program.kind !== 'image') await checkFiles(places, await commandOf(wish), wish, seen, account)
    signal.throwIfAborted()
    writeGeneration(places, mine.digest, text, wish, seen, account)
    wishes.set(mine.digest, wish)
    save({ placed: mine.digest })
    keepGenerations(places, [state.current, state.former, state.placed, state.trial?.digest ?? null])
  }

  return {
    id,
    /** What of it others have to know. */
    neighbour(): (Neighbour & { readonly account: string | null }) | null {
      const wish = current() ?? (state.placed === null ? null : wishOf(state.placed))
      return wish === null ? null : { name: wish.name, ports: wish.ports, account: accounts.nameFor(wish) }
    },
    /** Of whose bundles it has need. */
    bundlesWanted(): string[] {
      return [state.current, state.former, state.placed, state.trial?.digest ?? null].flatMap((digest) => {
        if (digest === null || !existsSync(wantedFile(places, digest))) return []
        const { program } = wishOf(digest)
        return program.kind === 'bundle' ? [program.sha256] : []
      })
    },
    preflight(text: string): Promise<KeptPreflight> {
      const wish = current()
      return preflight({
        wish: understood(text),
        places,
        mark,
        host,
        accounts,
        docker,
        now: { ports: state.run === null ? [] : (wish?.ports ?? []), data_path: state.data_path },
        others: parts.others(),
      })
    },
    /** Begins to place it; the same once more joins that. */
    put(text: string, auth: RegistryAuth): void {
      if (state.removing !== null) throw new Denied(409, 'it is being taken away')
      const wish = understood(text)
      const digest = digestOf(text)
      if (state.current === digest || state.placed === digest || state.trial?.digest === digest) return
      if (placing?.digest === digest && placing.error === null) return
      const before = placing
      before?.abort.abort()
      const mine: Placing = { digest, abort: new AbortController(), done: 0, total: null, error: null, ended: Promise.resolve() }
      placing = mine
      mine.ended = (before?.ended ?? Promise.resolve())
        .then(() => place(mine, text, wish, auth))
        .then(
          () => {
            if (placing === mine) placing = null
          },
          (error: unknown) => {
            mine.error = words(error)
            say(`kept ${wish.name} (${id}): ${mine.error}`)
          },
        )
      // From now on it is known here.
      if (state.left || !existsSync(places.state)) save({ left: false })
    },
    act(order: KeptAction): void {
      if (state.removing !== null) throw new Denied(409, 'it is being taken away')
      if (order.action === 'apply') {
        const { digest } = order
        if (state.trial?.digest === digest || (state.current === digest && state.applied?.digest === digest && state.applied.result === 'kept')) return
        if (state.placed !== digest && state.current !== digest) throw new Denied(409, 'that is not placed here')
        if (state.trial !== null) throw new Denied(409, 'another is being tried')
        save({ trial: { digest, within_ms: order.healthy_within_ms, until: null }, applied: { digest, result: 'trying', at: iso(), error: null } })
      } else {
        const wish = current()
        if (wish === null) throw new Denied(409, 'nothing is applied here')
        if (order.action === 'start') {
          if (!state.to_run || state.over || state.run === null)
            save({ to_run: true, over: false, next_start_at: null, streak: 0, ...(!state.to_run && { crashes: 0 }) })
        } else if (order.action === 'stop') {
          save({ to_run: false, restarting: null, next_start_at: null })
          preparation.abort()
        } else if (order.action === 'restart') {
          if (state.last_keys.restart === order.key || state.restarting === order.key) return
          save({ to_run: true, over: false, restarting: order.key })
        } else {
          if (state.last_keys.reload === order.key) return
          if (wish.reload_signal === null) throw new Denied(409, 'it reads its files only when it is started')
          if (state.run === null) throw new Denied(409, 'it does not run')
          if (state.run.kind === 'process') native.signal(state.run.process, wish.reload_signal)
          else void docker.kill(state.run.id, wish.reload_signal).catch((error: unknown) => say(`kept ${id}: ${words(error)}`))
          save({ last_keys: { ...state.last_keys, reload: order.key } })
        }
      }
      wake()
    },
    /** Begins to take it away, or tries that once more. */
    remove(data: boolean): void {
      // Whoever once asked for its data to go is not to find it there.
      save({ removing: { data: data || (state.removing?.data ?? false) }, removing_error: null, to_run: false, trial: null })
      preparation.abort()
      wake()
    },
    /** Taken away, but for its data. */
    isLeft: (): boolean => state.left && state.removing === null,
    async state(withWords: boolean): Promise<KeptState> {
      const wish = current()
      let unseen: string | null = null
      const there =
        state.run !== null &&
        (await isThere(state.run).catch((error: unknown) => {
          unseen = words(error)
          return false
        }))
      // The loop writes it down.
      if (state.run !== null && !there && !stopping) wake()
      const process: KeptState['process']['state'] =
        state.current === null
          ? 'none'
          : stopping
            ? 'stopping'
            : there
              ? 'running'
              : !state.to_run
                ? 'stopped'
                : state.over
                  ? state.error === null
                    ? 'ended'
                    : 'failed'
                  : 'waiting'
      const named = wish ?? (state.placed === null ? null : wishOf(state.placed))
      const shown = placing ?? (state.placed === null ? null : { digest: state.placed, done: 0, total: null, error: null })
      return {
        id,
        name: named?.name ?? '',
        digest: state.current,
        wanted_version: wish?.version ?? null,
        program_version: state.program_version,
        to_run: state.to_run,
        placing:
          shown === null
            ? null
            : {
                digest: shown.digest,
                state: shown === placing ? (shown.error === null ? 'placing' : 'failed') : 'placed',
                done_bytes: shown.done,
                total_bytes: shown.total,
                error: shown.error,
              },
        process: {
          state: process,
          pid: there && state.run?.kind === 'process' ? native.pidOf(state.run.process) : null,
          container_id: state.run?.kind === 'container' ? state.run.id : null,
          started_at: there ? (state.run?.started_at ?? null) : null,
          ended_at: state.ended_at,
          exit_code: state.exit_code,
          exit_signal: state.exit_signal,
          next_start_at: state.next_start_at === null ? null : new Date(state.next_start_at).toISOString(),
          crashes: state.crashes,
          error: unseen ?? state.error,
        },
        health: there ? watch.state() : notWatched.state(),
        applied: state.applied,
        last_keys: state.last_keys,
        removing: state.removing !== null,
        removing_error: state.removing_error,
        data_path: state.data_path,
        last_words: withWords ? await wordsNow().catch(() => []) : [],
      }
    },
    /** The last lines of what it said, and what it says from then on. */
    async *log(lines: number, followed: boolean, signal: AbortSignal): AsyncGenerator<Buffer> {
      const wish = current()
      if (wish === null) return
      if (isImage(wish)) {
        const container = state.run?.kind === 'container' ? state.run.id : await containers.any()
        if (container === null) return
        for await (const part of (await docker.logs(container, { tail: lines, follow: followed, signal })) as AsyncIterable<Buffer>) yield part
        return
      }
      const from = sizeOf(logFile(places.log))
      yield tail(places.log, lines, wish.log.files)
      if (followed) yield* follow(places.log, from, signal)
    },
    /** It goes on running; nobody looks after it any more. */
    async close(): Promise<void> {
      closing.abort()
      placing?.abort.abort()
      unwatched()
      wake()
      await running
      await placing?.ended
    },
  }

  function removeFolder(path: string): void {
    if (path === state.data_path) rmSync(path, { recursive: true, force: true })
    else {
      try {
        // One above it, where somebody else has something in by now, stays.
        rmdirSync(path)
      } catch (error) {
        if (!['ENOTEMPTY', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      }
    }
  }
}
