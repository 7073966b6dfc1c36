import { labels, taints, upgradeStatuses } from '@zhisuan/contract/ecrm/edge'
import { describe, expect, it } from 'vitest'
import { whilePassing } from '../../kit/whilePassing.ts'
import { wrongWith } from '../../kit/rules.ts'
import { isUpgrading, labelText, onlyHere, readLabel, readTaint, taintText, upgradeNames } from './edgeRules.ts'

describe('labels', () => {
  it.each([
    ['zone=a', { key: 'zone', value: 'a' }],
    ['gpu', { key: 'gpu', value: '' }],
    ['a=b=c', { key: 'a', value: 'b=c' }],
    [' zone = a ', { key: 'zone', value: 'a' }],
  ])('%s is read', (text, label) => expect(readLabel(text)).toEqual(label))

  it('are written as they are read', () => {
    for (const text of ['zone=a', 'gpu']) expect(labelText(readLabel(text))).toBe(text)
  })
})

describe('taints', () => {
  it('keep new containers away where no effect is said', () => {
    expect(readTaint('gpu=only')).toEqual({ key: 'gpu', value: 'only', effect: 'NoSchedule' })
  })
  it('are written as they are read', () => {
    for (const text of ['gpu=only:PreferNoSchedule', 'old:NoSchedule']) expect(taintText(readTaint(text))).toBe(text)
  })
  it('leave an unknown effect in the value, which is then refused', () => {
    expect(wrongWith(taints, [readTaint('gpu=only:Never')])).not.toBeNull()
    expect(wrongWith(taints, [readTaint('gpu=only:NoSchedule')])).toBeNull()
  })
})

describe('wrongWith', () => {
  it('refuses a key twice and characters that no label has', () => {
    expect(wrongWith(labels, [readLabel('a=1'), readLabel('a=2')])).not.toBeNull()
    expect(wrongWith(labels, [readLabel('区=甲')])).not.toBeNull()
    expect(wrongWith(labels, [readLabel('a=1'), readLabel('b')])).toBeNull()
  })
})

describe('upgrades', () => {
  const at = (status: keyof typeof upgradeNames) => ({ upgrade: { status, from: '1.0.0', to: '1.1.0', error: null, changed_at: '2026-01-01T00:00:00Z' } })

  it('are called as the contract calls them', () => {
    expect(Object.fromEntries(Object.entries(upgradeNames).map(([status, name]) => [name, Number(status)]))).toEqual(upgradeStatuses)
  })
  it('are over when they are complete, have failed, or wait for somebody', () => {
    expect(([1, 2, 3, 5] as const).map((status) => isUpgrading(at(status)))).toEqual([true, true, true, true])
    expect(([4, 20, 40] as const).map((status) => isUpgrading(at(status)))).toEqual([false, false, false])
    expect(isUpgrading({ upgrade: null })).toBe(false)
  })
  it('are looked at once a second', () => {
    expect(whilePassing([{ upgrade: null }, at(2)], isUpgrading)).toBe(1_000)
    expect(whilePassing([{ upgrade: null }, at(40)], isUpgrading)).toBe(5_000)
  })
})

describe('onlyHere', () => {
  const urlOf = (server: string) => ({ url: `zhisuan://enrol?${new URLSearchParams({ server, token: 't', key: 'k' })}` })
  it.each(['http://127.0.0.1:8080', 'http://localhost', 'http://[::1]:8080'])('%s is an address that nodes elsewhere do not reach', (server) =>
    expect(onlyHere(urlOf(server))).toBe(true),
  )
  it.each(['https://cloud.example.com', 'http://10.0.0.5:8080', 'http://localhost.example.com'])('%s is not', (server) =>
    expect(onlyHere(urlOf(server))).toBe(false),
  )
  it('says nothing about what it cannot read', () => expect(onlyHere({ url: 'nothing' })).toBe(false))
})
