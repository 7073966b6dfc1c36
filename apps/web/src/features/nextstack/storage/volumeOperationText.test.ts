import { volumeBackups, volumes, volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { beforeAll, expect, it } from 'vitest'
import { addTexts, textsOf } from '../../../i18n.ts'
import messages from '../../../locales/zh/storage.ts'
import { volumeOperationTexts } from './volumeOperationText.ts'

beforeAll(() => void addTexts('storage', messages))
const texts = volumeOperationTexts(textsOf('storage'))

it('names every operation that a call begins', () => {
  for (const call of [volumes.create, volumes.attach, volumes.detach, volumes.grow, volumes.restore, volumes.delete])
    expect(texts.what(call.id), call.id).not.toBe(messages.operation.kind.other)
  expect(texts.what('nextstack.volume.detach')).toBe('卸载')
})

it('tells what is done to snapshots and backups from what is done to the volume', () => {
  for (const call of [volumeSnapshots.create, volumeSnapshots.delete, volumeBackups.create, volumeBackups.delete]) {
    const known: readonly string[] = Object.values(messages.operation.part)
    expect(known, call.id).toContain(texts.what(call.id))
  }
  expect(texts.what('nextstack.volumeSnapshot.create')).toBe('创建快照')
  expect(texts.step('nextstack.volumeBackup.create', 'write')).toBe('创建备份')
  expect(texts.step('nextstack.volumeBackup.create', 'observe')).toBe('核对结果')
})

it('says something of what it does not know yet', () => {
  expect(texts.what('nextstack.volume.migrate')).toBe(messages.operation.kind.other)
  expect(texts.step('nextstack.volume.create', 'toString')).toBe(messages.operation.step.other)
  expect(texts.step('nextstack.volume.create', 'observe')).toBe('核对结果')
})
