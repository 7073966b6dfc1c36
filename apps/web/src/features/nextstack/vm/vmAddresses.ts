import type { Vm } from '@zhisuan/contract/nextstack/vm'

type Address = Vm['addresses'][number]

/** Only reachable from its own wire: of no use to a person. */
const isLinkLocal = ({ family, address }: Address): boolean => (family === 6 ? /^fe[89ab]/i.test(address) : address.startsWith('169.254.'))

/** The addresses that people can use, IPv4 first. */
export const usableAddresses = (vm: Pick<Vm, 'addresses'>): readonly Address[] =>
  vm.addresses.filter((one) => !isLinkLocal(one)).sort((one, other) => one.family - other.family)

/** What its network keeps for it while it has none: off, or not there yet. */
export const addressKept = (vm: Pick<Vm, 'addresses' | 'reserved_address'>): string | null =>
  vm.addresses.some(({ family }) => family === 4) ? null : vm.reserved_address

/** For ssh, IPv6 without the brackets that addresses of pages need. */
export const sshCommand = (address: string): string => `ssh root@${address}`
