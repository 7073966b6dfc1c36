import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { keptPaths, type KeptWanted } from '@zhisuan/contract/agent/kept'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePort, startKept, type StartedKept } from './kept.testing.ts'
import { markedWith } from './processes.ts'

let kept: StartedKept
let port: number

beforeEach(async () => {
  kept = await startKept()
  port = await freePort()
})
afterEach(async () => {
  await kept.stop()
})

const answer = async (path = '/'): Promise<{ a?: string; pid: number; uid: number; rest: string[]; env: Record<string, string>; cwd: string }> =>
  (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as never
const exit = (code: number) => fetch(`http://127.0.0.1:${port}/exit?${code}`).catch(() => undefined)
const isListening = async (): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  )
const processes = (id: string): number[] => markedWith(join(kept.directory, 'kept/programs', id))
const listens = () => vi.waitFor(async () => expect(await isListening()).toBe(true), { interval: 30 })
/** Everything below a folder. */
const all = (path: string): string[] => (existsSync(path) ? (readdirSync(path, { recursive: true }) as string[]).toSorted() : [])

describe('a program that the agent keeps', () => {
  it('is asked for beforehand, placed beside what runs, started, and well', async () => {
    const wanted = kept.wanted(port, {
      version: process.versions.node,
      with: ['${KEPT_FILES}/conf/a.json', '--data=${KEPT_DATA}'],
      environment: { WHERE: '${KEPT_DATA}/x' },
      files: [
        { path: 'conf/a.json', text: '{"data":"${KEPT_DATA}"}' },
        { path: 'key', text: 'of nobody else', secret: true },
      ],
      data: {},
    })
    expect(await kept.preflight('one', wanted)).toEqual({ problems: [], program_version: `v${process.versions.node}` })
    // Nothing came of asking.
    expect((await kept.ask('GET', keptPaths.one('one'))).status).toBe(404)
    const { digest } = kept.wantedOf(wanted)
    expect(await kept.placed('one', wanted)).toMatchObject({ digest: null, placing: { digest, state: 'placed', error: null }, process: { state: 'none' } })
    expect(await isListening()).toBe(false)

    expect(await kept.act('one', { action: 'apply', digest, healthy_within_ms: 20_000 })).toMatchObject({ status: 202 })
    const now = await kept.until('one', ({ applied }) => applied?.result === 'kept')
    const folder = join(kept.directory, 'kept/programs/one')
    const { pid, rest, env, cwd } = await answer()
    expect(now).toMatchObject({
      digest,
      placing: null,
      to_run: true,
      program_version: `v${process.versions.node}`,
      process: { state: 'running', pid, crashes: 0, error: null },
      health: { state: 'healthy', error: null },
      data_path: join(folder, 'data'),
      last_words: [expect.stringContaining(`listening on ${port}`)],
    })
    expect(rest).toEqual([join(folder, digest, 'files/conf/a.json'), `--data=${folder}/data`])
    expect(env).toMatchObject({ WHERE: `${folder}/data/x`, KEPT_FILES: join(folder, digest, 'files'), KEPT_DATA: `${folder}/data` })
    expect(cwd).toBe(`${folder}/data`)
    expect(readFileSync(join(folder, digest, 'files/conf/a.json'), 'utf8')).toBe(`{"data":"${folder}/data"}`)
    // What holds secrets nobody else reads.
    for (const path of [join(folder, digest, 'files/key'), join(folder, digest, 'wanted.json'), join(folder, 'state.json')])
      expect([path, statSync(path).mode & 0o077]).toEqual([path, 0])
    // The same once more changes nothing.
    await kept.put('one', wanted)
    await kept.act('one', { action: 'apply', digest, healthy_within_ms: 20_000 })
    await kept.act('one', { action: 'start' })
    expect((await kept.state('one')).process.pid).toBe(pid)
    expect((await kept.ask('GET', keptPaths.all)).body).toMatchObject({ items: [{ id: 'one', last_words: [] }] })
  })

  it('is started again where it ends, and tells how often and by what', async () => {
    await kept.apply('one', kept.wanted(port))
    const { pid } = await answer()
    await exit(3)
    const fallen = await kept.until('one', ({ process }) => process.crashes === 1)
    expect(fallen.process).toMatchObject({ exit_code: 3, exit_signal: null, ended_at: expect.any(String) })
    const back = await kept.until('one', ({ process, health }) => process.state === 'running' && health.state === 'healthy')
    expect(back.process).toMatchObject({ crashes: 1, exit_code: 3 })
    expect((await answer()).pid).not.toBe(pid)
    process.kill((await answer()).pid, 'SIGKILL')
    expect((await kept.until('one', ({ process }) => process.crashes === 2)).process).toMatchObject({ exit_code: null, exit_signal: 'SIGKILL' })
    await kept.until('one', ({ process }) => process.state === 'running')
  })

  it('is left where it ends as its policy says', async () => {
    await kept.apply('one', kept.wanted(port, { restart: { policy: 'on-failure', first_ms: 50 } }))
    await exit(1)
    await kept.until('one', ({ process }) => process.crashes === 1 && process.state === 'running')
    await listens()
    await exit(0)
    expect((await kept.until('one', ({ process }) => process.state === 'ended')).process).toMatchObject({ exit_code: 0, next_start_at: null })
    await kept.act('one', { action: 'start' })
    await kept.until('one', ({ process }) => process.state === 'running')
  })

  it('stops, though it does not want to, with all that it started, and stays stopped', async () => {
    await kept.apply('one', kept.wanted(port, { with: ['stubborn', 'child'], stop: { timeout_ms: 300 } }))
    expect(processes('one').length).toBeGreaterThanOrEqual(3)
    await kept.act('one', { action: 'stop' })
    expect((await kept.until('one', ({ process }) => process.state === 'stopped')).process).toMatchObject({ pid: null, crashes: 0 })
    expect([processes('one'), await isListening()]).toEqual([[], false])
    expect(await kept.log('one', 10)).toContain('not now')
    await kept.anew()
    expect((await kept.state('one')).process.state).toBe('stopped')
    await kept.act('one', { action: 'start' })
    await kept.until('one', ({ health }) => health.state === 'healthy')
  })

  it('goes on without the agent, and is found again by it', async () => {
    await kept.apply('one', kept.wanted(port))
    const before = await kept.state('one')
    await kept.anew(async () => expect((await answer()).pid).toBe(before.process.pid))
    const after = await kept.until('one', ({ health }) => health.state === 'healthy')
    expect([after.process.pid, after.process.started_at, after.process.crashes]).toEqual([before.process.pid, before.process.started_at, 0])
    // One that ends while there is no agent is started by the next one, which knows by what it ended.
    await kept.anew(async () => {
      await exit(5)
      await vi.waitFor(() => expect(processes('one')).toEqual([]))
    })
    expect((await kept.until('one', ({ process }) => process.state === 'running' && process.crashes === 1)).process).toMatchObject({ exit_code: 5 })
    await listens()
    // Of one that was started, and nobody came to write that down, there are not two.
    const { pid } = await answer()
    await kept.anew(() => {
      const path = join(kept.directory, 'kept/programs/one/state.json')
      writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), run: null }))
    })
    expect((await kept.until('one', ({ process }) => process.state === 'running')).process.pid).toBe(pid)
  })

  it('is restarted once for each time that it is asked for, and reads its files anew by a signal', async () => {
    await kept.apply('one', kept.wanted(port, { reload_signal: 'SIGUSR1' }))
    const { pid } = await answer()
    await kept.act('one', { action: 'restart', key: 'a' })
    await kept.until('one', ({ last_keys, health }) => last_keys.restart === 'a' && health.state === 'healthy')
    const again = (await answer()).pid
    expect(again).not.toBe(pid)
    await kept.act('one', { action: 'restart', key: 'a' })
    await kept.act('one', { action: 'reload', key: 'b' })
    await kept.act('one', { action: 'reload', key: 'b' })
    await vi.waitFor(async () => expect(await kept.log('one', 10)).toContain('read anew'))
    expect((await kept.log('one', 10)).match(/read anew/g)).toHaveLength(1)
    expect([(await answer()).pid, (await kept.state('one')).process.crashes]).toEqual([again, 0])
  })
})

describe('a change of what is wanted', () => {
  it('takes the place of what runs, and keeps its data', async () => {
    await kept.apply('one', kept.wanted(port, { data: {} }))
    writeFileSync(join(kept.directory, 'kept/programs/one/data/kept'), 'kept')
    const changed = kept.wanted(port, { data: {}, with: ['v2'], files: [{ path: 'a', text: 'x' }] })
    expect(await kept.apply('one', changed)).toMatchObject({ applied: { result: 'kept' }, process: { state: 'running' } })
    expect((await answer()).rest).toEqual(['v2'])
    const folder = join(kept.directory, 'kept/programs/one')
    expect(readFileSync(join(folder, 'data/kept'), 'utf8')).toBe('kept')
    expect(readdirSync(folder).filter((name) => /^[0-9a-f]{64}/.test(name))).toEqual([kept.wantedOf(changed).digest])
  })

  it('of nothing but files reaches what runs by a signal, and so does the way back', async () => {
    const wish = (a: string, more: KeptWanted['environment'] = {}) =>
      kept.wanted(port, { reload_signal: 'SIGUSR1', with: ['reads'], files: [{ path: 'a', text: a }], environment: more })
    await kept.apply('one', wish('first'))
    const { pid } = await answer()
    expect(await kept.apply('one', wish('second'))).toMatchObject({ applied: { result: 'kept' }, process: { pid, crashes: 0 } })
    expect(await answer()).toMatchObject({ pid, a: 'second' })
    const { digest } = kept.wantedOf(wish('second'))
    expect(await kept.apply('one', wish('ill'), 1_500)).toMatchObject({ digest, applied: { result: 'went_back', error: expect.stringContaining('503') } })
    await kept.until('one', ({ health }) => health.state === 'healthy')
    expect(await answer()).toMatchObject({ pid, a: 'second' })
    await kept.anew()
    await kept.apply('one', wish('third'))
    expect(await answer()).toMatchObject({ pid, a: 'third' })
    const folder = join(kept.directory, 'kept/programs/one')
    expect(readdirSync(folder).filter((name) => /^[0-9a-f]{64}/.test(name))).toEqual([kept.wantedOf(wish('third')).digest])
    // What a program has only at its start needs one.
    await kept.apply('one', wish('third', { MORE: '1' }))
    expect((await answer()).pid).not.toBe(pid)
  })

  it('that its program does not understand is told by its words, and is not placed', async () => {
    const wish = (a: string) => kept.wanted(port, { check_arguments: [kept.script, 'check', '${KEPT_FILES}/a'], files: [{ path: 'a', text: a, secret: true }] })
    await kept.apply('one', wish('sense'))
    const { pid } = await answer()
    expect(await kept.placed('one', wish('nonsense'))).toMatchObject({ placing: { state: 'failed', error: 'a: nonsense in line 1' } })
    expect([(await answer()).pid, existsSync(join(kept.directory, 'kept/programs/one/checked'))]).toEqual([pid, false])
  })

  it.each([['ends', ['broken'], 'cannot begin: no such thing']])('goes back from one that %s, and says why', async (_, parameters, why) => {
    const good = kept.wanted(port, { with: ['good'] })
    await kept.apply('one', good)
    const bad = kept.wanted(port, { with: parameters })
    // It ends by itself: how soon is the machine's to say.
    const back = await kept.apply('one', bad, 15_000)
    expect(back).toMatchObject({ digest: kept.wantedOf(good).digest, applied: { result: 'went_back', error: expect.stringContaining(why) } })
    await kept.until('one', ({ health }) => health.state === 'healthy')
    expect((await answer()).rest).toEqual(['good'])
    // It may be tried again, once it is placed again.
    const { digest } = kept.wantedOf(bad)
    expect(await kept.act('one', { action: 'apply', digest, healthy_within_ms: 1_000 })).toMatchObject({ status: 409 })
  })
})

describe('what would not run', () => {
  it('is told beforehand, all of it, with who is in the way', async () => {
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    const foreign = join(kept.directory, 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'somebody'), '')
    try {
      const { problems } = await kept.preflight(
        'one',
        kept.wanted(port, { version: '1.2.3', data: { path: foreign }, needs: { memory_bytes: 2 ** 50, disk_bytes: 2 ** 50 } }),
      )
      expect(problems).toEqual([
        { reason: 'version_other', values: { program: process.execPath, wanted: '1.2.3', found: `v${process.versions.node}` } },
        { reason: 'port_taken', values: { port, protocol: 'tcp', by: expect.stringContaining(`(${process.pid})`) } },
        { reason: 'disk_short', values: { path: foreign, free_bytes: expect.any(Number), needed_bytes: 2 ** 50 } },
        { reason: 'memory_short', values: { free_bytes: expect.any(Number), needed_bytes: 2 ** 50 } },
        { reason: 'data_foreign', values: { path: foreign } },
      ])
    } finally {
      other.close()
    }
    const missing = kept.wanted(port, { program: { kind: 'path', name: 'no-such-program' } })
    expect((await kept.preflight('one', missing)).problems).toEqual([{ reason: 'program_missing', values: { program: 'no-such-program' } }])
    // A neighbour's port is taken also while that one is stopped.
    await kept.apply('two', kept.wanted(port))
    expect((await kept.preflight('two', kept.wanted(port, { with: ['other'] }))).problems).toEqual([])
    await kept.act('two', { action: 'stop' })
    await kept.until('two', ({ process }) => process.state === 'stopped')
    expect((await kept.preflight('one', kept.wanted(port))).problems).toEqual([{ reason: 'port_taken', values: { port, protocol: 'tcp', by: 'listener' } }])
  })

  it.each<[string, object, string]>([
    ['a file that leads out', { files: [{ path: 'a/../../b', text: '' }] }, 'wanted.files.0.path'],
    ['a file of an absolute path', { files: [{ path: '/etc/passwd', text: '' }] }, 'wanted.files.0.path'],
    [
      'a file within a file',
      {
        files: [
          { path: 'a', text: '' },
          { path: 'a/b', text: '' },
        ],
      },
      'wanted.files',
    ],
    ['no port', { ports: [{ port: 70_000 }] }, 'wanted.ports.0.port'],
    ['a user that is an option', { user: '--root' }, 'wanted.user'],
    ['a data folder that leads elsewhere', { data: { path: '/var/lib/../../etc' } }, 'wanted.data.path'],
    ['a name that is none', { name: '../x' }, 'wanted.name'],
  ])('is refused by its field: %s', async (_, wish, field) => {
    const { status, body } = await kept.put('one', kept.wanted(port, wish))
    expect([status, body]).toEqual([400, { message: expect.stringContaining(field) as string }])
    expect(all(join(kept.directory, 'kept/programs'))).toEqual([])
  })

  it('is refused where it is asked for by no name, or is not there', async () => {
    expect((await kept.ask('GET', `${keptPaths.all}/..%2fx`)).status).toBe(400)
    expect((await kept.ask('GET', keptPaths.one('none'))).status).toBe(404)
    expect((await kept.act('none', { action: 'start' })).status).toBe(404)
    expect((await kept.ask('DELETE', keptPaths.one('none'))).status).toBe(404)
    expect((await kept.ask('GET', `${keptPaths.log('none')}?tail=-1`)).status).toBe(404)
  })
})

describe('a program that is taken away', () => {
  it('leaves nothing: no process, no port, no file; its data where nobody asks for that', async () => {
    const before = all(join(kept.directory, 'kept'))
    await kept.apply('one', kept.wanted(port, { with: ['child'], data: {}, files: [{ path: 'a', text: 'x', secret: true }] }))
    writeFileSync(join(kept.directory, 'kept/programs/one/data/rows'), 'kept')
    await kept.remove('one', false)
    expect([processes('one'), await isListening()]).toEqual([[], false])
    expect(all(join(kept.directory, 'kept/programs'))).toEqual(['one', 'one/data', 'one/data/rows', 'one/state.json'])
    expect((await kept.ask('GET', keptPaths.all)).body).toEqual({ items: [] })
    // Wanted again it finds its data; then all goes.
    await kept.anew()
    await kept.apply('one', kept.wanted(port, { data: {} }))
    expect(readFileSync(join(kept.directory, 'kept/programs/one/data/rows'), 'utf8')).toBe('kept')
    await kept.remove('one', false)
    expect((await kept.ask('DELETE', `${keptPaths.one('one')}?data=true`)).status).toBe(202)
    await vi.waitFor(() => expect(all(join(kept.directory, 'kept'))).toEqual(before))
  })

  it('takes a data folder elsewhere along only where it was made for it', async () => {
    const [made, adopted] = [join(kept.directory, 'deep/made'), join(kept.directory, 'adopted')]
    mkdirSync(adopted)
    writeFileSync(join(adopted, 'rows'), '')
    await kept.apply('one', kept.wanted(port, { data: { path: made } }))
    await kept.remove('one', true)
    expect(existsSync(join(kept.directory, 'deep'))).toBe(false)
    await kept.apply('one', kept.wanted(port, { data: { path: adopted, adopt: true } }))
    await kept.remove('one', true)
    expect(readdirSync(adopted)).toEqual(['rows'])
  })

  it('goes though it is asked for in the middle of a start that never succeeds, and once more by the next agent', async () => {
    const wanted = kept.wanted(port, { with: ['stubborn', 'ill'], stop: { timeout_ms: 1_000 } })
    await kept.placed('one', wanted)
    await kept.act('one', { action: 'apply', digest: kept.wantedOf(wanted).digest, healthy_within_ms: 60_000 })
    await listens()
    await kept.ask('DELETE', `${keptPaths.one('one')}?data=true`)
    expect((await kept.put('one', wanted)).status).toBe(409)
    await kept.anew()
    await vi.waitFor(async () => expect((await kept.ask('GET', keptPaths.one('one'))).status).toBe(404))
    expect([processes('one'), all(join(kept.directory, 'kept/programs'))]).toEqual([[], []])
  })
})

describe.runIf(process.getuid?.() === 0)('a program with a user of its own', () => {
  it('runs as that, reads its secrets, writes its data and nothing else; the user goes with it', async () => {
    const name = `k${process.pid}${Date.now() % 1_000}`
    const users = () =>
      readFileSync('/etc/passwd', 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(`zs-${name}:`))
    // Of a node that everybody passes through.
    execFileSync('chmod', ['o+x', '/', ...(process.env['TMPDIR'] === undefined ? [] : [process.env['TMPDIR']])])
    await kept.apply('one', kept.wanted(port, { name, user: null, data: {}, files: [{ path: 'key', text: 'secret', secret: true }] }))
    expect(users()).toHaveLength(1)
    const { uid, env } = await answer()
    expect(uid).toBe(Number(users()[0]?.split(':')[2]))
    const key = `${env['KEPT_FILES']}/key`
    expect([statSync(key).uid, statSync(key).mode & 0o777]).toEqual([0, 0o640])
    expect(await (await fetch(`http://127.0.0.1:${port}/file?${key}`)).text()).toBe('secret')
    expect([statSync(`${env['KEPT_DATA']}`).uid, statSync(`${env['KEPT_DATA']}`).mode & 0o777]).toEqual([uid, 0o700])
    // Data that is left is somebody's.
    await kept.remove('one', false)
    expect(users()).toHaveLength(1)
    await kept.ask('DELETE', `${keptPaths.one('one')}?data=true`)
    await vi.waitFor(() => expect(users()).toEqual([]))
  })

  describe('whose data folder has to be prepared', () => {
    /** Counts how often it was begun, where nobody empties anything, and does as it is told. */
    const prepared = (script: string): Partial<KeptWanted> => ({
      data: {},
      files: [{ path: 'first', text: 'of nobody else', secret: true }],
      prepare: { name: '/bin/sh', arguments: ['-c', `echo begun >> ${kept.directory}/times; ${script}`, 'prepare', '${KEPT_FILES}/first', '${KEPT_DATA}'] },
    })
    const times = (): number => readFileSync(join(kept.directory, 'times'), 'utf8').split('\n').length - 1
    const folder = (): string => join(kept.directory, 'kept/programs/one/data')

    it('is prepared once, before its first start', async () => {
      const wanted = kept.wanted(port, prepared('cp "$1" "$2/made"'))
      expect((await kept.apply('one', wanted)).applied).toMatchObject({ result: 'kept' })
      expect([readFileSync(join(folder(), 'made'), 'utf8'), times()]).toEqual(['of nobody else', 1])
      await kept.act('one', { action: 'restart', key: 'again' })
      await kept.until('one', ({ last_keys, health }) => last_keys.restart === 'again' && health.state === 'healthy')
      expect((await kept.apply('one', { ...wanted, environment: { A: 'b' } })).applied).toMatchObject({ result: 'kept' })
      expect(times()).toBe(1)
      expect(await kept.preflight('two', { ...kept.wanted(await freePort()), data: {}, prepare: { name: 'no-such-program' } })).toMatchObject({
        problems: [{ reason: 'program_missing', values: { program: 'no-such-program' } }],
      })
    })

    it('begins anew in an empty folder where it was ended half-way', async () => {
      // The first time it makes a half and goes on for ever.
      const script = `[ -z "$(ls "$2")" ] || exit 7; echo half > "$2/half"; [ $(wc -l < ${kept.directory}/times) -gt 1 ] || exec sleep 1000; mv "$2/half" "$2/whole"`
      const wanted = kept.wanted(port, prepared(script))
      const { digest } = kept.wantedOf(wanted)
      await kept.placed('one', wanted)
      await kept.act('one', { action: 'apply', digest, healthy_within_ms: 60_000 })
      await vi.waitFor(() => expect(existsSync(join(folder(), 'half'))).toBe(true), { interval: 30 })
      await kept.anew()
      await kept.until('one', ({ health }) => health.state === 'healthy')
      expect([readdirSync(folder()), times(), processes('one').length > 0]).toEqual([['whole'], 2, true])
    })

    it('says why it could not be, and is not started', async () => {
      const state = await kept.apply('one', kept.wanted(port, prepared('echo no room for that >&2; exit 4')))
      expect(state).toMatchObject({ applied: { result: 'failed', error: expect.stringContaining('no room for that') as string } })
      expect([await isListening(), times()]).toEqual([false, 3])
    })
  })
})
