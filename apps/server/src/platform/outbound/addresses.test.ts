import { describe, expect, it } from 'vitest'
import { isPublic } from './addresses.ts'

describe('addresses of public machines', () => {
  it.each(['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '100.63.0.1', '100.128.0.1', '223.5.5.5', '2400:3200::1', '2606:4700::1'])(
    '%s is one',
    (address) => expect(isPublic(address)).toBe(true),
  )

  it.each([
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12::1']],
    ['link-local and metadata', ['169.254.169.254', 'fe80::1', '100.100.100.200', 'fd00:ec2::254']],
    [
      'nobody’s',
      [
        '0.0.0.0',
        '::',
        '255.255.255.255',
        '224.0.0.1',
        '240.0.0.1',
        'ff02::1',
        '192.0.2.1',
        '198.51.100.1',
        '203.0.113.1',
        '198.18.0.1',
        '2001:db8::1',
        '3fff::1',
      ],
    ],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::1', '2001:0:7f00:1::1']],
    ['no address', ['localhost', '', '1.1.1', '0x7f000001']],
  ])('%s is none', (_, addresses) => {
    for (const address of addresses) expect(isPublic(address), address).toBe(false)
  })
})
