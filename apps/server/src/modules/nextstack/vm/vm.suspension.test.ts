import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { networkStage, type NetworkStage } from '../vpc/testing.ts'
import { createVmSuspension } from './vm.suspension.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage()
})
afterAll(() => stage.app.close())

describe('of an instance', () => {
  it.each([
    ['running', false, false],
    ['running', true, true],
    ['paused', false, true],
  ] as const)('that is %s a stop that was tried before (%s) cuts the power: %s', async (status, again, force) => {
    const { id } = await stage.addPlainVm()
    const begun: unknown[] = []
    const begin = async (_: unknown, definition: { kind: string }, { input }: { input: unknown }) => {
      begun.push([definition.kind, input])
      return id
    }
    // Of both only what is asked here.
    const suspension = createVmSuspension(
      { operations: { begin } as never },
      { clouds: { forChange: async () => undefined as never }, operations: { stop: { kind: 'stop' }, start: { kind: 'start' } } as never },
    )
    // In one transaction, so that no observer sees what the engine does not have.
    await stage.app.platform.db.transaction().execute(async (tx) => {
      await tx.updateTable('vms').set({ status, observed: status }).where('id', '=', id).execute()
      expect(await suspension.running(tx, stage.owner.bp_id ?? '')).toContainEqual({ id, name: expect.any(String), passing: false })
      expect(await suspension.start(tx, id, null)).toBe('running')
      expect(await suspension.stop(tx, id, again)).toEqual({ operation_id: id, detail: null })
      expect(begun).toEqual([['stop', { force }]])
      expect(await suspension.stop(tx, id, again)).toBe(null)
      await tx.updateTable('vms').set({ status: 'running', observed: 'running' }).where('id', '=', id).execute()
    })
  })
})
