import { describe, expect, it } from 'vitest'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { nameOfFile, shareOf, isPassing } from './imageRules.ts'

describe('names of images from files', () => {
  it.each([
    ['ubuntu-24.04.tar.gz', 'ubuntu-24.04'],
    ['debian 12 (cloud).qcow2', 'debian-12-cloud'],
    ['我的镜像.tar.xz', '我的镜像'],
    ['x'.repeat(80), 'x'.repeat(64)],
    ['.tar.gz', ''],
  ])('%s is called %s', (file, name) => expect(nameOfFile(file)).toBe(name))
})

describe('how much of an image is here', () => {
  it('is said while bytes come, where it is known how many', () => {
    expect(shareOf({ status: 'uploading', received_bytes: 25, size_bytes: 100 })).toBe(0.25)
    expect(shareOf({ status: 'fetching', received_bytes: 25, size_bytes: null })).toBeNull()
    expect(shareOf({ status: 'active', received_bytes: 100, size_bytes: 100 })).toBeNull()
  })

  it('is looked at each second while something passes', () => {
    expect(whilePassing([{ status: 'active' }, { status: 'importing' }], isPassing)).toBe(1_000)
    expect(whilePassing([{ status: 'active' }], isPassing)).toBe(5_000)
  })
})
