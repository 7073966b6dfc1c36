import { describe, expect, it } from 'vitest'
import { addressNumber, addressText, compareAddresses, isAddress, isNetwork, overlaps, parseCidr } from './ip.ts'
import { vpcCidr } from './nextstack/vpc.ts'

describe('IPv4 addresses', () => {
  it.each(['0.0.0.0', '10.1.0.5', '255.255.255.255'])('reads %s and writes it again', (text) => {
    expect(addressText(addressNumber(text) ?? -1)).toBe(text)
  })
  it.each(['', '10.1.0', '10.1.0.256', '10.1.0.05', '10.1.0.5.6', ' 10.1.0.5', '1e1.0.0.1', '::1', '-1.0.0.0'])('refuses %j', (text) => {
    expect(isAddress(text)).toBe(false)
  })
  it('orders by number, not by letter', () => {
    expect(compareAddresses('10.0.0.9', '10.0.0.10')).toBeLessThan(0)
  })
})

describe('IPv4 ranges', () => {
  it('reads the range that an address lies in', () => {
    const cidr = parseCidr('10.1.0.5/24')
    expect([addressText(cidr?.first ?? 0), addressText(cidr?.last ?? 0), cidr?.prefix]).toEqual(['10.1.0.0', '10.1.0.255', 24])
  })
  it.each(['10.1.0.0', '10.1.0.0/33', '10.1.0.0/', '10.1.0.0/24/8', '10.1.0.0/-1', 'x/24'])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeNull()
  })
  it('tells a network from an address in it', () => {
    expect([isNetwork('10.1.0.0/24'), isNetwork('10.1.0.5/24'), isNetwork('0.0.0.0/0'), isNetwork('10.1.0.5/32')]).toEqual([true, false, true, true])
  })
  it.each([
    ['10.1.0.0/24', '10.1.0.0/16', true],
    ['10.1.0.0/24', '10.1.1.0/24', false],
    ['10.1.0.128/25', '10.1.0.0/24', true],
    ['0.0.0.0/0', '192.168.7.0/29', true],
  ])('%s and %s overlap: %s', (left, right, expected) => {
    const [one, other] = [parseCidr(left), parseCidr(right)]
    expect(one !== null && other !== null && overlaps(one, other) && overlaps(other, one)).toBe(expected)
  })
})

describe('the range of a private network', () => {
  it.each(['10.1.0.0/24', '172.31.0.0/16', '192.168.1.8/29', '100.64.0.0/16'])('may be %s', (text) => expect(vpcCidr.safeParse(text).success).toBe(true))
  it.each(['10.0.0.0/8', '10.1.0.0/30', '8.8.8.0/24', '172.32.0.0/16', '100.128.0.0/16', '10.1.0.1/24', 'abc', ''])('may not be %j', (text) => {
    expect(vpcCidr.safeParse(text).success).toBe(false)
  })
})
