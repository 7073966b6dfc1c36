import { z } from 'zod'
import { can } from '../can.ts'
import { defineCall, empty } from '../define.ts'
import { templateNames } from '../nextstack/security-group.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { lineOf } from '../line.ts'
import { description, name } from '../validation.ts'
import { isNetworkAddress, readAddress, readRange } from './address.ts'
import { cloudId, engineId, inCloud } from './ids.ts'
import { engineName } from './network.ts'

export const ruleDirections = ['ingress', 'egress'] as const
export type RuleDirection = (typeof ruleDirections)[number]

/** What has ports, by its name and its number (IANA): TCP, UDP, DCCP, SCTP, UDP-Lite. */
const withPorts: readonly string[] = ['tcp', '6', 'udp', '17', 'dccp', '33', 'sctp', '132', 'udplite', '136']
const icmpOf: Readonly<Record<string, 4 | 6>> = { icmp: 4, '1': 4, icmpv6: 6, '58': 6 }
export const hasPorts = (protocol: string | null): boolean => protocol !== null && withPorts.includes(protocol)
export const isIcmp = (protocol: string | null): boolean => protocol !== null && icmpOf[protocol] !== undefined

const port = z.int(fieldTexts.rulePort).min(1, fieldTexts.rulePort).max(65_535, fieldTexts.rulePort)
const icmp = z.int(fieldTexts.ruleIcmp).min(0, fieldTexts.ruleIcmp).max(255, fieldTexts.ruleIcmp)
/** A name of these, or a number; null: any. */
const protocol = z
  .string(fieldTexts.ruleProtocol)
  .trim()
  .refine((text) => ['tcp', 'udp', 'icmp', 'icmpv6'].includes(text) || (/^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= 255), fieldTexts.ruleProtocol)
/** A single address is a range of one. */
const remote = z
  .string(fieldTexts.ruleRemote)
  .trim()
  .transform((text) => (readAddress(text) === null ? text : `${text}/${text.includes(':') ? 128 : 32}`))
  .refine((text) => readRange(text) !== null, { error: fieldTexts.ruleRemote, abort: true })
  .refine(isNetworkAddress, { error: fieldTexts.cidrNetwork, abort: true })

/** Traffic that a group lets through; what no rule of a port's groups lets through is dropped. */
export const ruleWish = z.object({
  direction: z.enum(ruleDirections),
  version: z.union([z.literal(4), z.literal(6)]).default(4),
  protocol: protocol.nullable().default(null),
  /** Of protocols with ports; null: all. */
  port_from: port.nullable().default(null),
  port_to: port.nullable().default(null),
  /** Of ICMP; null: all. */
  icmp_type: icmp.nullable().default(null),
  icmp_code: icmp.nullable().default(null),
  /** Where it comes from (ingress), or goes to (egress); null: anywhere, unless a group is said. */
  remote_cidr: remote.nullable().default(null),
  /** Or the instances of another group. */
  remote_group_id: engineId.nullable().default(null),
  description: description.default(''),
})
export type RuleWish = z.output<typeof ruleWish>

/** What of a rule does not fit together, at its field; the console says it beside the fields, the server to everybody else. */
export function ruleProblems(rule: Omit<RuleWish, 'direction' | 'description'>): { readonly field: keyof RuleWish; readonly message: string }[] {
  const problems: { field: keyof RuleWish; message: string }[] = []
  const say = (field: keyof RuleWish, message: string): void => void problems.push({ field, message })
  const { version, protocol: of, port_from, port_to, icmp_type, icmp_code, remote_cidr, remote_group_id } = rule
  if (!hasPorts(of) && port_from !== null) say('port_from', fieldTexts.ruleNoPorts)
  else if (!hasPorts(of) && port_to !== null) say('port_to', fieldTexts.ruleNoPorts)
  else if (port_from === null && port_to !== null) say('port_from', fieldTexts.rulePortFrom)
  else if (port_from !== null && port_to !== null && port_to < port_from) say('port_to', fieldTexts.rulePortsBackwards)
  if (!isIcmp(of) && icmp_type !== null) say('icmp_type', fieldTexts.ruleIcmpOnly)
  else if (!isIcmp(of) && icmp_code !== null) say('icmp_code', fieldTexts.ruleIcmpOnly)
  else if (icmp_type === null && icmp_code !== null) say('icmp_type', fieldTexts.ruleIcmpType)
  if (of !== null && icmpOf[of] !== undefined && icmpOf[of] !== version) say('version', fieldTexts.ruleIcmpVersion)
  if (remote_cidr !== null && remote_group_id !== null) say('remote_group_id', fieldTexts.ruleOneRemote)
  else if (remote_cidr !== null && readRange(remote_cidr)?.version !== version) say('remote_cidr', fieldTexts.ruleRemoteVersion)
  return problems
}

export const computeSecurityRule = z.object({
  id: z.string(),
  direction: z.enum(ruleDirections),
  version: z.union([z.literal(4), z.literal(6)]),
  /** As the cloud calls it; null: any. */
  protocol: z.string().nullable(),
  port_from: z.int().nullable(),
  port_to: z.int().nullable(),
  icmp_type: z.int().nullable(),
  icmp_code: z.int().nullable(),
  remote_cidr: z.string().nullable(),
  remote_group_id: z.string().nullable(),
  description: z.string(),
})
export type ComputeSecurityRule = z.output<typeof computeSecurityRule>

/** Each project has one that the cloud made: it stays, as it is called. */
export const defaultGroup = 'default'
/** By whether it is that one. */
export const securityGroupCan = can<'default' | 'own'>()({ rename: ['own'], update: ['default', 'own'], delete: ['own'] })
export const kindOfGroup = ({ name: called }: Pick<ComputeSecurityGroup, 'name'>): 'default' | 'own' => (called === defaultGroup ? 'default' : 'own')

/** Which traffic reaches instances, as Neutron keeps it. */
export const computeSecurityGroup = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  rule_count: z.int(),
  /** How many ports of the asker it guards. */
  port_count: z.int(),
  /** Groups that its rules name: those rules go with them. */
  remote_group_ids: z.array(z.string()),
  keystone_project_id: z.string().nullable(),
  /** Whether the asker may change it. */
  changeable: z.boolean(),
})
export type ComputeSecurityGroup = z.output<typeof computeSecurityGroup>

const base = '/api/compute/v1/clouds/{cloud_id}/security-groups'
const of = { access: tenants, params: inCloud } as const

export const computeSecurityGroups = {
  list: defineCall({
    id: 'compute.securityGroup.list',
    method: 'GET',
    path: base,
    summary: 'Security groups of the asker, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeSecurityGroup),
  }),
  get: defineCall({
    ...of,
    id: 'compute.securityGroup.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One security group, with its rules',
    response: computeSecurityGroup.extend({ rules: z.array(computeSecurityRule), names: z.record(z.string(), z.string()) }),
  }),
  create: defineCall({
    id: 'compute.securityGroup.create',
    method: 'POST',
    path: base,
    summary: 'Make a security group with the rules of a template: both or none. All is let out, as the cloud does it',
    access: tenants,
    status: 201,
    params: cloudId,
    body: z.object({
      name,
      description: description.default(''),
      template: z.enum(templateNames).default('none'),
      project_id: z.uuid().nullable().default(null),
    }),
    response: computeSecurityGroup,
  }),
  update: defineCall({
    ...of,
    id: 'compute.securityGroup.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change what is given; the default group keeps its name (93186)',
    body: z.object({ name: engineName, description }).partial(),
    response: computeSecurityGroup,
  }),
  delete: defineCall({
    ...of,
    id: 'compute.securityGroup.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a group that guards no port (93185); rules of other groups that name it go along',
    response: empty,
  }),
  addRule: defineCall({
    ...of,
    id: 'compute.securityGroup.addRule',
    method: 'POST',
    path: `${base}/{id}/rules`,
    summary: 'Let something through; refused where a rule says the same (93187)',
    status: 201,
    body: ruleWish.superRefine((rule, context) => {
      for (const { field, message } of ruleProblems(rule)) context.addIssue({ code: 'custom', path: [field], message, input: rule })
    }),
    response: computeSecurityRule,
  }),
  removeRule: defineCall({
    id: 'compute.securityGroup.removeRule',
    method: 'DELETE',
    path: `${base}/{id}/rules/{security_group_rule_id}`,
    summary: 'Let something through no more',
    access: tenants,
    params: inCloud.extend({ security_group_rule_id: engineId }),
    response: empty,
  }),
} as const
