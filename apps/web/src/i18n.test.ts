import { expect, it } from 'vitest'
import { addTexts, textsOf, translate, useTranslation } from './i18n.ts'

it('says the text of a key in its namespaces, with its places filled', () => {
  addTexts('test', { a: { b: '共 {{count}} 个：{{name}}{{none}}' }, quote: { 'vm.vcpu': 'CPU' } })
  const t = textsOf(['order', 'test'] as never) as unknown as (key: string, values?: object) => string
  expect(t('a.b', { count: 0, name: '$& {{count}}' })).toBe('共 0 个：$& {{count}}')
  expect(t('quote.vm.vcpu')).toBe('CPU')
  expect((translate as unknown as typeof t)('test:quote.vm.vcpu')).toBe('CPU')
  expect(t('shell:brand')).toBe(translate('brand'))
})

it('says the default of what it does not know, else its key', () => {
  const t = translate as unknown as (key: string, values?: object) => string
  expect(t('no.such', { defaultValue: '还没有 {{name}}', name: 'x' })).toBe('还没有 x')
  expect(t('no.such')).toBe('no.such')
  expect(t('nowhere:toString')).toBe('toString')
})

it('is the same function each time, so that nothing is made anew', () => {
  expect(useTranslation('kit').t).toBe(useTranslation('kit').t)
})
