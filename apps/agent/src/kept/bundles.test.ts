import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePort, startKept, type StartedKept } from './kept.testing.ts'
import { digestOf } from './store.ts'

let kept: StartedKept
let port: number

beforeEach(async () => {
  kept = await startKept()
  port = await freePort()
})
afterEach(async () => {
  await kept.stop()
})

const answer = async (): Promise<{ rest: string[] }> => (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as { rest: string[] }
const isListening = (): Promise<boolean> =>
  answer().then(
    () => true,
    () => false,
  )
const all = (path: string): string[] => (existsSync(path) ? (readdirSync(path, { recursive: true }) as string[]).toSorted() : [])

describe('a bundle', () => {
  const folder = () => join(kept.directory, 'bundle')
  /** Of a program that listens as the others do. */
  const tarOf = (build: () => void): Buffer => {
    mkdirSync(join(folder(), 'bin'), { recursive: true })
    writeFileSync(
      join(folder(), 'bin/listener'),
      `#!/bin/sh\n[ "$1" = --version ] && echo listener 2.0.1 && exit\nexec '${process.execPath}' '${kept.script}' "$@"\n`,
      { mode: 0o755 },
    )
    build()
    return execFileSync('tar', ['-C', folder(), '-cz', '.'])
  }
  const wanted = (bundle: Buffer, wish: object = {}): KeptWanted => ({
    ...kept.wanted(port),
    arguments: [String(port), '${KEPT_PROGRAM}'],
    version: '2.0.1',
    program: {
      kind: 'bundle',
      sha256: digestOf(bundle.toString('latin1')),
      size_bytes: bundle.length,
      format: 'tar.gz',
      path: '/bundles/one',
      entry: 'bin/listener',
      version_arguments: ['--version'],
      ...wish,
    },
  })
  const sha256 = (bundle: Buffer) => execFileSync('sha256sum', { input: bundle, encoding: 'utf8' }).slice(0, 64)

  it('is fetched, verified, unpacked and run; with the last that wants it it goes', async () => {
    const bundle = tarOf(() => undefined)
    kept.files.set('/bundles/one', bundle)
    const good = wanted(bundle, { sha256: sha256(bundle) })
    expect((await kept.preflight('one', good)).problems).toEqual([])
    expect(await kept.apply('one', good)).toMatchObject({ applied: { result: 'kept' }, program_version: 'listener 2.0.1' })
    const unpacked = join(kept.directory, 'kept/bundles', sha256(bundle))
    expect((await answer()).rest).toEqual([unpacked])
    await kept.remove('one', true)
    await vi.waitFor(() => expect(readdirSync(join(kept.directory, 'kept/bundles'))).toEqual([]))
  })

  it.each<[string, (bundle: Buffer) => object, string]>([
    ['another digest', () => ({ sha256: '0'.repeat(64) }), 'another SHA-256'],
    ['another size', (bundle) => ({ sha256: sha256(bundle), size_bytes: bundle.length - 1 }), 'bytes instead of'],
    ['no program in it', (bundle) => ({ sha256: sha256(bundle), entry: 'bin/other' }), 'no program bin/other'],
    ['nobody who has it', (bundle) => ({ sha256: sha256(bundle), path: '/none' }), 'answered 404'],
    ['another server', (bundle) => ({ sha256: sha256(bundle), path: '//127.0.0.2/x' }), 'not of the server'],
    ['another format', (bundle) => ({ sha256: sha256(bundle), format: 'tar' }), 'the bundle: '],
  ])('is refused with %s, and nothing of it stays', async (_, wish, why) => {
    const bundle = tarOf(() => undefined)
    kept.files.set('/bundles/one', bundle)
    const { placing } = await kept.placed('one', wanted(bundle, wish(bundle)))
    expect(placing).toMatchObject({ state: 'failed', error: expect.stringContaining(why) })
    expect(await isListening()).toBe(false)
    await kept.remove('one', true)
    await vi.waitFor(() => expect(all(join(kept.directory, 'kept/bundles'))).toEqual([]))
  })

  it('is refused where its program is of another version', async () => {
    const bundle = tarOf(() => undefined)
    kept.files.set('/bundles/one', bundle)
    const { placing } = await kept.placed('one', { ...wanted(bundle, { sha256: sha256(bundle) }), version: '2.0' })
    expect(placing).toMatchObject({ state: 'failed', error: expect.stringContaining('another version: listener 2.0.1') })
  })
})
