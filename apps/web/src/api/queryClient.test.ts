import { errors, type ErrorEntry } from '@zhisuan/contract/errors'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from './client.ts'
import { onSessionEnd } from './notify.ts'
import { queryClient } from './queryClient.ts'

const ended = vi.fn<(text: string) => void>()
beforeEach(() => {
  vi.stubGlobal('location', { pathname: '/userMsg' })
  onSessionEnd(ended)
})
afterEach(() => {
  vi.unstubAllGlobals()
  queryClient.clear()
  ended.mockClear()
})

const refused = (call: { readonly method: string; readonly path: string }, { code, text }: ErrorEntry): ApiError =>
  new ApiError({ status: 401, code, message: text, method: call.method, path: call.path })
const read = (error: ApiError): Promise<void> =>
  queryClient.fetchQuery({ queryKey: [users.current.id, {}], queryFn: () => Promise.reject(error), meta: { silent: true } }).then(
    () => undefined,
    () => undefined,
  )
const change = (error: ApiError): Promise<void> =>
  queryClient
    .getMutationCache()
    .build(queryClient, { mutationFn: () => Promise.reject(error), meta: { silent: true } })
    .execute(undefined)
    .then(
      () => undefined,
      () => undefined,
    )

it('a session that could not be renewed is over, also where a page says itself what failed', async () => {
  await read(refused(auth.refresh, errors.refreshInvalid))
  expect(ended).toHaveBeenCalledExactlyOnceWith(errors.refreshInvalid.text)
  await change(refused(auth.refresh, errors.refreshInvalid))
  expect(ended).toHaveBeenCalledTimes(2)
})

it('a wrong password ends none', async () => {
  await change(refused(auth.password, errors.passwordMismatch))
  expect(ended).not.toHaveBeenCalled()
})
