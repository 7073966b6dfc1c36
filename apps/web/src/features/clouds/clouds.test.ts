import '@zhisuan/contract/validation'
import { cloudCan, cloudStatuses, parseCloudLabel } from '@zhisuan/contract/cmp/cloud'
import { describe, expect, it } from 'vitest'
import { i18n } from '../../i18n.ts'
import shell from '../../locales/zh/shell.ts'
import { cloudMoves, shareOf, whyNot, type CloudMove } from './cloudRules.ts'
import { newLabel, readLabel, writeLabel, wrongWith } from './labels.ts'

describe('moving a cloud', () => {
  it('is allowed exactly where the contract allows it, and says why not', () => {
    const t = i18n.getFixedT<['clouds', 'shell']>('zh', ['clouds', 'shell'])
    // Object.keys loses the key type.
    for (const move of Object.keys(cloudMoves) as CloudMove[]) {
      for (const status of cloudStatuses) {
        const reason = whyNot(t, move, { status })
        if ((cloudCan[move] as readonly string[]).includes(status)) expect(reason).toBeNull()
        else expect(reason).toContain(shell.cloud.status[status])
      }
    }
  })
})

describe('labels', () => {
  it('are written as the contract reads them, without what is empty', () => {
    const text = writeLabel({ label: '生产', textColor: '#fff', bgColor: '', imgUrl: ' ' })
    expect(text).toBe('{"label":"生产","textColor":"#fff"}')
    expect(parseCloudLabel(text)).toEqual({ label: '生产', textColor: '#fff' })
    expect(readLabel(text)).toEqual({ label: '生产', textColor: '#fff' })
  })
  it('can be edited while they are not finished', () => {
    const text = writeLabel(newLabel)
    expect(readLabel(text)).toEqual(newLabel)
    expect(wrongWith(text)?.field).toBe('label')
    expect(wrongWith(writeLabel({ ...newLabel, label: 'x', imgUrl: 'javascript:1' }))?.field).toBe('imgUrl')
    expect(wrongWith(writeLabel({ ...newLabel, label: 'x' }))).toBeNull()
  })
  it('that are none are not lost', () => {
    expect(readLabel('plain text')).toBeNull()
    expect(readLabel('[1]')).toBeNull()
    expect(wrongWith('plain text')).not.toBeNull()
  })
})

describe('shareOf', () => {
  it('is between 0 and 1', () => {
    expect(shareOf({ used: 1, total: 4 })).toBe(0.25)
    expect(shareOf({ used: 9, total: 4 })).toBe(1)
    expect(shareOf({ used: 0, total: 0 })).toBeNull()
  })
})
