import type { Call } from '@zhisuan/contract/define'
import { eipPools, eips, eipTransitional, type Eip, type EipStatus } from '@zhisuan/contract/nextstack/eip'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { isAddress } from '@zhisuan/contract/ip'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `eip.status` in the messages. */
export const eipTones: Readonly<Record<EipStatus, StatusTone>> = { available: 'rest', binding: 'busy', bound: 'good', unbinding: 'busy', error: 'bad' }

/** What is no longer true after anything was done to an outside address. */
export const invalidatedByEip: readonly Call[] = [
  eips.list,
  eips.get,
  eipPools.list,
  eipPools.get,
  eipPools.occupancy,
  natGateways.list,
  natGateways.get,
  vpcs.topology,
  vms.list,
  vms.get,
]

/** It will look different soon. */
export const isPassing = ({ status }: Pick<Eip, 'status'>): boolean => eipTransitional.includes(status)

interface Range {
  from: string
  to: string
}

/** Reads ranges from lines such as `203.0.113.10-203.0.113.50`; answers the first line that is none. */
export function parseRanges(text: string): { readonly ranges: readonly Range[] } | { readonly line: number; readonly text: string } {
  const ranges: Range[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '') continue
    const [from = '', to = from, more] = line.split('-').map((part) => part.trim())
    if (more !== undefined || !isAddress(from) || !isAddress(to)) return { line: index + 1, text: line }
    ranges.push({ from, to })
  }
  return { ranges }
}

export const rangesText = (ranges: readonly Range[]): string => ranges.map(({ from, to }) => (from === to ? from : `${from}-${to}`)).join('\n')

/** Lines that are not empty. */
export const linesOf = (text: string): string[] => text.split(/[\n,，\s]+/).filter((line) => line !== '')
