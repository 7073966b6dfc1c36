import type { ComputeNetwork, NetworkStatus, PortUse, Route } from '@zhisuan/contract/compute/network'
import { computeNetworks, computePorts, computeSubnets } from '@zhisuan/contract/compute/network'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { computeRouters } from '@zhisuan/contract/compute/router'
import type { z } from 'zod'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'

export const networkTones: Readonly<Record<NetworkStatus, StatusTone>> = { active: 'good', building: 'busy', down: 'rest', error: 'bad', unknown: 'warning' }

/** What a change to any of them makes untrue. */
export const invalidatedByNetwork = [
  computeNetworks.list,
  computeNetworks.get,
  computeSubnets.list,
  computeSubnets.get,
  computePorts.list,
  computePorts.get,
  computeRouters.list,
  computeRouters.get,
  keystoneProjects.mine,
] as const

/** The page of what a port is plugged into; null where there is none. */
export function deviceAddress(use: PortUse, id: string | null): string | null {
  if (id === null) return null
  return use === 'instance' ? paths.compute.instance.detail(id) : use === 'router' || use === 'gateway' ? paths.compute.router.detail(id) : null
}

/** A network in a choice: its name and its ranges. */
export const networkLabel = ({ name, id, subnets }: ComputeNetwork): string => [name === '' ? id : name, ...subnets.map(({ cidr }) => cidr)].join(' · ')
export const subnetLabel = ({ name, cidr }: { readonly name: string; readonly cidr: string }): string => (name === '' ? cidr : `${name} · ${cidr}`)

/** What stands on the lines of a text, without the empty ones. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

type Pool = { start: string; end: string }
/** `10.1.0.10-10.1.0.20` on each line. */
export const poolsOf = (text: string): Pool[] =>
  linesOf(text).map((line) => {
    const [start = '', end = ''] = line.split('-').map((part) => part.trim())
    return { start, end }
  })
export const poolsText = (pools: readonly Pool[]): string => pools.map(({ start, end }) => `${start}-${end}`).join('\n')

/** A destination and a next hop on each line, with a space between. */
export const routesOf = (text: string): Route[] =>
  linesOf(text).map((line) => {
    const [destination = '', next_hop = ''] = line.split(/[\s,]+/)
    return { destination, next_hop }
  })
export const routesText = (routes: readonly Route[]): string => routes.map(({ destination, next_hop }) => `${destination} ${next_hop}`).join('\n')

/** Judges a text by what it is read as, and says on which line the first problem is. */
export const judged = (schema: z.ZodType, readAs: (text: string) => readonly unknown[], where: (line: number, message: string) => string) => [
  {
    validator: async (_rule: unknown, value: unknown): Promise<void> => {
      const result = schema.safeParse(typeof value === 'string' ? readAs(value) : [])
      const issue = result.success ? undefined : result.error.issues[0]
      if (issue === undefined) return
      const [line] = issue.path
      throw new Error(typeof line === 'number' ? where(line + 1, issue.message) : issue.message)
    },
  },
]
