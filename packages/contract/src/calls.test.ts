import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allCalls } from './calls.ts'
import { description, keyword, passwordNew, passwordOld, passwordTyped } from './validation.ts'

/** The texts that a schema takes, each with its path. */
function texts(schema: unknown, path = ''): { path: string; schema: z.ZodType }[] {
  const inside = (part: unknown, name: string) => texts(part, path === '' ? name : `${path}.${name}`)
  if (schema instanceof z.ZodObject) return Object.entries(schema.shape).flatMap(([name, part]) => inside(part, name))
  if (schema instanceof z.ZodArray) return inside(schema.element, '0')
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((part) => texts(part, path))
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return texts(schema.unwrap(), path)
  // A text that goes on to further rules.
  if (schema instanceof z.ZodPipe) return texts(schema.in, path).map((text) => (text.schema === schema.in ? { path, schema } : text))
  return schema instanceof z.ZodString ? [{ path, schema }] : []
}

describe('the calls', () => {
  it('have an id and an address of their own', () => {
    expect(new Set(allCalls.map(({ id }) => id)).size).toBe(allCalls.length)
    expect(new Set(allCalls.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)).size).toBe(allCalls.length)
    for (const { id } of allCalls) expect(id).toMatch(/^[a-z]+\.[a-z][a-zA-Z]*\.[a-z][a-zA-Z]*$/)
  })

  const taken = allCalls.flatMap((call) =>
    [...texts(call.query), ...texts(call.body), ...texts(call.params)].map((text) => [`${call.id} ${text.path}`, text.schema] as const),
  )

  it('take texts, which the next test goes through', () => {
    expect(taken.length).toBeGreaterThan(50)
    expect(taken.map(([name]) => name)).toEqual(
      expect.arrayContaining(['cmp.cloud.create connection.client_key', 'nextstack.vm.create user_data', 'cmp.cloud.create labels.0', 'ums.user.list keyword']),
    )
  })

  // No database stores U+0000 in a text, and no screen shows it.
  it.each(taken.filter(([, schema]) => schema !== passwordTyped && schema !== passwordOld))('%s takes no control characters', (_, schema) => {
    for (const bad of ['\u0000', 'a\u0000b', '#!\u0000', '{"label":"a\u0000"}', '-----BEGIN KEY-----\n\u0000\n-----END KEY-----', 'ssh-ed25519 AAAA a\u0000']) {
      expect(schema.safeParse(bad).success, JSON.stringify(bad)).toBe(false)
    }
  })
})

describe('plain text', () => {
  it('has lines where it is long, and any character that can be shown', () => {
    expect(description.parse('第一行\n\t第二行\r\n👩‍💻 “é”')).toBe('第一行\n\t第二行\r\n👩‍💻 “é”')
    expect(keyword.parse(' 实例 %_\\ ')).toBe('实例 %_\\')
    expect(keyword.safeParse('a\nb').success).toBe(false)
  })

  it('of a new password is one line: it is handed to programs that read lines', () => {
    expect(passwordNew.safeParse('Abcd-1234\nroot:x').success).toBe(false)
    expect(passwordNew.safeParse('密码 Abcd-1234:#').success).toBe(true)
  })
})
