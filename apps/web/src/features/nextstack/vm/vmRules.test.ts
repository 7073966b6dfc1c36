import { errors } from '@zhisuan/contract/errors'
import { vmCan, vmStatuses, vmTransitional, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { addTexts, textsOf } from '../../../i18n.ts'
import messages from '../../../locales/zh/nextstack.ts'
import { isPassing, vmActions, vmTones, whyNotVm, type VmActionName, isChanging } from './vmRules.ts'

beforeAll(() => void addTexts('nextstack', messages))
const t = textsOf('nextstack')
const active = { status: 'active' } as const
const at = (status: VmStatus, operation_id: string | null = null) => ({ status, operation_id })
// Object.keys loses the key type.
const names = Object.keys(vmActions) as VmActionName[]

describe('whyNotVm', () => {
  it('allows exactly what the contract allows', () => {
    for (const status of vmStatuses) {
      for (const action of names) {
        const may = (vmCan[vmActions[action].rule] as readonly string[]).includes(status)
        expect(whyNotVm(t, action, at(status), active) === null, `${action} while ${status}`).toBe(may)
      }
    }
  })
  it('names the state that forbids it', () => {
    expect(whyNotVm(t, 'start', at('running'), active)).toContain('运行中')
    expect(whyNotVm(t, 'delete', at('resizing'), active)).toBe('调整中，请等待完成')
  })
  it('refuses changes in maintenance, but not looking on', () => {
    const maintenance = { status: 'maintenance' } as const
    expect(whyNotVm(t, 'stop', at('running'), maintenance)).toBe(errors.cloudMaintenance.text)
    expect(whyNotVm(t, 'terminal', at('running'), maintenance)).toBeNull()
    expect(whyNotVm(t, 'rename', at('running'), maintenance)).toBeNull()
  })
  it('refuses everything on an offline cloud but what only the platform knows', () => {
    const offline = { status: 'offline' } as const
    expect(whyNotVm(t, 'delete', at('stopped'), offline)).toBe(errors.cloudOffline.text)
    expect(whyNotVm(t, 'terminal', at('running'), offline)).toBe(errors.cloudOffline.text)
    expect(whyNotVm(t, 'rename', at('stopped'), offline)).toBeNull()
  })
  it('refuses what would begin a second operation, and nothing else, while one runs beside the status', () => {
    const busy = at('running', 'an operation')
    expect(whyNotVm(t, 'stop', busy, active)).toBe(errors.operationRunning.text)
    expect(whyNotVm(t, 'snapshot', busy, active)).toBe(errors.operationRunning.text)
    for (const action of ['terminal', 'rename', 'groups'] as const) expect(whyNotVm(t, action, busy, active)).toBeNull()
  })
  it('does not judge a cloud that it does not know', () => {
    expect(whyNotVm(t, 'stop', at('running'), null)).toBeNull()
  })
})

describe('statuses', () => {
  it('each have a look and a name, and those that pass look busy', () => {
    for (const status of vmStatuses) {
      expect(messages.status[status]).toBeTruthy()
      expect(vmTones[status] === 'busy').toBe(vmTransitional.includes(status))
      expect(isPassing({ status })).toBe(vmTransitional.includes(status))
    }
  })
  it('are looked at more often while something passes', () => {
    expect(whilePassing([], isChanging)).toBe(5_000)
    expect(whilePassing([at('running'), at('stopped')], isChanging)).toBe(5_000)
    expect(whilePassing([at('running'), at('deleting')], isChanging)).toBe(1_000)
    expect(whilePassing([at('running', 'an operation')], isChanging)).toBe(1_000)
  })
})
