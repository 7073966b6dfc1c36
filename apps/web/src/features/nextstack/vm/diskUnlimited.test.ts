import { expect, it } from 'vitest'
import { isDiskUnlimited } from './diskUnlimited.ts'

const pool = (name: string, enforces_size: boolean) => ({ name, enforces_size })

it('warns of a disk that its pool does not limit, where containers go, and of no other', () => {
  expect(isDiskUnlimited('container', [pool('a', true), pool('default', false)])).toBe(true)
  expect(isDiskUnlimited('container', [pool('a', false), pool('default', true)])).toBe(false)
  expect(isDiskUnlimited('container', [pool('a', false), pool('b', true)])).toBe(true)
  expect(isDiskUnlimited('vm', [pool('default', false)])).toBe(false)
  expect(isDiskUnlimited('container', [])).toBe(false)
  expect(isDiskUnlimited(undefined, [pool('default', false)])).toBe(false)
})
