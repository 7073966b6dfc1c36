import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer, type ClientHttp2Session, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ComposeProject } from '@zhisuan/contract/agent/node'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { answerError } from './answers.ts'
import { createCompose, type Compose } from './compose.ts'

const path = process.env['PATH'] ?? ''
let folder: string
let compose: Compose
let server: Http2Server
let session: ClientHttp2Session

/** Calls of compose, without what comes before its verb. */
const calls = () => (existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : [])
const project = () => join(folder, 'stacks/shop')
const hold = () => writeFileSync(join(folder, 'hold'), '')
const release = () => rmSync(join(folder, 'hold'), { force: true })
const base64 = (content: string) => Buffer.from(content).toString('base64')

const ask = (wish: Omit<ComposeProject, 'project'>) => {
  const stream = session.request({ ':method': 'PUT', ':path': '/' })
  stream.end(JSON.stringify({ project: 'shop', ...wish }))
  stream.on('error', () => undefined)
  const status = once(stream, 'response').then(([headers]) => (headers as { ':status': number })[':status'])
  return {
    stream,
    status,
    lines: async () =>
      (await text(stream))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
  }
}
const end = async (wish: Omit<ComposeProject, 'project'>) => (await ask(wish).lines()).at(-1)
const succeeded = { ended: 'succeeded', error: null }

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-compose-'))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  // As on a node without the plugin; its compose waits while it is held, and knows when a file is broken.
  writeFileSync(join(bin, 'docker'), '#!/bin/sh\nexit 1\n')
  writeFileSync(
    join(bin, 'docker-compose'),
    `#!/bin/sh
case "$*" in "version --short") echo 1.29.2; exit ;; esac
while [ "$1" != -f ]; do shift; done
file=$2; shift 2
echo "$*" >>'${folder}/calls'
case "$1" in config) if grep -q broken "$file"; then echo 'this is broken' >&2; exit 1; fi; exit 0 ;; esac
echo "Beginning $1"
while [ -e '${folder}/hold' ]; do sleep 0.02; done
echo "Done $1"
`,
  )
  for (const name of ['docker', 'docker-compose']) chmodSync(join(bin, name), 0o755)
  process.env['PATH'] = `${bin}:${path}`
  compose = createCompose({ directory: join(folder, 'stacks'), dockerSocket: '/nowhere.sock', say: () => undefined })
  server = createServer((request) => void compose.serve(request.stream).catch((error: unknown) => answerError(request.stream, error)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterEach(async () => {
  release()
  await compose.stop(10_000)
  session.destroy()
  server.close()
  process.env['PATH'] = path
  rmSync(folder, { recursive: true, force: true })
})

describe('a compose project', () => {
  it('is written, checked, and brought up; its lines come as they are said', async () => {
    const { status, lines } = ask({
      action: 'up',
      file: 'services: {}',
      files: [{ path: 'conf/a-b.txt', content_base64: base64('你好') }],
      scale: { web: 2 },
      pull: true,
    })
    expect(await status).toBe(200)
    expect(await lines()).toEqual([{ line: 'Beginning pull' }, { line: 'Done pull' }, { line: 'Beginning up' }, { line: 'Done up' }, succeeded])
    expect(calls()).toEqual(['config -q', 'pull', 'up -d --remove-orphans --scale web=2'])
    expect(readFileSync(join(project(), 'conf/a-b.txt'), 'utf8')).toBe('你好')
    // Compose reads variables of its own from here, and not from a config called `.env`.
    expect(readFileSync(join(project(), '.zhisuan-env'), 'utf8')).toBe('')
  })

  it('keeps its file where the next is broken, and forgets files that are not named any more', async () => {
    await end({
      action: 'up',
      file: 'good: 1',
      files: [
        { path: 'a', content_base64: '' },
        { path: 'd/b', content_base64: '' },
      ],
    })
    writeFileSync(join(project(), 'of-a-container'), '')
    expect(await end({ action: 'up', file: 'broken', files: [{ path: 'a', content_base64: '' }] })).toEqual({ ended: 'failed', error: 'this is broken' })
    expect(readFileSync(join(project(), 'docker-compose.yml'), 'utf8')).toBe('good: 1')
    expect([existsSync(join(project(), 'a')), existsSync(join(project(), 'd/b')), existsSync(join(project(), 'of-a-container'))]).toEqual([true, false, true])
  })

  it('goes on when whoever asked is gone; asked again, it is joined', async () => {
    hold()
    const first = ask({ action: 'up', file: 'good: 1' })
    await vi.waitFor(() => expect(calls()).toEqual(['config -q', 'up -d --remove-orphans']))
    first.stream.close()
    const again = ask({ action: 'up', file: 'good: 1' })
    expect(await again.status).toBe(200)
    release()
    expect(await again.lines()).toEqual([{ line: 'Beginning up' }, { line: 'Done up' }, succeeded])
    expect(calls()).toHaveLength(2)
  })

  it('does one thing at a time; but what is to go is not waited for', async () => {
    hold()
    const first = ask({ action: 'up', file: 'good: 1' })
    await vi.waitFor(() => expect(calls()).toHaveLength(2))
    expect(await ask({ action: 'up', file: 'good: 2' }).status).toBe(409)
    const down = ask({ action: 'down' })
    expect((await first.lines()).at(-1)).toMatchObject({ ended: 'failed' })
    release()
    expect((await down.lines()).at(-1)).toEqual(succeeded)
    expect(existsSync(project())).toBe(false)
    // Gone is gone; but nothing cannot come up.
    expect(await end({ action: 'down' })).toEqual(succeeded)
    expect(await end({ action: 'up' })).toMatchObject({ ended: 'failed' })
  })

  it('writes nowhere else, though a container has put links in the way', async () => {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'kept'), 'kept')
    await end({ action: 'up', file: 'good: 1', files: [{ path: 'd/kept', content_base64: '' }] })
    rmSync(join(project(), 'd'), { recursive: true })
    symlinkSync(elsewhere, join(project(), 'd'))
    expect(await end({ action: 'up', file: 'good: 1', files: [{ path: 'd/new', content_base64: base64('x') }] })).toMatchObject({ ended: 'failed' })
    expect(await end({ action: 'up', file: 'good: 1' })).toEqual(succeeded)
    expect([existsSync(join(elsewhere, 'new')), readFileSync(join(elsewhere, 'kept'), 'utf8')]).toEqual([false, 'kept'])
    // One of the file's own name is replaced, not followed.
    rmSync(join(project(), 'docker-compose.yml'))
    symlinkSync(join(elsewhere, 'kept'), join(project(), 'docker-compose.yml'))
    expect(await end({ action: 'up', file: 'good: 2' })).toEqual(succeeded)
    expect(readFileSync(join(elsewhere, 'kept'), 'utf8')).toBe('kept')
  })

  it.each<[string, object, string]>([
    ['a name that leads elsewhere', { project: '../etc', action: 'up' }, 'project'],
    ['a file that leads elsewhere', { project: 'shop', action: 'up', file: 'x', files: [{ path: 'a/../../b', content_base64: '' }] }, 'files.0.path'],
    ['the file of its own variables', { project: 'shop', action: 'up', file: 'x', files: [{ path: '.zhisuan-env', content_base64: '' }] }, 'files'],
    ['its own file twice', { project: 'shop', action: 'up', file: 'x', files: [{ path: './/docker-compose.yml', content_base64: '' }] }, 'files'],
    ['a service that is an option', { project: 'shop', action: 'up', scale: { '--force': 1 } }, 'scale'],
    ['something else', { project: 'shop', action: 'sideways' }, 'action'],
  ])('refuses %s', async (_, body, field) => {
    const stream = session.request({ ':method': 'PUT', ':path': '/' })
    stream.end(JSON.stringify(body))
    const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
    expect([headers[':status'], JSON.parse(await text(stream))]).toEqual([400, { message: expect.stringContaining(field) as string }])
    expect(calls()).toEqual([])
  })
})
