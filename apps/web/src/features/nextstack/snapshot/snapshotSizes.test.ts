import { expect, it } from 'vitest'
import { tellsSnapshotSizes } from './snapshotSizes.ts'

const pool = (name: string, enforces_size: boolean) => ({ name, enforces_size })

it('snapshots of instances in folders have no size, and so no price; of others they have', () => {
  expect(tellsSnapshotSizes([pool('default', false), pool('ssd', true)])).toBe(false)
  expect(tellsSnapshotSizes([pool('ssd', false), pool('default', true)])).toBe(true)
  expect(tellsSnapshotSizes([pool('ssd', true)])).toBe(true)
  expect([tellsSnapshotSizes([]), tellsSnapshotSizes(undefined)]).toEqual([null, null])
})
