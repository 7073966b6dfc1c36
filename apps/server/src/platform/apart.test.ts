import { afterAll, describe, expect, it } from 'vitest'
import type { tasks } from '../testing/apart.tasks.ts'
import { longestHold } from '../testing/loop.ts'
import { createApart } from './apart.ts'

const module = new URL('../testing/apart.process.ts', import.meta.url)

describe('work apart', () => {
  const apart = createApart<typeof tasks>(module, { limitMs: 300, waitingMax: 3, memoryMb: 48 })
  afterAll(() => apart.close())

  it('answers in the order in which it was asked, and refuses and fails as it does', async () => {
    expect(await Promise.all([apart.ask('double', 1), apart.ask('double', 2)])).toEqual([2, 4])
    await expect(apart.ask('refuse', 'compose')).rejects.toMatchObject({
      refusal: 'composeInvalid',
      message: '编排文件第3行：x',
      fields: [{ field: 'compose', message: '编排文件第3行：x' }],
    })
    await expect(apart.ask('fail', 'so it is')).rejects.toThrow('so it is')
  })

  it('that does not end is ended, keeps nobody waiting meanwhile, and the next is done', async () => {
    let ended: Promise<unknown>[] = []
    const held = await longestHold(async () => {
      ended = [apart.ask('endless', undefined).catch((error: unknown) => error), apart.ask('double', 3)]
      await Promise.all(ended)
    })
    expect(await ended[0]).toMatchObject({ refusal: 'tookTooLong' })
    expect(await ended[1]).toBe(6)
    expect(held).toBeLessThan(250)
  })

  it('that takes all the memory that it may have is ended, too', async () => {
    const patient = createApart<typeof tasks>(module, { limitMs: 60_000, memoryMb: 48 })
    await expect(patient.ask('hoard', undefined)).rejects.toMatchObject({ refusal: 'tookTooLong' })
    expect(await patient.ask('double', 4)).toBe(8)
    patient.close()
  })

  it('is refused where too many wait', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 6 }, (_, one) => apart.ask('double', one)))
    expect(answers.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { refusal: 'tooMuchAtOnce' } },
      { reason: { refusal: 'tooMuchAtOnce' } },
    ])
  })

  it('is still done after the server stops, for what goes on', async () => {
    const stopping = createApart<typeof tasks>(module)
    const last = stopping.ask('double', 5)
    stopping.close()
    expect(await last).toBe(10)
    expect(await stopping.ask('double', 6)).toBe(12)
  })
})
