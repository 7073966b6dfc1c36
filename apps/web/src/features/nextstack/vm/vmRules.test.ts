import { errors } from '@zhisuan/contract/errors'
import { vmCan, vmStatuses, vmTransitional } from '@zhisuan/contract/nextstack/vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { i18n } from '../../../i18n.ts'
import messages from '../../../locales/zh/nextstack.ts'
import { isPassing, refreshMsOf, vmActions, vmTones, whyNot, type VmActionName } from './vmRules.ts'

beforeAll(() => void i18n.addResourceBundle('zh', 'nextstack', messages))
const t = i18n.getFixedT('zh', 'nextstack')
const active = { status: 'active' } as const
// Object.keys loses the key type.
const names = Object.keys(vmActions) as VmActionName[]

describe('whyNot', () => {
  it('allows exactly what the contract allows', () => {
    for (const status of vmStatuses) {
      for (const action of names) {
        const may = (vmCan[vmActions[action].rule] as readonly string[]).includes(status)
        expect(whyNot(t, action, { status }, active) === null, `${action} while ${status}`).toBe(may)
      }
    }
  })
  it('names the state that forbids it', () => {
    expect(whyNot(t, 'start', { status: 'running' }, active)).toContain('运行中')
    expect(whyNot(t, 'delete', { status: 'resizing' }, active)).toBe('调整中，请等待完成')
  })
  it('refuses changes in maintenance, but not looking on', () => {
    const maintenance = { status: 'maintenance' } as const
    expect(whyNot(t, 'stop', { status: 'running' }, maintenance)).toBe(errors.cloudMaintenance.text)
    expect(whyNot(t, 'terminal', { status: 'running' }, maintenance)).toBeNull()
    expect(whyNot(t, 'rename', { status: 'running' }, maintenance)).toBeNull()
  })
  it('refuses everything on an offline cloud but what only the platform knows', () => {
    const offline = { status: 'offline' } as const
    expect(whyNot(t, 'delete', { status: 'stopped' }, offline)).toBe(errors.cloudOffline.text)
    expect(whyNot(t, 'terminal', { status: 'running' }, offline)).toBe(errors.cloudOffline.text)
    expect(whyNot(t, 'rename', { status: 'stopped' }, offline)).toBeNull()
  })
  it('does not judge a cloud that it does not know', () => {
    expect(whyNot(t, 'stop', { status: 'running' }, null)).toBeNull()
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
    expect(refreshMsOf([])).toBe(5_000)
    expect(refreshMsOf([{ status: 'running' }, { status: 'stopped' }])).toBe(5_000)
    expect(refreshMsOf([{ status: 'running' }, { status: 'deleting' }])).toBe(1_000)
  })
})
