import { overlapping, readRange } from '@zhisuan/contract/compute/address'
import type { newSubnet } from '@zhisuan/contract/compute/network'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Network, Subnet } from '@zhisuan/engines/openstack/network'
import { all } from '@zhisuan/engines/openstack/session'
import type { z } from 'zod'
import { defined } from '../defined.ts'
import { read } from './network.refusals.ts'

type NewSubnet = z.output<typeof newSubnet>

/**
 * Makes one in a network, with what a cloud refuses of it told as a field of the request.
 * @param at where the subnet stands in the request, with a dot behind
 */
export async function makeSubnet(cloud: OpenStack, network: Network, body: NewSubnet, at: string, owner: { projectId?: string }): Promise<Subnet> {
  const { name = '', description, cidr, gateway, dhcp, nameservers, pools, host_routes } = body
  const wish = {
    networkId: network.id,
    cidr,
    version: cidr.includes(':') ? (6 as const) : (4 as const),
    name,
    description,
    ...owner,
    ...defined({ gateway, dhcp, nameservers, pools, hostRoutes: host_routes?.map(({ destination, next_hop }) => ({ destination, nexthop: next_hop })) }),
  }
  return read(cloud.network.subnets.create(wish), [
    {
      kind: 'invalid',
      says: /overlaps with another subnet/i,
      refusal: 'computeRangeTaken',
      field: `${at}cidr`,
      values: async () => {
        const own = readRange(cidr)
        const other = (await all(cloud.network.subnets.list({ network_id: network.id }))).find((one) => {
          const range = readRange(one.cidr)
          return own !== null && range !== null && overlapping(own, range)
        })
        return { name: other?.name ?? '', cidr: other?.cidr ?? cidr }
      },
    },
    { kind: 'invalid', says: /pool/i, refusal: 'engineRefused', field: `${at}pools` },
    { kind: 'invalid', says: /cidr|prefix/i, refusal: 'engineRefused', field: `${at}cidr` },
  ])
}
