import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { auth } from './ums/auth.ts'
import { users } from './ums/user.ts'
import { clusterName, name, passwordNew, passwordTyped, phone, username, verificationCode } from './validation.ts'

/** The first thing wrong, as people read it; null for nothing. */
const wrong = (schema: z.ZodType, value: unknown): string | null => schema.safeParse(value).error?.issues[0]?.message ?? null

describe('the name rule', () => {
  it('takes Chinese characters, letters, digits, underscore, hyphen, dot and @, up to 64', () => {
    for (const text of ['生产-web_01.cn@zs', 'a', '名'.repeat(64)]) expect(wrong(name, text), text).toBeNull()
  })
  it.each([
    ['', '请输入内容'],
    ['   ', '请输入内容'],
    [undefined, '请输入内容'],
    ['a'.repeat(65), '内容长度不能超过64个字符'],
    ['a b', '只能包含中文、字母、数字、下划线、连字符、点和@'],
    ['a/b', '只能包含中文、字母、数字、下划线、连字符、点和@'],
    ['é', '只能包含中文、字母、数字、下划线、连字符、点和@'],
  ])('refuses %j: %s', (text, message) => expect(wrong(name, text)).toBe(message))
})

it('what looks the same is the same', () => {
  expect(name.parse('王⼀')).toBe('王一')
  expect(name.parse('ｗｅｂ－０１')).toBe('web-01')
  expect(username.parse('王⼀')).toBe(username.parse('王一'))
  expect(passwordNew.parse('Ｓｅｃｒｅｔ１！')).toBe('Secret1!')
  // Full-width letters are letters, and no fourth kind.
  expect(wrong(passwordNew, 'ｓｅｃｒｅｔ１１')).not.toBeNull()
})

describe('the rule of cluster names', () => {
  it('takes a letter, then letters, digits, hyphen and underscore, up to 64', () => {
    for (const text of ['k', 'K8s-prod_1', `a${'1'.repeat(63)}`]) expect(wrong(clusterName, text), text).toBeNull()
  })
  it.each(['1a', '-a', '_a', 'a.b', '集群', 'a b', `a${'1'.repeat(64)}`])('refuses %j', (text) =>
    expect(wrong(clusterName, text)).toBe('必须以字母开头，只能包含字母、数字、连字符和下划线，最多64个字符'),
  )
  it('is required', () => expect(wrong(clusterName, '')).toBe('请输入名称'))
})

describe('what cannot be empty', () => {
  it.each([
    [phone, '手机号不能为空'],
    [passwordTyped, '密码不能为空'],
    [verificationCode, '验证码不能为空'],
  ])('says so: %#', (schema, message) => {
    for (const nothing of ['', undefined]) expect(wrong(schema, nothing)).toBe(message)
  })
})

it('a user name that signs in is trimmed, its password is not', () => {
  expect(auth.password.body.parse({ username: '  tenant ', password: ' secret ' })).toEqual({ username: 'tenant', password: ' secret ' })
})

const said = (schema: z.ZodType, body: object): Readonly<Record<string, string>> =>
  // What comes first of a field is what is shown.
  Object.fromEntries((schema.safeParse(body).error?.issues ?? []).toReversed().map(({ path, message }) => [path.join('.'), message]))

it.each([{}, { username: ' ', old_password: '', password: '' }])('what is missing in %j is called what it is called there', (body) => {
  expect(said(users.create.body, body)).toMatchObject({ username: '子账号名不能为空' })
  expect(said(users.changePassword.body, body)).toEqual({ old_password: '旧密码不能为空', password: '新密码不能为空' })
  expect(said(auth.retrievePassword.body, body)).toMatchObject({ password: '新密码不能为空' })
  expect(said(auth.register.body, body)).toMatchObject({ username: '用户名不能为空', password: '密码不能为空' })
})
