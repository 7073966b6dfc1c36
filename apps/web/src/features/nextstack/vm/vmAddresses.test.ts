import { expect, it } from 'vitest'
import { usableAddresses } from './vmAddresses.ts'

it('shows IPv4 first and leaves link-local addresses out', () => {
  const addresses = [
    { family: 6, address: 'fe80::1' },
    { family: 6, address: 'fd42::2' },
    { family: 4, address: '169.254.0.9' },
    { family: 4, address: '10.0.0.5' },
  ] as const
  expect(usableAddresses({ addresses: [...addresses] }).map(({ address }) => address)).toEqual(['10.0.0.5', 'fd42::2'])
})
