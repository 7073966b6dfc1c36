import { expect, it } from 'vitest'
import type { z } from 'zod'
import { auth } from './ums/auth.ts'
import { users } from './ums/user.ts'
import './validation.ts'

const said = (schema: z.ZodType, body: object): Readonly<Record<string, string>> =>
  // What comes first of a field is what is shown.
  Object.fromEntries((schema.safeParse(body).error?.issues ?? []).toReversed().map(({ path, message }) => [path.join('.'), message]))

it.each([{}, { username: ' ', old_password: '', password: '' }])('what is missing in %j is called what it is called there', (body) => {
  expect(said(users.create.body, body)).toMatchObject({ username: '子账号名不能为空' })
  expect(said(users.changePassword.body, body)).toEqual({ old_password: '旧密码不能为空', password: '新密码不能为空' })
  expect(said(auth.retrievePassword.body, body)).toMatchObject({ password: '新密码不能为空' })
  expect(said(auth.register.body, body)).toMatchObject({ username: '用户名不能为空', password: '密码不能为空' })
})
