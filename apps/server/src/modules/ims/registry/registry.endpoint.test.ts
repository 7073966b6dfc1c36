import { EngineError } from '@zhisuan/engines/errors'
import { expect, it } from 'vitest'
import { tellRegistry } from './registry.endpoint.ts'

const because = (code: string) => Object.assign(new Error(`connect ${code} 192.0.2.1:443`), { code })

it.each([
  [new EngineError('unreachable', 'connect ECONNREFUSED 192.0.2.1:443', { cause: because('ECONNREFUSED') }), '无法连接镜像仓库：连接被拒绝'],
  [
    new EngineError('unreachable', 'self-signed certificate', { cause: because('DEPTH_ZERO_SELF_SIGNED_CERT') }),
    '无法连接镜像仓库：证书不受信任，请填写其证书机构',
  ],
  [new EngineError('failed', 'service unavailable', { status: 503 }), '无法连接镜像仓库：对方返回HTTP 503'],
  [new EngineError('cancelled', 'The operation was aborted due to timeout'), '无法连接镜像仓库：没有应答'],
  [new EngineError('unauthorized', 'authentication required', { status: 401 }), '镜像仓库拒绝了所填的用户名或密码'],
  [new EngineError('bad_answer', 'no JSON'), '该地址没有镜像仓库应答'],
])('a registry that is not reached is told of in Chinese: %s', async (error, told) => {
  expect(await tellRegistry(error)).toBe(told)
})

it('what went wrong within the platform is not told in the words of a program', async () => {
  expect(await tellRegistry(new TypeError('x is not a function'))).not.toMatch(/function/)
})
