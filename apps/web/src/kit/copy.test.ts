import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { toastStore } from '../api/notify.ts'
import { addTexts } from '../i18n.ts'
import texts from '../locales/zh/kit.ts'
import { copyText } from './copy.ts'

const clipboard = { writeText: vi.fn<(text: string) => Promise<void>>() }
beforeEach(() => {
  addTexts('kit', texts)
  vi.useFakeTimers()
  vi.stubGlobal('navigator', { clipboard })
})
afterEach(() => {
  for (const { id } of toastStore.read()) toastStore.dismiss(id)
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('what was copied is told for 2,500 ms', async () => {
  clipboard.writeText.mockResolvedValue()
  await copyText('10.0.0.5')
  expect(clipboard.writeText).toHaveBeenCalledExactlyOnceWith('10.0.0.5')
  expect(toastStore.read()).toMatchObject([{ tone: 'success', text: texts.copy.done }])
  vi.advanceTimersByTime(2_499)
  expect(toastStore.read()).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(toastStore.read()).toEqual([])
})
