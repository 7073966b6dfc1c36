import { expect, it } from 'vitest'
import { sizeBetween, sizeBytes, sizeText } from './resource.ts'
import { volumes } from './nextstack/volume.ts'
import { limitOf } from './compute/project.ts'
import type { z } from 'zod'
import './validation.ts'

const said = (schema: z.ZodType, value: number) => schema.safeParse(value).error?.issues[0]?.message

it('the ends of a size are told as people type it, however far beyond something is', () => {
  expect(sizeBytes.safeParse(2 ** 50).success).toBe(true)
  for (const tooLarge of [2 ** 50 + 1, 1e30]) {
    for (const schema of [sizeBytes, volumes.grow.body.shape.size_bytes, limitOf('volume_bytes')]) expect(said(schema, tooLarge)).toBe('不能超过1 PB')
  }
  expect(said(sizeBytes, 0)).toBe('大小须大于0')
  expect(said(sizeBetween(6 * 2 ** 20, 2 ** 44), 5)).toBe('不能小于6 MB')
  expect(said(sizeBetween(6 * 2 ** 20, 2 ** 44), 2 ** 45)).toBe('不能超过16 TB')
  expect(said(sizeBetween(0), -1)).toBe('不能小于0 B')
})

it('a size is told in the largest unit of which it is at least one, and never as more than it is', () => {
  expect([0, 1023, 1536, 256 * 2 ** 20, 1.5 * 2 ** 30, 10 * 2 ** 30 - 1, 2 ** 60].map(sizeText)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KB',
    '256 MB',
    '1.5 GB',
    '9.99 GB',
    '1024 PB',
  ])
})
