import { randomUUID } from 'node:crypto'
import type { Call } from '@zhisuan/contract/define'
import { snapshots as vmSnapshots } from '@zhisuan/contract/nextstack/snapshot'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { volumeBackups, volumes, volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { call, send, type AnyInput } from '../../../testing/call.ts'
import { gib, storageStage, type StorageStage } from './testing.ts'

let stage: StorageStage
beforeAll(async () => {
  stage = await storageStage()
})
afterAll(() => stage.app.close())

/** The same choices each time, so that a failure can be repeated. */
function choices(seed: number): <T>(among: readonly T[]) => T {
  let state = seed
  return (among) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return among[Math.floor((state / 2 ** 31) * among.length)] ?? expect.fail('nothing to choose from')
  }
}

it('whatever is asked at once is done or refused, and the records end as the engine has it', async () => {
  const { app, cloud_id, owner, engine } = stage
  const { token } = owner
  const pick = choices(7)
  const machines = await Promise.all(Array.from({ length: 3 }, () => stage.addInstance()))
  const disks = await Promise.all(Array.from({ length: 5 }, () => stage.createVolume()))
  const then = await Promise.all(disks.map((volume) => stage.createSnapshot(volume)))
  const one = (declared: Call, id: string, body?: object): [Call, AnyInput] => [declared, { token, params: { id }, ...(body !== undefined && { body }) }]
  const requests: (() => [Call, AnyInput])[] = [
    () => one(volumes.attach, pick(disks).id, { vm_id: pick(machines).id, path: pick(['/a', '/b']) }),
    () => one(volumes.attach, pick(disks).id, { vm_id: pick(machines).id, path: pick(['/a', '/b']) }),
    () => one(volumes.detach, pick(disks).id, { force: true }),
    () => one(volumes.detach, pick(disks).id, {}),
    () => one(volumes.grow, pick(disks).id, { size_bytes: pick([1, 2, 3, 4, 5, 6]) * gib }),
    () => one(volumes.restore, pick(disks).id, { snapshot_id: pick(then).id }),
    () => one(volumes.delete, pick(disks).id),
    () => [volumeSnapshots.create, { token, body: { volume_id: pick(disks).id, name: `s-${randomUUID()}` } }],
    () => one(volumeSnapshots.delete, pick(then).id),
    () => [volumeBackups.create, { token, body: { volume_id: pick(disks).id, name: 'b' } }],
    () => [
      volumes.create,
      {
        token,
        body: {
          cloud_id,
          name: `c-${randomUUID()}`,
          size_bytes: 6 * gib,
          snapshot_id: pick(then).id,
          attach: { vm_id: pick(machines).id, path: pick(['/a', '/c']) },
        },
      },
    ],
    () => one(vms.stop, pick(machines).id, { force: true }),
    () => one(vms.start, pick(machines).id),
    () => [vmSnapshots.create, { token, body: { vm_id: pick(machines).id, name: `s-${randomUUID()}` } }],
    () => one(vms.delete, pick(machines.slice(0, 1)).id),
  ]
  const codes = new Set<number>()
  for (let round = 0; round < 8; round++) {
    const answers = await Promise.all(Array.from({ length: 25 }, () => send(app, ...pick(requests)())))
    for (const { status, body } of answers) {
      codes.add(status)
      expect(status, JSON.stringify(body)).toBeLessThan(500)
    }
  }
  // Not everything was refused.
  expect(codes).toContain(202)

  await vi.waitFor(
    async () => {
      const open = await stage.db.selectFrom('operations').select('id').where('status', 'in', ['queued', 'running', 'undoing']).execute()
      expect(open).toEqual([])
    },
    { interval: 50 },
  )
  await vi.waitFor(
    async () => {
      const { items } = await call(app, volumes.list, { token, query: { cloud_id, page_size: 1000 } })
      const there = new Map((await engine.direct.storage.volumes.list()).map((volume) => [volume.tags['volume_id'], volume]))
      for (const volume of items) {
        const on = there.get(volume.id)
        if (volume.status === 'error') expect(on).toBeUndefined()
        else {
          expect(volume.status).toBe((on?.attached.length ?? 0) > 0 ? 'in_use' : 'available')
          expect(volume.attached_to?.vm.id.replaceAll('-', '')).toBe(on?.attached[0]?.instance.slice(3))
          expect(volume.attached_to?.path).toBe(on?.attached[0]?.path ?? undefined)
          expect(volume.size_bytes).toBe(on?.sizeBytes)
        }
        there.delete(volume.id)
      }
      // Nothing on the engine that nobody has a record of.
      expect([...there.keys()]).toEqual([])
    },
    { interval: 50 },
  )
})
