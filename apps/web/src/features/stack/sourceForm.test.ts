import type { StackRevision } from '@zhisuan/contract/aos/stack'
import { describe, expect, it } from 'vitest'
import { blankSource, changedValues, changeOf, sourceFrom, sourceOf, undescribed, valuesFor, wholeFiles } from './sourceForm.ts'

const id = '0193f0a0-0000-7000-8000-000000000001'
const compose = 'services: {}\n'
const variables = undescribed(['TAG', 'DB_PASSWORD'])
const before: StackRevision = {
  revision: 3,
  compose,
  values: { TAG: '1', DB_PASSWORD: 'x' },
  configs: [],
  template: { id, name: 't', version: '1.0' },
  created_by: 'a',
  created_at: '2026-01-01T00:00:00Z',
}

describe('where an application comes from', () => {
  it('is a version of a template, or a file', () => {
    const values = { ...blankSource, template_id: id, compose, values: { TAG: '2', OTHER: 'x' }, configs: [{ config_id: id, path: 'a' }, { path: 'b' }] }
    expect(sourceOf(values, variables)).toEqual({ template_id: id, values: { TAG: '2' }, configs: [{ config_id: id, path: 'a' }] })
    expect(sourceOf({ ...values, source: 'compose' }, variables)).toEqual({ compose, values: { TAG: '2' }, configs: [{ config_id: id, path: 'a' }] })
  })

  it('stays what it was where only values change', () => {
    const values = { ...sourceFrom({ ...before, template: null }), values: { TAG: '2', DB_PASSWORD: 'x' } }
    expect(changeOf(values, variables, before)).toEqual({ values: { TAG: '2', DB_PASSWORD: 'x' }, configs: [] })
    expect(changeOf({ ...values, compose: 'services: { a: {} }\n' }, variables, before)).toMatchObject({ compose: 'services: { a: {} }\n' })
    expect(changeOf({ ...sourceFrom(before) }, variables, before)).toMatchObject({ template_id: id })
  })

  it('hides what sounds secret', () => {
    expect(undescribed(['DB_PASSWORD', 'API_KEY', 'ACCESS_TOKEN', 'TAG', 'PATH_PREFIX']).map(({ type }) => type)).toEqual([
      'password',
      'password',
      'password',
      'text',
      'text',
    ])
  })
})

describe('values', () => {
  it('that are empty are left to the file, but taken from what had one', () => {
    expect(valuesFor(variables, { TAG: '', DB_PASSWORD: '' })).toEqual({})
    expect(valuesFor(variables, { TAG: '', DB_PASSWORD: '' }, { TAG: '1' })).toEqual({ TAG: '' })
  })

  it('differ by what they are, not by how nothing is said', () => {
    expect(changedValues({ A: '1', B: '', C: 'x' }, { A: '2', B: undefined, D: 'y' })).toEqual([
      { name: 'A', before: '1', after: '2' },
      { name: 'C', before: 'x', after: null },
      { name: 'D', before: null, after: 'y' },
    ])
  })
})

it('files count once they have a config and a path', () => {
  expect(wholeFiles([{ path: 'a' }, { config_id: id, path: '' }, { config_id: id, path: 'c' }])).toEqual([{ config_id: id, path: 'c' }])
})
