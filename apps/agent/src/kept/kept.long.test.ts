import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { keptPaths } from '@zhisuan/contract/agent/kept'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePort, startKept, type StartedKept } from './kept.testing.ts'

let kept: StartedKept
let port: number

beforeEach(async () => {
  kept = await startKept()
  port = await freePort()
})
afterEach(async () => {
  await kept.stop()
})

const rest = async (): Promise<string[]> => ((await (await fetch(`http://127.0.0.1:${port}/`)).json()) as { rest: string[] }).rest

describe('a program that the agent keeps, in time', () => {
  it('waits longer each time, and says its last words', async () => {
    const wanted = kept.wanted(port, { with: ['broken'], restart: { first_ms: 300, most_ms: 60_000 } })
    const failed = await kept.apply('one', wanted)
    expect(failed).toMatchObject({ applied: { result: 'failed', error: expect.stringContaining('cannot begin: no such thing') }, process: { exit_code: 3 } })
    const waiting = await kept.until('one', ({ process }) => process.state === 'waiting' && process.crashes >= 3)
    expect(new Date(waiting.process.next_start_at ?? 0).getTime() - new Date(waiting.process.ended_at ?? 0).getTime()).toBeGreaterThanOrEqual(1_100)
    expect(waiting.last_words).toEqual(['cannot begin: no such thing'])
  })

  it('tells that it is not well', async () => {
    const health_times = { every_ms: 200, timeout_ms: 400, failures: 2, start_ms: 5_000 }
    expect((await kept.apply('one', kept.wanted(port, { health: { kind: 'tcp', port }, health_times }))).applied?.result).toBe('kept')
    // By which answers it is well is told.
    const ill = kept.wanted(port, { with: ['ill'], health: { kind: 'http', port, status: [503] }, health_times })
    expect((await kept.apply('one', ill)).applied?.result).toBe('kept')
    // It does not answer any more.
    process.kill((await kept.state('one')).process.pid ?? 0, 'SIGSTOP')
    const now = await kept.until('one', (state) => state.health.state === 'unhealthy')
    expect(now).toMatchObject({ process: { state: 'running' }, health: { error: expect.stringContaining(`127.0.0.1:${port}`) as string } })
    process.kill(now.process.pid ?? 0, 'SIGCONT')
    await kept.until('one', (state) => state.health.state === 'healthy')
  })

  it('goes back from one that does not become well, and says why', async () => {
    await kept.apply('one', kept.wanted(port, { with: ['good'] }))
    const back = await kept.apply('one', kept.wanted(port, { with: ['ill'] }), 1_500)
    expect(back.applied).toMatchObject({ result: 'went_back', error: expect.stringContaining('HTTP 503') as string })
    await kept.until('one', ({ health }) => health.state === 'healthy')
    expect(await rest()).toEqual(['good'])
  })

  it('is decided also by an agent that was ended in the middle', async () => {
    await kept.apply('one', kept.wanted(port, { with: ['good'] }))
    const bad = kept.wanted(port, { with: ['ill'] })
    await kept.placed('one', bad)
    await kept.act('one', { action: 'apply', digest: kept.wantedOf(bad).digest, healthy_within_ms: 1_500 })
    await kept.until('one', ({ digest }) => digest === kept.wantedOf(bad).digest)
    await kept.anew()
    await kept.until('one', ({ applied, health }) => applied?.result === 'went_back' && health.state === 'healthy')
    expect(await rest()).toEqual(['good'])
  })
})

describe('what it says', () => {
  it('is at hand, followed, and kept within bounds', async () => {
    await kept.apply('one', kept.wanted(port, { log: { file_bytes: 4_096, files: 2 } }))
    const followed = kept.stream(`${keptPaths.log('one')}?tail=0&follow=true`)
    let heard = ''
    followed.on('data', (part: Buffer) => (heard += part.toString('utf8')))
    for (let n = 0; n < 3; n++) await fetch(`http://127.0.0.1:${port}/say?line-${n}`)
    await vi.waitFor(() => expect(heard).toBe('line-0\nline-1\nline-2\n'))
    followed.close()
    expect(await kept.log('one', 2)).toBe('line-1\nline-2\n')
    const long = 'x'.repeat(500)
    const log = join(kept.directory, 'kept/programs/one/log')
    for (let n = 0; n < 4; n++) {
      for (let m = 0; m < 10; m++) await fetch(`http://127.0.0.1:${port}/say?${long}-${n}-${m}`)
      await vi.waitFor(() => expect(statSync(join(log, 'out.log')).size).toBeLessThan(4_096))
    }
    expect(readdirSync(log).toSorted()).toEqual(['out.log', 'out.log.1'])
    // Across files: the end of what was said.
    const end = await kept.log('one', 12)
    expect(end.endsWith(`${long}-3-9\n`)).toBe(true)
    expect(statSync(join(log, 'out.log')).mode & 0o077).toBe(0)
  })
})
