import type { RefusedByPolicy } from '@zhisuan/contract/problem'
import { auth } from '@zhisuan/contract/ums/auth'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { request, type ApiError } from './client.ts'
import { decideToast } from './toasts.ts'

afterEach(() => vi.unstubAllGlobals())

async function failed(path: string, status = 400, code = 99_999): Promise<ApiError> {
  vi.stubGlobal('document', { cookie: '' })
  vi.stubGlobal('fetch', async () => Response.json({ code, message: 'said by the server' }, { status }))
  return await request({ ...auth.password, path }, { body: { username: '', password: '' } }).then(
    () => expect.fail(),
    (error: ApiError) => error,
  )
}

describe('what is said of a failed call', () => {
  it.each([
    '/api/cis/v1/docker/instances',
    '/api/cis/v1/docker/instances/1?x=1',
    '/api/cis/v1/docker/deployments/1/instances',
    '/api/aos/v1/docker/deployments',
  ])('is nothing for %s, which says it itself, unless the session is over', async (path) => {
    expect(decideToast(await failed(path), false)).toEqual({ kind: 'none' })
    expect(decideToast(await failed(path, 401, 90_008), false)).toEqual({ kind: 'sessionEnded', text: '登录已失效，请重新登录' })
  })

  it('is said of their neighbours', async () => {
    for (const path of ['/api/cis/v1/docker/cfgs', '/api/aos/v1/docker/stacks', '/api/cis/v1/docker/instances-of-others']) {
      expect(decideToast(await failed(path), false)).toMatchObject({ kind: 'toast', text: '错误' })
    }
  })

  it('is on the login page only that a password was wrong', async () => {
    expect(decideToast(await failed('/api/ums/v1/auth/password/tokens', 401, 1101), true)).toEqual({ kind: 'toast', text: '用户名或密码错误' })
    for (const path of ['/api/ums/v1/auth/sms/tokens', '/api/ums/v1/users/current'])
      expect(decideToast(await failed(path, 401, 90_008), true)).toEqual({ kind: 'none' })
  })

  it('names the action that policies refused, and the statement that says so', () => {
    const said = (refused: RefusedByPolicy) =>
      decideToast({ status: 403, code: 3000, message: '无操作权限', path: '/api/nextstack/v1/vms', method: 'POST', refused }, false)
    const action = 'nextstack.vm.create'
    const by = { policy_id: 'p', index: 1, sid: null }
    expect(said({ action, outcome: 'explicitDeny', by })).toMatchObject({
      text: '无操作权限：策略的第 2 条语句拒绝了 nextstack.vm.create',
      refused: { action },
    })
    expect(said({ action, outcome: 'explicitDeny', by: { ...by, sid: 'NoNew' } })).toMatchObject({
      text: '无操作权限：策略的“NoNew”拒绝了 nextstack.vm.create',
    })
    expect(said({ action, outcome: 'implicitDeny', by: null })).toMatchObject({ text: '无操作权限：没有策略允许 nextstack.vm.create' })
    expect(said({ action, outcome: 'outsideBoundary', by: null })).toMatchObject({ text: '无操作权限：权限边界不允许 nextstack.vm.create' })
  })

  it('is that only one terminal can be open, where another is', async () => {
    expect(decideToast(await failed('/api/nextstack/v1/vms/1/terminals', 409, 94_009), false)).toMatchObject({
      kind: 'toast',
      text: '同一时间只能打开一个终端',
    })
    expect(decideToast(await failed('/api/nextstack/v1/vms/1/stop', 409, 90_010), false)).toMatchObject({ kind: 'toast', text: '当前状态不允许此操作' })
  })
})
