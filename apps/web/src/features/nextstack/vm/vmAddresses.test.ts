import { expect, it } from 'vitest'
import { addressKept, usableAddresses } from './vmAddresses.ts'

it('shows IPv4 first and leaves link-local addresses out', () => {
  const addresses = [
    { family: 6, address: 'fe80::1' },
    { family: 6, address: 'fd42::2' },
    { family: 4, address: '169.254.0.9' },
    { family: 4, address: '10.0.0.5' },
  ] as const
  expect(usableAddresses({ addresses: [...addresses] }).map(({ address }) => address)).toEqual(['10.0.0.5', 'fd42::2'])
})

it('tells the address that is kept for an instance while it has none', () => {
  expect(addressKept({ addresses: [], reserved_address: '10.0.0.5' })).toBe('10.0.0.5')
  expect(addressKept({ addresses: [{ family: 6, address: 'fe80::1' }], reserved_address: '10.0.0.5' })).toBe('10.0.0.5')
  expect(addressKept({ addresses: [{ family: 4, address: '10.0.0.5' }], reserved_address: '10.0.0.5' })).toBeNull()
  expect(addressKept({ addresses: [], reserved_address: null })).toBeNull()
})
