import { errors, type ErrorName } from '@zhisuan/contract/errors'
import { EngineError } from '@zhisuan/engines/errors'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import { AgentError } from '../../../platform/tunnel/tunnel.ts'
import { refusedByNode, usualRefusal } from './edge.refusals.ts'

const node = { name: '节点一' }

describe('what a node says', () => {
  it.each<[string, ErrorName, string]>([
    [
      'driver failed programming external connectivity on endpoint web (…): Bind for 0.0.0.0:8080 failed: port is already allocated',
      'portTaken',
      '端口8080已被“其他程序”',
    ],
    [
      'driver failed programming external connectivity: Error starting userland proxy: listen tcp4 0.0.0.0:443: bind: address already in use',
      'portTaken',
      '端口443已被',
    ],
    ['write /var/lib/docker/overlay2/x: no space left on device', 'nodeDiskFull', '磁盘已满'],
    ['runc create failed: fork/exec /proc/self/exe: cannot allocate memory', 'nodeMemoryFull', '内存不足'],
    ['could not select device driver "" with capabilities: [[gpu]]', 'nodeGpusTooFew', 'GPU'],
    ['could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network', 'nodeNetworksExhausted', '网段已用完'],
    ['all predefined address pools have been fully subnetted', 'nodeNetworksExhausted', '网段'],
    ['standard_init_linux.go:228: exec user process caused: exec format error', 'imagePlatformWrong', '处理器架构'],
    [
      'OCI runtime create failed: container_linux.go:380: starting container process caused: exec: "/data": permission denied: unknown',
      'containerCommandDenied',
      '执行权限',
    ],
    ['OCI runtime create failed: exec: "/none": stat /none: no such file or directory: unknown', 'containerCommandMissing', '没有该命令'],
    ['exec: "bash": executable file not found in $PATH: unknown', 'containerCommandMissing', '没有该命令'],
    ['invalid mount config for type "bind": bind source path does not exist: /srv/none', 'bindSourceMissing', '没有要挂载的目录'],
    ['Conflict. The container name "/db" is already in use by container "ab12". You have to remove (or rename) that container', 'dockerNameTaken', '同名容器'],
    [
      'conflict: unable to remove repository reference "app:1" (must force) - container ab12 is using its referenced image cd34',
      'nodeImageInUse',
      '镜像正在被容器使用',
    ],
    ['remove data: volume is in use - [ab12]', 'nodeVolumeInUse', '数据卷'],
    ['No such image: app:9', 'containerImageMissing', '镜像“app:9”'],
    ['manifest for app:9 not found: manifest unknown: manifest unknown', 'registryImageMissing', '没有该镜像'],
    ["pull access denied for app, repository does not exist or may require 'docker login'", 'registryDenied', '镜像仓库拒绝'],
    ['Get "https://registry.test/v2/": dial tcp: lookup registry.test: no such host', 'registryUnreachable', '无法连接镜像仓库'],
    ['Get "https://127.0.0.1:1/v2/": dial tcp 127.0.0.1:1: connect: connection refused', 'registryUnreachable', '无法连接镜像仓库'],
    ['No such container: ab12', 'containerGone', '不存在'],
    ['error while mounting: operation not permitted', 'nodePermissionDenied', '权限不足'],
  ])('%s', (said, name, text) => {
    const refusal = usualRefusal(said, node)
    expect(refusal).toMatchObject({ refusal: name, detail: said })
    expect(refusal?.message).toContain(text)
    // Nothing of it is told in the words of Docker, but beside them.
    expect(refusal?.message).not.toContain('{')
    expect(refusedByNode(new EngineError('failed', said), node)).toMatchObject({ refusal: name })
  })

  it('that is none of the usual is told beside, as it was said', () => {
    expect(usualRefusal('something else', node)).toBeNull()
    expect(refusedByNode(new EngineError('failed', 'something else'), node)).toMatchObject({
      refusal: 'dockerFailed',
      message: `节点“${node.name}”上的Docker没有完成该操作，原因见详情`,
      detail: 'something else',
    })
  })

  it('names the image that was asked for', () => {
    expect(refusedByNode(new EngineError('not_found', 'No such image: x'), node, 'app:2')).toMatchObject({
      message: expect.stringContaining('镜像“app:2”') as string,
    })
  })

  it('says nothing where the way to it was cut', () => {
    expect(refusedByNode(new EngineError('unreachable', 'docker: connect ECONNREFUSED: permission denied'), node)).toMatchObject({
      refusal: 'dockerUnavailable',
    })
    expect(refusedByNode(new EngineError('unreachable', 'x', { cause: new AgentError('offline', 'the tunnel broke') }), node)).toMatchObject({
      refusal: 'edgeOffline',
    })
    // Of a change nobody knows what became of it.
    for (const unanswered of [new AgentError('unanswered', 'the tunnel broke'), new EngineError('unanswered', 'permission denied')]) {
      expect(refusedByNode(unanswered, node)).toMatchObject({ refusal: 'outcomeUnknown' })
      expect(refusedByNode(new EngineError('unanswered', 'x', { cause: unanswered }), node)).toMatchObject({ refusal: 'outcomeUnknown' })
    }
    const other = new Error('of ours')
    expect(refusedByNode(other, node)).toBe(other)
    const refusal = new Refusal('notFound')
    expect(refusedByNode(refusal, node)).toBe(refusal)
  })

  it('is told in Chinese, each by a code of its own', () => {
    const codes = Object.values(errors).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })
})
