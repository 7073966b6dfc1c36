import { EngineError } from '@zhisuan/engines/errors'
import { expect, it } from 'vitest'
import { settled } from './settled.ts'

const fails = (kind: 'unanswered' | 'unreachable') => Promise.reject(new EngineError(kind, 'no answer'))
const unused = async () => expect.fail('nobody looks')

it('a change that is answered, or refused, is not looked for', async () => {
  expect(await settled(Promise.resolve('made'), unused)).toBe('made')
  await expect(settled(fails('unreachable'), unused)).rejects.toMatchObject({ kind: 'unreachable' })
})

it('a change that no answer came to is what the cloud says of it, and unknown where that says nothing', async () => {
  const seen = [null, 'made']
  const look = async () => {
    const one = seen.shift()
    // That it cannot be seen now says nothing of it.
    if (one === undefined) throw new EngineError('unreachable', 'no answer')
    return one
  }
  expect(await settled(fails('unanswered'), look)).toBe('made')
  await expect(settled(fails('unanswered'), look, 0)).rejects.toMatchObject({ kind: 'unanswered' })
})
