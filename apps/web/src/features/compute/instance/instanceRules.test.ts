import { instanceCan, instanceStates, instanceTransitional, type InstanceAction } from '@zhisuan/contract/compute/instance'
import type { TFunction } from 'i18next'
import { describe, expect, it } from 'vitest'
import messages from '../../../locales/zh/computeInstance.ts'
import { codeText, toneOf, whyNotInstance } from './instanceRules.ts'

/** As the keys stand in the messages. */
const t = ((key: string): string =>
  String(key.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], messages))) as unknown as TFunction<'computeInstance'>
const active = { status: 'active' } as const
const actions = Object.keys(instanceCan) as InstanceAction[]

describe('what may be done to an instance', () => {
  it('is what the contract says, in each state', () => {
    for (const state of instanceStates) {
      for (const action of actions)
        expect(whyNotInstance(t, action, { state, locked: false }, active) === null, `${action} ${state}`).toBe(
          (instanceCan[action] as readonly string[]).includes(state),
        )
    }
  })
  it('is little where it is locked, and its reason says so', () => {
    expect(whyNotInstance(t, 'stop', { state: 'running', locked: true }, active)).toBe('实例已锁定，请先解锁')
    expect(whyNotInstance(t, 'recycle', { state: 'running', locked: true }, active)).toBe('实例已锁定，请先解锁')
    expect(whyNotInstance(t, 'unlock', { state: 'running', locked: true }, active)).toBeNull()
    expect(whyNotInstance(t, 'console', { state: 'running', locked: true }, active)).toBeNull()
  })
  it('changes nothing on a cloud in maintenance, but can be looked at', () => {
    expect(whyNotInstance(t, 'start', { state: 'stopped', locked: false }, { status: 'maintenance' })).not.toBeNull()
    expect(whyNotInstance(t, 'consoleLog', { state: 'running', locked: false }, { status: 'maintenance' })).toBeNull()
  })
})

describe('how a state looks', () => {
  it('moves while something passes, and has its words', () => {
    for (const state of instanceStates) {
      expect(toneOf(state) === 'busy', state).toBe(instanceTransitional.includes(state))
      expect(messages.state[state]).toMatch(/./)
    }
  })
  it('has the text of section 4 for its code: 10 to 13 are a dash, what nobody knows is unknown', () => {
    expect([0, 1, 2, 3, 4, 5].map((code) => codeText(t, code))).toEqual(['创建中', '运行', '创建失败', '删除中', '已删除', '删除失败'])
    expect([6, 7, 8, 9].map((code) => codeText(t, code))).toEqual(['创建中', '创建失败', '删除中', '删除失败'])
    expect([10, 11, 12, 13].map((code) => codeText(t, code))).toEqual([null, null, null, null])
    expect([14, 99, -1].map((code) => codeText(t, code))).toEqual(['未知', '未知', '未知'])
  })
})
