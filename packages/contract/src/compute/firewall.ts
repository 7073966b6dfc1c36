import { z } from 'zod'
import { can } from '../can.ts'
import { defineCall, empty } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, name } from '../validation.ts'
import { lineOf } from '../line.ts'
import { isNetworkAddress, readAddress, readRange } from './address.ts'
import { cloudId, engineId, inCloud } from './ids.ts'
import { engineName } from './network.ts'

/** Neutron's "FWaaS v2": only of clouds that have it. What no rule of a policy fits is not let through. */
export const firewallService = z.object({ available: z.boolean() })

/** Whose it is; null where the cloud does not say. */
const keystone_project_id = z.string().nullable()
/** Whether the asker may change it: tenants what is of their projects and not everybody's, platform-level people all. */
const changeable = z.boolean()
/** Of one of our projects; else of the organisation as a whole. */
const project_id = z.uuid().nullable().default(null)
/** Everybody may use it; for platform-level people to say. */
const shared = z.boolean().default(false)

// Rules

export const firewallActions = ['allow', 'deny', 'reject'] as const
export type FirewallAction = (typeof firewallActions)[number]
export const firewallProtocols = ['tcp', 'udp', 'icmp'] as const
export const ipVersions = [4, 6] as const
const version = z.union([z.literal(4), z.literal(6)])

export const firewallRule = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  action: z.enum(firewallActions),
  /** In Neutron's words; null: any. */
  protocol: z.string().nullable(),
  version,
  /** An address or a range; null: any. */
  source_address: z.string().nullable(),
  /** `80` or `8000-8010`; null: any. */
  source_port: z.string().nullable(),
  destination_address: z.string().nullable(),
  destination_port: z.string().nullable(),
  enabled: z.boolean(),
  shared: z.boolean(),
  /** Those that the asker may see of the policies that it is in. */
  policy_ids: z.array(z.string()),
  keystone_project_id,
  changeable,
})
export type FirewallRule = z.output<typeof firewallRule>

const addressOrRange = z
  .string()
  .trim()
  .max(49)
  .refine((text) => readAddress(text) !== null || readRange(text) !== null, { error: fieldTexts.addressOrRange, abort: true })
  .refine((text) => !text.includes('/') || isNetworkAddress(text), fieldTexts.cidrNetwork)
  .nullable()
const portOrRange = z
  .string()
  .trim()
  .regex(/^\d{1,5}(-\d{1,5})?$/, { error: fieldTexts.firewallPort, abort: true })
  .refine((text) => text.split('-').every((part) => Number(part) >= 1 && Number(part) <= 65_535), { error: fieldTexts.firewallPort, abort: true })
  .refine((text) => {
    const [first, last = first] = text.split('-').map(Number)
    return (first ?? 0) <= (last ?? 0)
  }, fieldTexts.rangeBackwards)
  .nullable()

/** What of a rule says which traffic it is about, and what happens to it. */
export interface FirewallMatch {
  readonly action: FirewallAction
  readonly protocol: string | null
  readonly version: 4 | 6
  readonly source_address: string | null
  readonly source_port: string | null
  readonly destination_address: string | null
  readonly destination_port: string | null
  readonly enabled: boolean
}

const sides = ['source', 'destination'] as const
export const hasPorts = (protocol: string | null): boolean => protocol === 'tcp' || protocol === 'udp'

/** What of a rule does not fit together, at its field; the console says it beside the fields, the server to everybody else. */
export function firewallRuleProblems(
  rule: Pick<FirewallMatch, 'protocol' | 'version' | 'source_address' | 'source_port' | 'destination_address' | 'destination_port'>,
): { readonly field: string; readonly message: string }[] {
  return sides.flatMap((side) => {
    const [address, port] = [rule[`${side}_address`], rule[`${side}_port`]]
    const read = address === null ? null : (readAddress(address) ?? readRange(address))
    return [
      ...(read !== null && read.version !== rule.version ? [{ field: `${side}_address`, message: fieldTexts.firewallVersion }] : []),
      ...(port !== null && !hasPorts(rule.protocol) ? [{ field: `${side}_port`, message: fieldTexts.portsNeedProtocol }] : []),
    ]
  })
}

/** `0.0.0.0/0` and `::/0` say the same as nothing. */
const isAny = (address: string | null): boolean => address === null || readRange(address)?.prefix === 0
/** Whether a rule is about all traffic of its version. */
const isAboutAll = (rule: FirewallMatch): boolean =>
  rule.enabled && rule.protocol === null && sides.every((side) => isAny(rule[`${side}_address`]) && rule[`${side}_port`] === null)
/** Whether a rule lets everything of its version through: rarely what is meant. */
export const opensAll = (rule: FirewallMatch): boolean => rule.action === 'allow' && isAboutAll(rule)

/** For each rule of a policy, in its order, whether traffic still reaches it: behind one about all of its version none does. */
export function reachedRules(rules: readonly (FirewallMatch | undefined)[]): boolean[] {
  const ended = new Set<4 | 6>()
  return rules.map((rule) => {
    const reached = rule === undefined || !ended.has(rule.version)
    if (rule !== undefined && isAboutAll(rule)) ended.add(rule.version)
    return reached
  })
}

const ruleSettings = z.object({
  action: z.enum(firewallActions),
  protocol: z.enum(firewallProtocols).nullable(),
  version,
  source_address: addressOrRange,
  source_port: portOrRange,
  destination_address: addressOrRange,
  destination_port: portOrRange,
  enabled: z.boolean(),
})
const fits = (rule: Parameters<typeof firewallRuleProblems>[0], context: z.core.$RefinementCtx): void => {
  for (const { field, message } of firewallRuleProblems(rule)) context.addIssue({ code: 'custom', path: [field], message, input: rule })
}
const newRule = z
  .object({
    name,
    description: description.default(''),
    action: ruleSettings.shape.action,
    protocol: ruleSettings.shape.protocol.default(null),
    version: version.default(4),
    source_address: addressOrRange.default(null),
    source_port: portOrRange.default(null),
    destination_address: addressOrRange.default(null),
    destination_port: portOrRange.default(null),
    enabled: z.boolean().default(true),
    shared,
    project_id,
  })
  .superRefine(fits)

// Policies

export const firewallPolicy = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  /** Somebody has looked at its rules; any change to them takes that back. */
  audited: z.boolean(),
  shared: z.boolean(),
  /** The cloud's own, of its default firewall. */
  default: z.boolean(),
  /** In the order in which they are looked at; the first that fits decides. */
  rule_ids: z.array(z.string()),
  /** Those that the asker may see of the firewalls that use it. */
  group_ids: z.array(z.string()),
  keystone_project_id,
  changeable,
})
export type FirewallPolicy = z.output<typeof firewallPolicy>

const ruleIds = z
  .array(engineId)
  .max(500)
  .refine((ids) => new Set(ids).size === ids.length, fieldTexts.firewallRuleTwice)

// Groups

/** `created`: not yet anywhere; `inactive`: it has no ports; `down`: switched off. `unknown`: what this list does not know. */
export const firewallStatuses = ['active', 'inactive', 'down', 'created', 'pending_create', 'pending_update', 'pending_delete', 'error', 'unknown'] as const
export type FirewallStatus = (typeof firewallStatuses)[number]

const atRest = ['active', 'inactive', 'down', 'created', 'error', 'unknown'] as const satisfies FirewallStatus[]
export const firewallCan = can<FirewallStatus>()({
  update: atRest,
  ports: atRest,
  // What filters traffic has to be taken off its ports first.
  delete: ['inactive', 'down', 'created', 'error', 'unknown'],
})

export const firewallGroup = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(firewallStatuses),
  enabled: z.boolean(),
  shared: z.boolean(),
  /** The cloud's own of each project: new instances' ports come under it. It cannot be deleted. */
  default: z.boolean(),
  /** Of what comes in; null: none, so that nothing does. */
  ingress_policy_id: z.string().nullable(),
  egress_policy_id: z.string().nullable(),
  /** A port is in one firewall at most. */
  port_ids: z.array(z.string()),
  keystone_project_id,
  changeable,
})
export type FirewallGroup = z.output<typeof firewallGroup>

const policyId = engineId.nullable()
const portIds = z.array(engineId).max(200)
const somePorts = z.object({ port_ids: portIds.min(1) })

const of = (kind: string): string => `/api/compute/v1/clouds/{cloud_id}/${kind}`
const read = { access: tenants, method: 'GET', params: cloudId } as const
const made = { access: tenants, method: 'POST', status: 201, params: cloudId } as const
const changed = { access: tenants, params: inCloud } as const

export const firewallServices = {
  get: defineCall({
    ...read,
    id: 'compute.firewall.get',
    path: of('firewall'),
    summary: 'Whether the cloud has a firewall service (FWaaS v2); without it all other calls of firewalls are refused (93190)',
    response: firewallService,
  }),
} as const

export const firewallGroups = {
  list: defineCall({
    ...read,
    id: 'compute.firewallGroup.list',
    path: of('firewall-groups'),
    summary: 'Firewalls that the asker may see, in lines',
    lines: true,
    response: lineOf(firewallGroup),
  }),
  create: defineCall({
    ...made,
    id: 'compute.firewallGroup.create',
    path: of('firewall-groups'),
    summary: 'Make a firewall of policies and of ports of routers and instances. `shared` is for platform-level people',
    body: z.object({
      name,
      description: description.default(''),
      enabled: z.boolean().default(true),
      ingress_policy_id: policyId.default(null),
      egress_policy_id: policyId.default(null),
      port_ids: portIds.default([]),
      shared,
      project_id,
    }),
    response: firewallGroup,
  }),
  update: defineCall({
    ...changed,
    id: 'compute.firewallGroup.update',
    method: 'PUT',
    path: of('firewall-groups/{id}'),
    summary: 'Change what is given; not while it is pending (93192). `shared` is for platform-level people',
    body: z
      .object({ name: engineName, description, enabled: z.boolean(), ingress_policy_id: policyId, egress_policy_id: policyId, shared: z.boolean() })
      .partial(),
    response: firewallGroup,
  }),
  addPorts: defineCall({
    ...changed,
    id: 'compute.firewallGroup.addPorts',
    method: 'POST',
    path: of('firewall-groups/{id}/ports'),
    summary: 'Filter the traffic of further ports, each of which is in no other firewall',
    body: somePorts,
    response: firewallGroup,
  }),
  removePorts: defineCall({
    ...changed,
    id: 'compute.firewallGroup.removePorts',
    method: 'POST',
    path: of('firewall-groups/{id}/ports/remove'),
    summary: 'Filter the traffic of ports no more',
    body: somePorts,
    response: firewallGroup,
  }),
  delete: defineCall({
    ...changed,
    id: 'compute.firewallGroup.delete',
    method: 'DELETE',
    path: of('firewall-groups/{id}'),
    summary: 'Delete a firewall; refused while it has ports or is active (93191), and of the default one (93195)',
    response: empty,
  }),
} as const

export const firewallPolicies = {
  list: defineCall({
    ...read,
    id: 'compute.firewallPolicy.list',
    path: of('firewall-policies'),
    summary: 'Firewall policies that the asker may see, with their rules in order, in lines',
    lines: true,
    response: lineOf(firewallPolicy),
  }),
  create: defineCall({
    ...made,
    id: 'compute.firewallPolicy.create',
    path: of('firewall-policies'),
    summary: 'Make a policy of rules in their order. `shared` is for platform-level people, and takes shared rules only',
    body: z.object({ name, description: description.default(''), audited: z.boolean().default(false), rule_ids: ruleIds.default([]), shared, project_id }),
    response: firewallPolicy,
  }),
  update: defineCall({
    ...changed,
    id: 'compute.firewallPolicy.update',
    method: 'PUT',
    path: of('firewall-policies/{id}'),
    summary: 'Change what is given; without `audited` it is audited no more. `shared` is for platform-level people',
    body: z.object({ name: engineName, description, audited: z.boolean(), shared: z.boolean() }).partial(),
    response: firewallPolicy,
  }),
  insertRule: defineCall({
    ...changed,
    id: 'compute.firewallPolicy.insertRule',
    method: 'POST',
    path: of('firewall-policies/{id}/rules'),
    summary: 'Put a rule into a policy, behind another; of null first',
    body: z.object({ rule_id: engineId, after: engineId.nullable().default(null) }),
    response: firewallPolicy,
  }),
  removeRule: defineCall({
    ...changed,
    id: 'compute.firewallPolicy.removeRule',
    method: 'POST',
    path: of('firewall-policies/{id}/rules/remove'),
    summary: 'Take a rule out of a policy',
    body: z.object({ rule_id: engineId }),
    response: firewallPolicy,
  }),
  setRules: defineCall({
    ...changed,
    id: 'compute.firewallPolicy.setRules',
    method: 'PUT',
    path: of('firewall-policies/{id}/rules'),
    summary: 'Put the rules of a policy in order; `was` is the order that the asker saw, and refused where another changed it meanwhile (90012)',
    body: z.object({ rule_ids: ruleIds, was: z.array(engineId).max(500) }),
    response: firewallPolicy,
  }),
  delete: defineCall({
    ...changed,
    id: 'compute.firewallPolicy.delete',
    method: 'DELETE',
    path: of('firewall-policies/{id}'),
    summary: 'Delete a policy; refused while firewalls use it (93193)',
    response: empty,
  }),
} as const

export const firewallRules = {
  list: defineCall({
    ...read,
    id: 'compute.firewallRule.list',
    path: of('firewall-rules'),
    summary: 'Firewall rules that the asker may see, in lines',
    lines: true,
    response: lineOf(firewallRule),
  }),
  create: defineCall({
    ...made,
    id: 'compute.firewallRule.create',
    path: of('firewall-rules'),
    summary: 'Make a rule; it does nothing before a policy has it. `shared` is for platform-level people',
    body: newRule,
    response: firewallRule,
  }),
  update: defineCall({
    ...changed,
    id: 'compute.firewallRule.update',
    method: 'PUT',
    path: of('firewall-rules/{id}'),
    summary: 'Change what is given; what the rule is then has to fit together. Its policies are audited no more',
    body: ruleSettings.extend({ name: engineName, description, shared: z.boolean() }).partial(),
    response: firewallRule,
  }),
  delete: defineCall({
    ...changed,
    id: 'compute.firewallRule.delete',
    method: 'DELETE',
    path: of('firewall-rules/{id}'),
    summary: 'Delete a rule; refused while a policy has it (93194)',
    response: empty,
  }),
} as const
