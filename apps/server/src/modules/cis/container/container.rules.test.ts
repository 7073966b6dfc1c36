import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { containerSpec, containerStatuses, instanceCodeMeaning } from '@zhisuan/contract/cis/container'
import { describe, expect, it } from 'vitest'
import { directoryOf, listed, listing, stated } from '../../../platform/directoryListing.ts'
import { bodyOf, configsOf, dockerName } from './container.body.ts'
import { createJoining, createLines, pieceBytes, type LogFrame } from './container.logs.ts'
import { conflict } from './container.ports.ts'
import { statusCodeOf } from './container.state.ts'
import { entriesOf, fileArchive, onlyFile } from './container.tar.ts'

const id = '01900000-0000-7000-8000-0123456789ab'

describe('the name on Docker', () => {
  it.each([
    ['web', 1, 'web-0123456789ab'],
    ['web', 3, 'web-0123456789ab-3'],
    ['数据库', 1, '0123456789ab'],
    ['我的-db@1', 1, 'db-1-0123456789ab'],
    ['.@', 1, '0123456789ab'],
  ])('of %s in generation %i is %s', (name, generation, expected) => {
    expect(dockerName(name, id, generation)).toBe(expected)
    expect(expected).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/)
  })
})

describe('a specification', () => {
  it('is said in the words of the engine; configs are files, not mounts', () => {
    const config_id = '01900000-0000-7000-8000-000000000001'
    const spec = containerSpec.parse({
      image: 'app:1',
      env: [{ name: 'A', value: 'b=c' }],
      ports: [{ container_port: 80, host_port: 8080 }],
      mounts: [
        { type: 'volume', name: 'data', path: '/data' },
        { type: 'bind', host_path: '/srv/x', path: '/x', read_only: true },
        { type: 'config', config_id, path: '/etc/app.conf' },
      ],
      health: { command: 'true', interval_seconds: 5, timeout_seconds: 2, retries: 1 },
    })
    expect(bodyOf(spec, { id, generation: 2 })).toMatchObject({
      image: 'app:1',
      env: { A: 'b=c' },
      labels: { 'zhisuan.container': id, 'zhisuan.generation': '2' },
      ports: [{ containerPort: 80, hostPort: 8080, protocol: 'tcp' }],
      mounts: [
        { type: 'volume', source: 'data', path: '/data', readOnly: false },
        { type: 'bind', source: '/srv/x', path: '/x', readOnly: true },
      ],
      restart: 'unless-stopped',
      health: { command: 'true', intervalMs: 5_000, timeoutMs: 2_000, retries: 1 },
    })
    expect(configsOf(spec)).toEqual([{ config_id, path: '/etc/app.conf' }])
  })
})

describe('variables of a container', () => {
  const issues = (name: string) => containerSpec.safeParse({ image: 'app:1', env: [{ name, value: 'x' }] }).error?.issues.map(({ message }) => message)
  it('are called as Docker takes it', () => {
    for (const name of ['A', 'discovery.type', 'xpack.security.enabled', '1A', 'a-b', '变量']) expect(issues(name), name).toBeUndefined()
    for (const name of ['', 'a=b', 'a\nb', 'a\0b']) expect(issues(name), name).toEqual(['变量名不能为空，不能包含等号和换行'])
  })
})

describe('ports', () => {
  it('are in conflict where one address of a node is meant twice', () => {
    const at = (...addresses: (string | undefined)[]) => addresses.map((address) => ({ host_port: 53, protocol: 'udp', address }))
    const [loopback, other, all, six] = at('127.0.0.1', '192.0.2.2', undefined, '::1')
    const isTaken = (wanted: ReturnType<typeof at>[number] | undefined, by: ReturnType<typeof at>[number] | undefined) =>
      conflict(wanted === undefined ? [] : [wanted], [{ name: 'one', ports: by === undefined ? [] : [by] }]) !== null
    expect([isTaken(loopback, other), isTaken(loopback, six)]).toEqual([false, false])
    expect([isTaken(loopback, loopback), isTaken(loopback, all), isTaken(all, six)]).toEqual([true, true, true])
    expect(isTaken(at('0.0.0.0')[0], six)).toBe(false)
  })
  it('are in conflict where number and protocol are the same', () => {
    const holders = [
      { name: 'one', ports: [{ host_port: 53, protocol: 'udp' }] },
      { name: 'two', ports: [{ host_port: 80, protocol: 'tcp' }] },
    ]
    expect(conflict([{ host_port: 53, protocol: 'tcp' }], holders)).toBeNull()
    expect(
      conflict(
        [
          { host_port: 443, protocol: 'tcp' },
          { host_port: 80, protocol: 'tcp' },
        ],
        holders,
      ),
    ).toEqual({ port: 80, name: 'two' })
  })
})

describe('the lines of a log', () => {
  const all = (frames: readonly LogFrame[], timestamps = false) => {
    const lines = createLines(timestamps)
    return [...frames.flatMap((frame) => lines.add(frame)), ...lines.rest()].map(({ stream, text: said }) => `${stream} ${said}`)
  }
  it('are the same however the bytes were cut, of both streams', () => {
    const bytes = Buffer.from('第一行\r\nsecond\n\nlast')
    for (let at = 0; at <= bytes.length; at++) {
      const cut: LogFrame[] = [
        { stream: 'stdout', data: bytes.subarray(0, at) },
        { stream: 'stderr', data: Buffer.from('x\n') },
        { stream: 'stdout', data: bytes.subarray(at) },
      ]
      const said = all(cut)
      expect(said.filter((line) => line.startsWith('stdout'))).toEqual(['stdout 第一行', 'stdout second', 'stdout ', 'stdout last'])
      expect(said).toContain('stderr x')
    }
  })
  it('are told with their time, and in parts where they never end', () => {
    const lines = createLines(true)
    expect(lines.add({ stream: 'stdout', data: Buffer.from('2026-11-21T18:11:13.123456789Z a 2026\nno time\n') })).toEqual([
      { at: '2026-11-21T18:11:13.123456789Z', stream: 'stdout', text: 'a 2026' },
      { at: null, stream: 'stdout', text: 'no time' },
    ])
    expect(lines.add({ stream: 'stdout', data: Buffer.alloc(300_000, 'x') })).toHaveLength(1)
  })
  describe('that Docker keeps in pieces', () => {
    const stamp = (second: number) => `2026-11-21T18:11:${String(second).padStart(2, '0')}.123456789Z `
    /** As Docker tells it: a stamp before each piece of 16 KiB. */
    const told = (line: string, first = 10) => {
      const pieces = []
      for (let at = 0; at < line.length || at === 0; at += pieceBytes) pieces.push(stamp(first + at / pieceBytes) + line.slice(at, at + pieceBytes))
      return line.length % pieceBytes === 0 && line !== '' ? `${pieces.join('')}${stamp(59)}\n` : `${pieces.join('')}\n`
    }
    const long = 'a'.repeat(pieceBytes) + '2026-11-21T00:00:00Z of the program'.repeat(1_000)
    const exact = 'b'.repeat(2 * pieceBytes)
    const bytes = Buffer.from(`${told('short')}${told(long)}${told(exact)}${told('')}${told('last')}`)

    it('are whole, with the time of their beginning, however the bytes were cut', () => {
      for (const cut of [1, 7, 4_096, 16_384, bytes.length]) {
        const lines = createLines(true)
        const found = []
        for (let at = 0; at < bytes.length; at += cut) {
          found.push(...lines.add({ stream: 'stdout', data: bytes.subarray(at, at + cut) }))
          if (at % 3 === 0) lines.add({ stream: 'stderr', data: Buffer.from('x') })
        }
        expect(found.map(({ at, text: said }) => [at?.slice(17, 19), said.length])).toEqual([
          ['10', 5],
          ['10', long.length],
          ['10', exact.length],
          ['10', 0],
          ['10', 4],
        ])
        expect(found[1]?.text).toBe(long)
      }
    })
    it('are so in what is downloaded', () => {
      const joining = createJoining()
      const parts = Array.from({ length: Math.ceil(bytes.length / 1_000) }, (_, index) =>
        joining.add({ stream: 'stdout', data: bytes.subarray(1_000 * index, 1_000 * (index + 1)) }),
      )
      const whole = Buffer.concat([...parts, joining.rest('stdout')]).toString()
      expect(whole).toBe([`short`, long, exact, '', 'last'].map((line) => `${stamp(10)}${line}\n`).join(''))
    })
  })
})

describe('archives', () => {
  it('carry one file there and back, whatever it is called', async () => {
    const path = `/a b/${'长'.repeat(60)}/x.bin`
    const content = Buffer.alloc(300_000, 'x')
    expect((await buffer(await onlyFile(fileArchive(path, content)))).equals(content)).toBe(true)
    const streamed = fileArchive(path, { stream: Readable.from([content.subarray(0, 1_000), content.subarray(1_000)]), size: content.length })
    expect((await buffer(await onlyFile(streamed))).equals(content)).toBe(true)
    expect(await text(await onlyFile(fileArchive('/empty', Buffer.alloc(0))))).toBe('')
  })
  it('that are shorter or longer than was said are no archives', async () => {
    for (const size of [9, 11]) {
      await expect(buffer(fileArchive('/x', { stream: Readable.from([Buffer.alloc(10)]), size }))).rejects.toThrow()
    }
  })
  it('of directories are listed, one level deep, up to a limit', async () => {
    const { pack } = await import('tar-stream')
    const tar = () => {
      const archive = pack()
      archive.entry({ name: 'tmp/', type: 'directory' })
      archive.entry({ name: 'tmp/a.txt', mode: 0o600, mtime: new Date(1_000) }, 'hello')
      archive.entry({ name: 'tmp/below/', type: 'directory', mode: 0o755 })
      archive.entry({ name: 'tmp/below/deep.bin' }, Buffer.alloc(100_000))
      archive.entry({ name: 'tmp/link', type: 'symlink', linkname: 'a.txt' })
      archive.finalize()
      return Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false })
    }
    expect(await entriesOf(tar(), { bytes: 2 ** 20 })).toMatchObject([
      { name: 'a.txt', kind: 'file', size_bytes: 5, mode: '0600', modified_at: '1970-01-01T00:00:01.000Z' },
      { name: 'below', kind: 'directory', mode: '0755' },
      { name: 'link', kind: 'link', target: 'a.txt' },
    ])
    expect(await entriesOf(tar(), { bytes: 50_000 })).toBe('too much')
    expect(await entriesOf(fileArchive('/x', Buffer.from('x')), { bytes: 2 ** 20 })).toBe('file')
  })
})

describe('the code of a status', () => {
  const meanings = (ofStack: boolean) => Object.fromEntries(containerStatuses.map((status) => [status, instanceCodeMeaning(statusCodeOf(status, ofStack))]))
  const meant = {
    creating: 'creating',
    running: 'running',
    restarting: 'running',
    paused: 'running',
    error: 'creationFailed',
    deleting: 'deleting',
    exited: null,
    dead: null,
    lost: null,
    unknown: null,
  }

  it('means what the specification says, whoever made the container', () => {
    expect(meanings(false)).toEqual(meant)
    expect(meanings(true)).toEqual(meant)
    expect(statusCodeOf('creating', true)).toBe(6)
  })
  it('is unknown beyond the table', () =>
    expect([-1, 5, 9, 10, 13, 14].map(instanceCodeMeaning)).toEqual(['unknown', 'deletionFailed', 'deletionFailed', null, null, 'unknown']))
})

describe('what ls says', () => {
  it('is read as GNU and BusyBox print it', () => {
    const gnu =
      'total 12\n-rw-r--r-- 1 0 0    5 2026-11-21 18:11:13.123456789 +0000 a b.txt\ndrwxrwxrwt 2 0 0 4096 2026-11-21 18:11:13.000000000 +0800 tmp\nlrwxrwxrwx 1 0 0    7 2026-11-21 18:11:13.000000000 +0000 bin -> usr/bin\ncrw-rw-rw- 1 0 0 1, 3 2026-11-21 18:11:13.000000000 +0000 null\n'
    expect(listed(gnu)).toEqual([
      { name: 'a b.txt', kind: 'file', size_bytes: 5, mode: '0644', modified_at: '2026-11-21T18:11:13.000Z', target: null },
      { name: 'tmp', kind: 'directory', size_bytes: 4096, mode: '1777', modified_at: '2026-11-21T10:11:13.000Z', target: null },
      { name: 'bin', kind: 'link', size_bytes: 7, mode: '0777', modified_at: '2026-11-21T18:11:13.000Z', target: 'usr/bin' },
      { name: 'null', kind: 'other', size_bytes: 0, mode: '0666', modified_at: '2026-11-21T18:11:13.000Z', target: null },
    ])
    expect(listed('total 0\n-rwsr-xr-x    1 0        0                 5 2026-11-21 18:11:13 +0000 x\n')).toMatchObject([
      { name: 'x', mode: '4755', size_bytes: 5 },
    ])
    expect(listed('total 0\n')).toEqual([])
  })
  it('is not trusted where a name breaks the line', () => {
    expect(listed('-rw-r--r-- 1 0 0 5 2026-11-21 18:11:13 +0000 a\nb\n')).toBeNull()
  })

  it('asks again for names as their bytes are, where a program writes question marks for them', async () => {
    const asked: string[] = []
    const items = await directoryOf('/data', async ([program]) => {
      asked.push(program)
      const said = program === 'ls' ? 'total 4\ndrwxr-xr-x 2 0 0 4096 2026-11-21 18:11:13 +0000 ?????????\n' : '41ed|4096|1795284673|755|/data//文件夹\n'
      return { exitCode: 0, stdout: Buffer.from(said) }
    })
    expect(items).toEqual([
      { name: '文件夹', kind: 'directory', size_bytes: 4096, mode: '0755', modified_at: new Date(1_795_284_673_000).toISOString(), target: null },
    ])
    expect(asked).toEqual(['ls', 'find'])
    // Its names can be read by nobody.
    expect(stated('41ed|1|1|755|/data/a\nb\n')).toBeNull()
  })
  it('is asked with the path as one word', () => {
    expect(listing(`/a'; rm -rf /`)).toEqual(['ls', '-lAn', '--full-time', '--', `/a'; rm -rf /`])
  })
})
