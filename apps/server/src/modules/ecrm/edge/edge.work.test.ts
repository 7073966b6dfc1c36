import { EngineError } from '@zhisuan/engines/errors'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import { AgentError } from '../../../platform/tunnel/tunnel.ts'
import type { ReachedEdge } from './edge.reach.ts'
import { workOnNode } from './edge.work.ts'

/** Of the node only its name is read. */
const edge = { row: { name: '节点一' } } as ReachedEdge
const { signal } = new AbortController()
const says = (refusal: string) => ({ refusal })

/** Nobody is waited for as long as they are. */
function hurried(): void {
  let ahead = 0
  const now = Date.now.bind(Date)
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + (ahead += 20_000))
  onTestFinished(() => spy.mockRestore())
}

it('says that nobody knows, where a change was sent and the node was gone after it', async () => {
  hurried()
  for (const error of [new EngineError('unanswered', 'x'), new AgentError('unanswered', 'x')]) {
    let tries = 0
    const reach = async () => {
      if (tries > 0) throw new Refusal('edgeOffline', { values: { name: '节点一' } })
      return edge
    }
    const work = async () => {
      tries++
      throw error
    }
    await expect(workOnNode(reach, 'e', signal, work)).rejects.toMatchObject(says('outcomeUnknown'))
    expect(tries).toBe(1)
  }
})

it('tries again what was not answered, and says that nobody knows also where Docker is gone at last', async () => {
  hurried()
  let tries = 0
  const unreachable = new EngineError('unreachable', 'docker: connect ENOENT')
  const first = async () => {
    throw tries++ === 0 ? new EngineError('unanswered', 'x') : unreachable
  }
  await expect(workOnNode(async () => edge, 'e', signal, first)).rejects.toMatchObject(says('outcomeUnknown'))
  expect(tries).toBe(5)
  const never = async () => {
    throw unreachable
  }
  await expect(workOnNode(async () => edge, 'e', signal, never)).rejects.toMatchObject(says('dockerUnavailable'))
  let asked = 0
  const late = async () => {
    if (asked++ === 0) throw new AgentError('unanswered', 'x')
    return 'done'
  }
  expect(await workOnNode(async () => edge, 'e', signal, late)).toBe('done')
})
