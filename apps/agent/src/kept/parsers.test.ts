import { describe, expect, it } from 'vitest'
import { saysVersion } from './places.ts'
import { listenersOf } from './ports.ts'

describe('the version that a program tells', () => {
  it.each([
    ['registry github.com/docker/distribution 2.8.1+debian', '2.8.1', true],
    ['v24.21.0', '24.21.0', true],
    ['HAProxy version 2.6.12-1+deb12u1 2023/12/16', '2.6.12', true],
    ['2.8.10', '2.8.1', false],
    ['12.8.1', '2.8.1', false],
    ['2.8.1.4', '2.8.1', false],
    ['2.8.1', '2.8', false],
    ['2x8y1', '2.8.1', false],
    ['', '1', false],
  ])('%s is %s: %s', (said, version, so) => expect(saysVersion(said, version)).toBe(so))
})

describe('who listens', () => {
  const tcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41234 1 0000000000000000 100 0 0 10 0
   1: 0100007F:A1B2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 41235 1 0000000000000000 100 0 0 10 0
`
  it('is read from the kernel, without who is only connected', () => {
    expect(listenersOf(tcp, 'tcp')).toEqual([{ port: 8080, protocol: 'tcp', address: '0100007F', inode: '41234' }])
  })
})
