import type { Call } from '@zhisuan/contract/define'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { vpcTransitional, vpcs, type Vpc, type VpcStatus } from '@zhisuan/contract/nextstack/vpc'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `vpc.status` in the messages. */
export const vpcTones: Readonly<Record<VpcStatus, StatusTone>> = { applying: 'busy', active: 'good', deleting: 'busy', error: 'bad', lost: 'bad' }

/** What is no longer true after anything was done to a network. */
export const invalidatedByVpc: readonly Call[] = [vpcs.list, vpcs.get, vpcs.topology, natGateways.list, natGateways.get]

export const isPassing = (vpc: Pick<Vpc, 'status'>): boolean => vpcTransitional.includes(vpc.status)
