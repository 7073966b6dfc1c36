import { expect, it } from 'vitest'

const sources: Readonly<Record<string, string>> = import.meta.glob(['../**/*.{ts,tsx}', '!../**/*.test.ts'], { query: '?raw', import: 'default', eager: true })
const found = (what: RegExp): readonly string[] => Object.entries(sources).flatMap(([file, code]) => (what.test(code) ? file : []))

// Else browsers say in their own words, and in English, what our rules say beside the field.
it('every form says itself what is wrong', () => {
  const forms = Object.entries(sources).flatMap(([file, code]) =>
    [...code.matchAll(/<(?:Form|form)(?:<\w+>)?(?=\s)(?!\s+known)[^>]*/g)].map(([opening]) => [file, opening] as const),
  )
  expect(forms.length).toBeGreaterThan(15)
  expect(forms.filter(([, opening]) => !opening.includes('noValidate')).map(([file]) => file)).toEqual([])
})

// Those of browsers differ from each other, and speak the browser's language.
it('days and moments are chosen in one calendar', () => {
  expect(found(/type="(?:date|datetime-local|time|month|week)"/)).toEqual([])
  expect(found(/from 'antd\/es\/(?:date-picker|time-picker)'/)).toEqual(['./dates.tsx'])
})

// antd sets a number to its end and rounds it, and a browser cuts off what is too long: what was meant is gone, and nobody was told.
it('no field changes what was typed: rules refuse it', () => {
  expect(found(/from 'antd\/es\/input-number'/)).toEqual(['./NumberInput.tsx'])
  expect(found(/\bprecision=\{|<NumberInput<|changeOnBlur/)).toEqual([])
  expect(found(/\bmaxLength=\{/)).toEqual([])
  expect(found(/\bnormalize=\{|\bgetValueFromEvent=\{/)).toEqual([])
})
