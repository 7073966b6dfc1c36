import { allCalls } from '@zhisuan/contract/calls'
import compile from 'fast-json-stringify'
import { expect, it } from 'vitest'
import { serializerSchema } from './schema.ts'

// The server compiles each when its call first answers: here all of them.
it('every declared answer can be written', () => {
  for (const { id, response } of allCalls) expect(() => compile(serializerSchema(response)), id).not.toThrow()
})
