import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bundleOf, launch } from './launcher.ts'

let directory: string
let stop: AbortController
let running: Promise<void> | null = null
const said: string[] = []

const log = () => (existsSync(join(directory, 'log')) ? readFileSync(join(directory, 'log'), 'utf8').trim().split('\n') : [])
const state = () => JSON.parse(readFileSync(join(directory, 'versions/state.json'), 'utf8')) as unknown
const shows = (look: () => void) => vi.waitFor(look, { interval: 20 })

/** Agents that say who they are in a file, and then do this. */
const program = (name: string, what: string): string =>
  `import { appendFileSync, existsSync } from 'node:fs'\nappendFileSync(${JSON.stringify(join(directory, 'log'))}, '${name}\\n')\nprocess.on('SIGTERM', () => process.exit(0))\nprocess.on('disconnect', () => process.exit(1))\n${what}\nsetInterval(() => undefined, 1_000)\n`
const welcomed = `process.send({ welcomed: true })`
/** Asks for it once. */
const upgradeTo = (version: string) =>
  `if (!existsSync(${JSON.stringify(join(directory, 'asked'))})) { appendFileSync(${JSON.stringify(join(directory, 'asked'))}, ''); process.send({ upgrade: '${version}' }) }`
const install = (what: string): void => writeFileSync(join(directory, 'installed.mjs'), program('installed', what))
const put = (version: string, what: string): void => {
  const { path } = bundleOf(directory, version)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, program(version, what))
}
const begin = (trialMs = 15_000): void => {
  stop = new AbortController()
  running = launch({
    directory,
    installed: join(directory, 'installed.mjs'),
    args: ['--data', directory],
    signal: stop.signal,
    say: (line) => said.push(line),
    trialMs,
  })
}
const end = async (): Promise<void> => {
  stop.abort()
  await running
  running = null
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zhisuan-launcher-'))
  said.length = 0
})
afterEach(async () => {
  await end()
  rmSync(directory, { recursive: true, force: true })
})

describe('the launcher', () => {
  it('runs what was installed, and again where it ends', async () => {
    install(
      `${welcomed}\nif (!existsSync(${JSON.stringify(join(directory, 'once'))})) { appendFileSync(${JSON.stringify(join(directory, 'once'))}, ''); process.exit(1) }`,
    )
    begin()
    await shows(() => expect(log()).toEqual(['installed', 'installed']))
  })

  it('keeps a version that the server welcomed, also the next time', async () => {
    install(`${welcomed}\n${upgradeTo('2.0.0')}`)
    put('2.0.0', welcomed)
    put('1.5.0', welcomed)
    begin()
    await shows(() => expect(state()).toEqual({ current: '2.0.0', trial: null }))
    expect(log()).toEqual(['installed', '2.0.0'])
    // What nobody goes back to is not kept.
    expect(existsSync(bundleOf(directory, '1.5.0').folder)).toBe(false)
    await end()
    begin()
    await shows(() => expect(log()).toEqual(['installed', '2.0.0', '2.0.0']))
  })

  it.each([
    ['ends', 'process.exit(1)'],
    ['cannot be read', 'this is no program'],
  ])('goes back from a version that %s', async (_, what) => {
    install(`${welcomed}\n${upgradeTo('2.0.0')}`)
    put('2.0.0', what)
    begin()
    await shows(() => expect(log().filter((name) => name === 'installed')).toHaveLength(2))
    expect(state()).toEqual({ current: null, trial: null })
    expect(said.join()).toContain('2.0.0 is given up')
    expect(existsSync(bundleOf(directory, '2.0.0').folder)).toBe(false)
  })

  it('goes back from a version that does not come to the server, though it does not want to go', async () => {
    install(`${welcomed}\n${upgradeTo('2.0.0')}`)
    put('2.0.0', `process.on('SIGTERM', () => undefined)`)
    begin(500)
    await shows(() => expect(log()).toEqual(['installed', '2.0.0', 'installed']))
  })

  it('tries again a version in whose trial the power failed, but not for ever', async () => {
    install(welcomed)
    put('2.0.0', '')
    mkdirSync(join(directory, 'versions'), { recursive: true })
    writeFileSync(join(directory, 'versions/state.json'), JSON.stringify({ current: null, trial: { version: '2.0.0', tries: 1 } }))
    begin()
    await shows(() => expect(log()).toEqual(['2.0.0']))
    await end()
    begin()
    await shows(() => expect(log()).toEqual(['2.0.0', 'installed']))
  })
})
