import { expect, it } from 'vitest'
import { z } from 'zod'
import { limitsOf, refusing, wholeBetween, wrongWith } from './rules.ts'

it('a text has the length that its schema ends it at, also where it may be left out', () => {
  expect(limitsOf(z.string().trim().min(1).max(64))).toEqual({ maxLength: 64 })
  expect(limitsOf(z.string().max(255).optional())).toEqual({ maxLength: 255 })
  expect(limitsOf(z.string().max(255).nullable().default(null))).toEqual({ maxLength: 255 })
  expect(limitsOf(z.string())).toEqual({})
})

it('a number has the ends that its schema names, and not those of whole numbers', () => {
  expect(limitsOf(z.int().min(1).max(65_535))).toEqual({ min: 1, max: 65_535 })
  expect(limitsOf(z.int().min(0).nullable())).toEqual({ min: 0 })
  expect(limitsOf(z.int())).toEqual({})
})

it('what is neither has none', () => {
  expect(limitsOf(undefined)).toEqual({})
  expect(limitsOf(z.boolean())).toEqual({})
  expect(limitsOf(z.array(z.string().max(3)))).toEqual({})
})

it('a schema says in its own words what is wrong first', () => {
  const schema = z.array(z.string().max(2, 'too long')).max(1, 'too many')
  expect(wrongWith(schema, ['a'])).toBeNull()
  expect(wrongWith(schema, ['abc'])).toBe('too long')
})

it('a rule of a form refuses with the text that it finds, and only then', async () => {
  const judge = (value: number) => refusing((typed: number) => typed > 3 && 'too much').validator?.({}, value, () => undefined)
  await expect(judge(3)).resolves.toBeUndefined()
  await expect(judge(4)).rejects.toThrow('too much')
})

it('a number without a schema is whole and between its ends, or nothing yet', async () => {
  const judge = (value: number | null) => wholeBetween({ min: 1, max: 200 }).validator?.({}, value, () => undefined)
  for (const value of [null, 1, 200]) await expect(judge(value)).resolves.toBeUndefined()
  await expect(judge(1.5)).rejects.toThrow('请输入整数')
  await expect(judge(0)).rejects.toThrow('不能小于1')
  await expect(judge(201)).rejects.toThrow('不能大于200')
})
