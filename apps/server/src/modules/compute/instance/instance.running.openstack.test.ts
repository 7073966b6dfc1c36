import { computeInstances as calls } from '@zhisuan/contract/compute/instance'
import { errors } from '@zhisuan/contract/errors'
import { expect, it } from 'vitest'
import { describeStates } from './instance.statesTesting.ts'

describeStates('what may be done to an instance that runs', '10.81.0', (walk) => {
  it.concurrent('Nova does what the table allows, and is not asked for the rest', () => walk.walks('running'))

  it.concurrent('locked: what the table allows Nova does, all else it is asked for in vain', () => walk.walksLocked())

  it.concurrent('creating: it is deleted before it is there', async () => walk.gone(await walk.make()))

  it.concurrent('of those who ask for two things at once, each is answered as the state is then', async () => {
    const id = await walk.started('running')
    const answers = await Promise.all([walk.ask(calls.stop, id), walk.ask(calls.pause, id), walk.ask(calls.suspend, id)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409])
    for (const { status, body } of answers)
      if (status === 409) expect([errors.instanceNotNow.code, errors.operationRunning.code]).toContain((body as { code: number }).code)
    await walk.gone(id)
  })
})
