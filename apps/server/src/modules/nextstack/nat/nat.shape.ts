import { addressText } from '@zhisuan/contract/ip'
import type { DnatRule, NatGateway } from '@zhisuan/contract/nextstack/nat'
import { shapeOwned } from '../../../platform/resource.shape.ts'
import { portsText } from '../vpc/vpc.plan.ts'
import type { ShownNatGateway } from './nat.store.ts'

export const shapeRule = (rule: ShownNatGateway['rules'][number]): DnatRule => ({
  id: rule.id,
  eip: { id: rule.eip.id, address: addressText(rule.eip.number) },
  protocol: rule.protocol,
  outside_ports: portsText(rule.outside_first, rule.outside_last),
  inside_address: addressText(rule.inside),
  inside_ports: portsText(rule.inside_first, rule.inside_last),
  vm: rule.vm,
  description: rule.description,
})

/** What its network has come to is what it has come to, unless it goes. */
const statusOf = ({ deleting_at, vpc_status }: ShownNatGateway): NatGateway['status'] =>
  deleting_at !== null && vpc_status !== 'error' ? 'deleting' : vpc_status === 'lost' ? 'error' : vpc_status

export const shapeNat = (row: ShownNatGateway): NatGateway => ({
  ...shapeOwned(row),
  cloud_id: row.cloud_id,
  error: row.vpc_error_text,
  operation_id: row.operation_id,
  status: statusOf(row),
  vpc: { id: row.vpc_id, name: row.vpc_name },
  snat: row.snat,
  snat_eip: row.snat_eip === null ? null : { id: row.snat_eip.id, address: addressText(row.snat_eip.number) },
  rules: row.rules.map(shapeRule),
})
