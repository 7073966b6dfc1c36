import type { Call } from '@zhisuan/contract/define'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import type { TFunction } from 'i18next'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `nat.status` in the messages. */
export const natTones: Readonly<Record<NatGateway['status'], StatusTone>> = { applying: 'busy', active: 'good', deleting: 'busy', error: 'bad' }

/** What is no longer true after anything was done to a gateway. */
export const invalidatedByNat: readonly Call[] = [natGateways.list, natGateways.get, vpcs.list, vpcs.get, vpcs.topology, eips.list]

/** It will look different soon. */
export const isPassing = ({ status }: Pick<NatGateway, 'status'>): boolean => status === 'applying' || status === 'deleting'

/** How instances get out. */
export const snatText = (t: TFunction<'network'>, nat: NatGateway): string => (nat.snat ? (nat.snat_eip?.address ?? t('nat.snatHost')) : t('nat.snatOff'))
