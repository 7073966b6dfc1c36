import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { bodyOf } from './containers.ts'
import { createDocker } from './engine.ts'
import { nameAndTag } from './images.ts'
import type { DockerAnswer, DockerAsk, DockerTransport } from './transport.ts'
import type { PullProgress } from './types.ts'

/** Answers by path without version; what was asked is kept. */
function fake(answers: Readonly<Record<string, { status?: number; body?: unknown; headers?: Record<string, string> }>>, api = '1.41') {
  const asked: DockerAsk[] = []
  const transport: DockerTransport = {
    async request(ask): Promise<DockerAnswer> {
      asked.push(ask)
      if (ask.path === '/_ping') return { status: 200, headers: { 'api-version': api }, stream: Readable.from([Buffer.from('OK')]) }
      const path = ask.path.replace(/^\/v[\d.]+/, '').replace(/\?.*/, '')
      const { status = 200, body = {}, headers = {} } = answers[path] ?? { status: 404, body: { message: 'page not found' } }
      return { status, headers, stream: Readable.from([Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]) }
    },
    attach: async () => ({ status: 404, stream: Readable.from([]) as never }),
  }
  return { docker: createDocker(transport), asked }
}

describe('versions of the API', () => {
  it.each([
    ['1.41', '/v1.41'],
    ['1.44', '/v1.44'],
    ['1.52', '/v1.47'],
  ])('an engine of %s is asked by %s, agreed upon once', async (api, prefix) => {
    const { docker, asked } = fake({ '/images/json': { body: [] } }, api)
    await docker.images.list()
    await docker.images.list()
    expect(asked.map(({ path }) => path)).toEqual(['/_ping', `${prefix}/images/json`, `${prefix}/images/json`])
  })
  it('an engine that is too old, and what is none, are told', async () => {
    await expect(fake({}, '1.40').docker.ping()).rejects.toMatchObject({ kind: 'unsupported' })
    await expect(fake({}, 'nginx').docker.ping()).rejects.toMatchObject({ kind: 'bad_answer' })
  })
})

describe('what a pull is let in by', () => {
  // Docker reads whole groups of four characters; of what is cut short it makes nobody.
  it.each(['t', 'to', 'tok', 'toke'])('is read by Docker however long it is: %s', async (token) => {
    const { docker, asked } = fake({ '/images/create': { body: '' } })
    for await (const _ of docker.images.pull('example.com/app:1', { auth: { username: '', password: '', token } }));
    const header = asked.at(-1)?.headers?.['x-registry-auth'] ?? ''
    expect(header).toMatch(/^(?:[\w-]{4})*(?:[\w-]{2}==|[\w-]{3}=)?$/)
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ registrytoken: token })
  })
})

describe('errors', () => {
  const kindOf = async (status: number, message: string): Promise<unknown> =>
    fake({ '/version': { status, body: { message } } })
      .docker.version()
      .catch((error: unknown) => (error as { kind: string }).kind)
  it.each([
    [404, 'No such container: x', 'not_found'],
    [500, 'manifest for x:1 not found: manifest unknown', 'not_found'],
    [409, 'Conflict. The container name "/x" is already in use', 'conflict'],
    [409, 'removal of container x is already in progress', 'busy'],
    [500, 'driver failed programming external connectivity: Bind for 0.0.0.0:80 failed: port is already allocated', 'conflict'],
    [500, 'write /var/lib/docker/tmp/x: no space left on device', 'exhausted'],
    [400, 'invalid reference format', 'invalid'],
    [500, 'could not select device driver "" with capabilities: [[gpu]]', 'unsupported'],
    [502, 'docker: connect ENOENT /var/run/docker.sock', 'unreachable'],
    [500, 'something else', 'failed'],
  ])('%i %s is %s', async (status, message, kind) => expect(await kindOf(status, message)).toBe(kind))
  it('a change that whoever passes it on had no answer to is unanswered, but where it did not get there', async () => {
    const started = (status: number, message: string) =>
      fake({ '/containers/x/start': { status, body: { message } } })
        .docker.containers.start('x')
        .catch((error: unknown) => (error as { kind: string }).kind)
    expect(await started(502, 'docker: socket hang up')).toBe('unanswered')
    expect(await started(504, 'timeout')).toBe('unanswered')
    expect(await started(502, 'docker: connect ENOENT /var/run/docker.sock')).toBe('unreachable')
    expect(await started(503, 'starting')).toBe('unreachable')
    expect(await kindOf(502, 'docker: socket hang up')).toBe('unreachable')
  })
  it('nonsense is a bad answer', async () => {
    await expect(fake({ '/version': { body: '<html>' } }).docker.version()).rejects.toMatchObject({ kind: 'bad_answer' })
    await expect(fake({ '/version': { body: { Version: 1 } } }).docker.version()).rejects.toMatchObject({
      kind: 'bad_answer',
      message: expect.stringContaining('Version') as string,
    })
  })
})

describe('shapes', () => {
  it('a container of the list', async () => {
    const { docker } = fake({
      '/containers/json': {
        body: [
          {
            Id: 'a',
            Names: ['/other/alias', '/web'],
            Image: 'nginx',
            Created: 1_700_000_000,
            State: 'running',
            Status: 'Up',
            Labels: null,
            Ports: [
              { IP: '::', PrivatePort: 80, PublicPort: 8080, Type: 'tcp' },
              { PrivatePort: 443, Type: 'tcp' },
            ],
          },
        ],
      },
    })
    expect(await docker.containers.list()).toMatchObject([
      {
        name: 'web',
        labels: {},
        mounts: [],
        ports: [
          { address: '::', hostPort: 8080 },
          { address: null, hostPort: null, containerPort: 443 },
        ],
      },
    ])
  })
  it('figures, by cgroup 1 and 2, and none of processors at the first look', async () => {
    const of = async (change: object) =>
      fake({
        '/containers/x/stats': {
          body: {
            read: '2026-01-01T00:00:01Z',
            cpu_stats: { cpu_usage: { total_usage: 3e9 }, system_cpu_usage: 20e9, online_cpus: 4 },
            precpu_stats: { cpu_usage: { total_usage: 1e9 }, system_cpu_usage: 16e9 },
            memory_stats: { usage: 1_000, limit: 5_000, stats: { inactive_file: 300 } },
            networks: { eth0: { rx_bytes: 1, tx_bytes: 2 }, eth1: { rx_bytes: 10, tx_bytes: 20 } },
            blkio_stats: {
              io_service_bytes_recursive: [
                { op: 'Read', value: 5 },
                { op: 'write', value: 6 },
              ],
            },
            pids_stats: { current: 7 },
            ...change,
          },
        },
      }).docker.containers.stats('x')
    expect(await of({})).toEqual({
      at: new Date('2026-01-01T00:00:01Z'),
      cpu: 2,
      cpuSeconds: 3,
      memoryBytes: 700,
      memoryLimitBytes: 5_000,
      receivedBytes: 11,
      sentBytes: 22,
      readBytes: 5,
      writtenBytes: 6,
      pids: 7,
    })
    expect(await of({ memory_stats: { usage: 1_000, limit: 5_000, stats: { total_inactive_file: 400 } } })).toMatchObject({ memoryBytes: 600 })
    expect(await of({ precpu_stats: { cpu_usage: { total_usage: 0 } } })).toMatchObject({ cpu: null })
    expect(await of({ blkio_stats: { io_service_bytes_recursive: null }, networks: undefined })).toMatchObject({ readBytes: 0, receivedBytes: 0 })
  })
  it('what a container is made from', () => {
    expect(
      bodyOf({
        image: 'a',
        command: [],
        env: { A: '1' },
        ports: [
          { containerPort: 80, hostPort: 8080, protocol: 'tcp' },
          { containerPort: 80, hostPort: 8081, protocol: 'tcp' },
        ],
        cpuLimit: 0.25,
        memoryLimitBytes: null,
        gpus: 2,
        health: { command: 'true', intervalMs: 1_000, timeoutMs: 500, retries: 2 },
      }),
    ).toMatchObject({
      Image: 'a',
      Cmd: undefined,
      Env: ['A=1'],
      ExposedPorts: { '80/tcp': {} },
      Healthcheck: { Test: ['CMD-SHELL', 'true'], Interval: 1e9, Timeout: 5e8, Retries: 2 },
      HostConfig: {
        PortBindings: { '80/tcp': [{ HostPort: '8080' }, { HostPort: '8081' }] },
        NanoCpus: 250_000_000,
        Memory: 0,
        DeviceRequests: [{ Count: 2, Capabilities: [['gpu']] }],
      },
    })
    expect(bodyOf({ image: 'a', gpus: ['GPU-1'] })).toMatchObject({ HostConfig: { DeviceRequests: [{ DeviceIDs: ['GPU-1'] }] } })
  })
  it.each([
    ['nginx', 'nginx', 'latest'],
    ['nginx:1.27', 'nginx', '1.27'],
    ['registry.example:5000/team/app', 'registry.example:5000/team/app', 'latest'],
    ['registry.example:5000/team/app:2', 'registry.example:5000/team/app', '2'],
    ['app@sha256:abc', 'app', 'sha256:abc'],
  ])('the image %s', (image, name, tag) => expect(nameAndTag(image)).toEqual({ name, tag }))
})

describe('a registry', () => {
  const has = (status: number, message = '') =>
    fake({ '/distribution/registry.example%3A5000/team/app%3A2/json': { status, body: { message } } }).docker.images.inRegistry(
      'registry.example:5000/team/app:2',
    )
  it.each([
    ['has an image', 200, '', true],
    ['has none of that tag', 404, 'manifest unknown', false],
    ['shows nobody in particular any', 401, 'unauthorized: authentication required', false],
  ])('%s', async (_, status, message, there) => expect(await has(status, message)).toBe(there))
  it('that cannot be asked says nothing', async () =>
    expect(has(500, 'Get "https://registry.example:5000/v2/": dial tcp: connection refused')).rejects.toMatchObject({ kind: 'failed' }))
})

describe('a pull', () => {
  const pull = async (...lines: object[]): Promise<PullProgress[]> => {
    const told: PullProgress[] = []
    for await (const one of fake({ '/images/create': { body: lines.map((line) => JSON.stringify(line)).join('\r\n') } }).docker.images.pull('a:1'))
      told.push(one)
    return told
  }
  it('tells its layers', async () => {
    expect(
      await pull(
        { status: 'Pulling from a', id: '1' },
        { status: 'Downloading', progressDetail: { current: 1, total: 2 }, progress: '[=> ]', id: 'aa' },
        { status: 'Status: Downloaded' },
      ),
    ).toEqual([
      { id: '1', status: 'Pulling from a', currentBytes: null, totalBytes: null },
      { id: 'aa', status: 'Downloading', currentBytes: 1, totalBytes: 2 },
      { id: null, status: 'Status: Downloaded', currentBytes: null, totalBytes: null },
    ])
  })
  it('that fails on the way fails', async () => {
    await expect(
      pull({ status: 'Downloading' }, { errorDetail: { message: 'unauthorized: authentication required' }, error: 'unauthorized' }),
    ).rejects.toMatchObject({ kind: 'unauthorized' })
    await expect(pull({ error: 'write /x: no space left on device' })).rejects.toMatchObject({ kind: 'exhausted' })
  })
})
