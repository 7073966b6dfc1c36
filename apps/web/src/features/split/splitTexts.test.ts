import { terms } from '@zhisuan/contract/split/contract'
import { expect, it } from 'vitest'
import { noTerms, termsOf, termsValues } from './splitTexts.ts'

it('terms go through the form unchanged', () => {
  const written = terms.parse(
    termsOf({ ...noTerms, agents: [{ name: '渠道' }], steps: [{ above: '0', parts: ['30', '69.5', '0.5'] }], floor: '100' }, '平台', '某某'),
  )
  expect(written.steps).toEqual([{ above: '0', parts: [300_000, 695_000, 5_000] }])
  expect(terms.parse(termsOf(termsValues(written), '平台', '某某'))).toEqual(written)
})
