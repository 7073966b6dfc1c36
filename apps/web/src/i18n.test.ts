import { afterEach, expect, it } from 'vitest'
import { i18n, useTranslation } from './i18n.ts'

afterEach(() => i18n.removeResourceBundle('zh', 'test'))

it('says the text of a key in its namespaces, with its places filled', () => {
  i18n.addResourceBundle('zh', 'test', { a: { b: '共 {{count}} 个：{{name}}{{none}}' }, quote: { 'vm.vcpu': 'CPU' } })
  const t = i18n.getFixedT('zh', ['order', 'test'] as never) as unknown as (key: string, values?: object) => string
  expect(t('a.b', { count: 0, name: '$& {{count}}' })).toBe('共 0 个：$& {{count}}')
  expect(t('quote.vm.vcpu')).toBe('CPU')
  expect((i18n.t as unknown as typeof t)('test:quote.vm.vcpu')).toBe('CPU')
  expect(t('shell:brand')).toBe(i18n.t('brand'))
})

it('says the default of what it does not know, else its key', () => {
  const t = i18n.t as unknown as (key: string, values?: object) => string
  expect(t('no.such', { defaultValue: '还没有 {{name}}', name: 'x' })).toBe('还没有 x')
  expect(t('no.such')).toBe('no.such')
  expect(t('nowhere:toString')).toBe('toString')
})

it('is the same function each time, so that nothing is made anew', () => {
  expect(useTranslation('kit').t).toBe(useTranslation('kit').t)
})
