import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  linkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BadArchive, untar } from './untar.ts'

let folder: string
let out: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zhisuan-untar-'))
  out = join(folder, 'out')
  mkdirSync(out)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** In pieces of any size. */
async function* pieces(all: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size)
}
const unpack = (archive: Buffer, size = 1_000) => untar(pieces(archive, size), out)

interface Entry {
  readonly path: string
  readonly type?: string
  readonly link?: string
  readonly content?: string
  readonly mode?: number
  readonly size?: number
}
/** As somebody who means harm writes it. */
const archiveOf = (...entries: readonly Entry[]): Buffer =>
  Buffer.concat([
    ...entries.flatMap(({ path, type = '0', link = '', content = '', mode = 0o644, size = content.length }) => {
      const head = Buffer.alloc(512)
      head.write(path, 0, 'latin1')
      head.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
      head.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
      head.write('        ', 148)
      head.write(type, 156)
      head.write(link, 157, 'latin1')
      head.write('ustar\x0000', 257, 'latin1')
      const sum = head.reduce((all, byte) => all + byte, 0)
      head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
      return [head, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]
    }),
    Buffer.alloc(1_024),
  ])

describe('an archive', () => {
  it.each(['gnu', 'pax', 'ustar'])('is unpacked as it was packed: %s', async (format) => {
    const from = join(folder, 'from')
    const deep = join(from, ...(format === 'ustar' ? ['a'.repeat(60), 'b'.repeat(60)] : ['a'.repeat(150), 'b'.repeat(150)]))
    mkdirSync(deep, { recursive: true })
    writeFileSync(join(deep, '文件'), 'x'.repeat(100_000))
    writeFileSync(join(from, 'program'), '#!/bin/sh\n', { mode: 0o4755 })
    execFileSync('chmod', ['4755', join(from, 'program')])
    writeFileSync(join(from, 'empty'), '')
    symlinkSync('program', join(from, 'link'))
    mkdirSync(join(from, 'lib'))
    symlinkSync('../program', join(from, 'lib/up'))
    linkSync(join(from, 'program'), join(from, 'same'))
    await unpack(execFileSync('tar', ['-C', from, `--format=${format}`, '-c', '.'], { maxBuffer: 2 ** 26 }), 777)
    expect(execFileSync('diff', ['-r', '--no-dereference', from, out], { encoding: 'utf8' })).toBe('')
    expect([readlinkSync(join(out, 'link')), readFileSync(join(out, 'same'), 'utf8')]).toEqual(['program', '#!/bin/sh\n'])
    // Nothing runs as somebody else by it.
    expect(statSync(join(out, 'program')).mode & 0o7777).toBe(0o755)
    expect(lstatSync(join(out, 'lib/up')).isSymbolicLink()).toBe(true)
  })

  it.each<[string, readonly Entry[]]>([
    ['a path that leads out', [{ path: '../outside', content: 'x' }]],
    ['a path that leads out in the middle', [{ path: 'a/../../outside', content: 'x' }]],
    ['a path that would come back', [{ path: 'a/../b', content: 'x' }]],
    ['an absolute path', [{ path: `${'/'}outside`, content: 'x' }]],
    ['a link that leads out', [{ path: 'a', type: '2', link: '../outside' }]],
    ['an absolute link', [{ path: 'a', type: '2', link: '/etc/passwd' }]],
    [
      'a link to itself, and a file through it',
      [
        { path: 'a', type: '2', link: '.' },
        { path: 'a/b', content: 'x' },
      ],
    ],
    [
      'a file in the place of a link',
      [
        { path: 'a', type: '2', link: 'b' },
        { path: 'a', content: 'x' },
      ],
    ],
    ['a hard link to what is outside', [{ path: 'a', type: '1', link: '../outside' }]],
    ['a hard link to what is not there', [{ path: 'a', type: '1', link: 'b' }]],
    [
      'a hard link through a link',
      [
        { path: 'd', type: '5' },
        { path: 'l', type: '2', link: 'd' },
        { path: 'a', type: '1', link: 'l/x' },
      ],
    ],
    ['a device', [{ path: 'a', type: '3' }]],
    ['a pipe', [{ path: 'a', type: '6' }]],
    [
      'a file within a file',
      [
        { path: 'a', content: 'x' },
        { path: 'a/b', content: 'x' },
      ],
    ],
    [
      'a name of PAX that leads out',
      [
        { path: 'x', type: 'x', content: '19 path=../outside\n' },
        { path: 'a', content: 'x' },
      ],
    ],
    [
      'a long name that leads out',
      [
        { path: 'x', type: 'L', content: '../outside\0' },
        { path: 'a', content: 'x' },
      ],
    ],
    [
      'a size that is too large',
      [
        { path: 'a', size: 2 ** 33 - 1 },
        { path: 'b', size: 2 ** 33 - 1 },
      ],
    ],
    ['an end in the middle', [{ path: 'a', content: 'x', size: 5_000 }]],
  ])('is refused for %s', async (_, entries) => {
    writeFileSync(join(folder, 'outside'), 'untouched')
    await expect(unpack(archiveOf(...entries))).rejects.toThrow(BadArchive)
    expect([readFileSync(join(folder, 'outside'), 'utf8'), readdirSync(folder).toSorted(), existsSync('/outside')]).toEqual([
      'untouched',
      ['out', 'outside'],
      false,
    ])
  })

  it.each([
    ['nothing of the kind', Buffer.from('x'.repeat(2_000))],
    ['half a head', archiveOf({ path: 'a' }).subarray(0, 300)],
    ['a head that was changed', Buffer.from(archiveOf({ path: 'a' }).map((byte, at) => (at === 0 ? 98 : byte)))],
  ])('is refused where it is %s', async (_, archive) => {
    await expect(unpack(archive)).rejects.toThrow(BadArchive)
  })
})
