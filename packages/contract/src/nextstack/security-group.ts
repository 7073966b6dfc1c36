import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery } from '../define.ts'
import { isNetwork, parseCidr } from '../ip.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named } from '../validation.ts'
import { inProject, owned, reference } from '../resource.ts'

export const ruleDirections = ['ingress', 'egress'] as const
/** `drop` says nothing, `reject` says no. */
export const ruleActions = ['drop', 'reject', 'allow'] as const
export const ruleProtocols = ['any', 'tcp', 'udp', 'icmp'] as const

/** `22`, `80,443`, `8000-8999`: at most 15 parts, each within 1 to 65535, empty for any. */
const ports = z
  .string()
  .trim()
  .max(128)
  .refine((text) => text === '' || (text.split(',').length <= 15 && text.split(',').every(isPortRange)), fieldTexts.ports)

function isPortRange(text: string): boolean {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text)
  if (match === null) return false
  const from = Number(match[1])
  const to = Number(match[2] ?? match[1])
  return from >= 1 && to <= 65_535 && from <= to
}

/** `0.0.0.0/0`, `10.1.0.0/24`; a single address is a /32. */
const remote = z
  .string()
  .trim()
  .transform((text) => (text.includes('/') ? text : `${text}/32`))
  .refine((text) => parseCidr(text) !== null && isNetwork(text), fieldTexts.remote)

export const securityRule = z
  .object({
    direction: z.enum(ruleDirections),
    action: z.enum(ruleActions).default('allow'),
    protocol: z.enum(ruleProtocols),
    ports: ports.default(''),
    /** Who, seen from the instance: where it comes from (ingress), or goes to (egress). */
    remote: remote.default('0.0.0.0/0'),
    description: description.default(''),
  })
  .refine((rule) => rule.ports === '' || rule.protocol === 'tcp' || rule.protocol === 'udp', { path: ['ports'], message: fieldTexts.portsNeedProtocol })
export type SecurityRule = z.output<typeof securityRule>

/**
 * Rules at the border of a network: what instances of one network say to each other is not
 * filtered. In the order in which they are looked at: all `drop`, all `reject`, all `allow`; what
 * none meets is dropped on the way in and let out. Answers always pass.
 */
export const inOrder = <T extends Pick<SecurityRule, 'action'>>(rules: readonly T[]): T[] =>
  [...rules].sort((left, right) => ruleActions.indexOf(left.action) - ruleActions.indexOf(right.action))

export const ruleTemplates = {
  ssh: [{ direction: 'ingress', action: 'allow', protocol: 'tcp', ports: '22', remote: '0.0.0.0/0', description: 'SSH' }],
  web: [
    { direction: 'ingress', action: 'allow', protocol: 'tcp', ports: '80,443', remote: '0.0.0.0/0', description: 'HTTP, HTTPS' },
    { direction: 'ingress', action: 'allow', protocol: 'icmp', ports: '', remote: '0.0.0.0/0', description: 'ping' },
  ],
  all: [{ direction: 'ingress', action: 'allow', protocol: 'any', ports: '', remote: '0.0.0.0/0', description: '' }],
  none: [],
} as const satisfies Record<string, readonly SecurityRule[]>
export const templateNames = ['ssh', 'web', 'all', 'none'] as const satisfies readonly (keyof typeof ruleTemplates)[]

export const securityGroup = z.object({
  ...owned,
  cloud_id: z.uuid(),
  /** `applying` while a network that it guards is not yet as it says; `error` where one could not be made so. */
  status: z.enum(['active', 'applying', 'error']),
  error: z.string().nullable(),
  rules: z.array(securityRule),
  /** Counts changes of the rules: who changes them names the revision that they saw. */
  revision: z.int(),
  vm_count: z.int(),
  vpc_count: z.int(),
})
export type SecurityGroup = z.output<typeof securityGroup>

const rules = z.array(securityRule).max(100, fieldTexts.tooManyRules)
const base = '/api/nextstack/v1/security-groups'

export const securityGroups = {
  list: defineCall({
    id: 'nextstack.securityGroup.list',
    method: 'GET',
    path: base,
    summary: 'Groups of rules that guard instances and networks',
    access: tenants,
    query: listQuery(['name', 'created_at'], { cloud_id: z.uuid().optional(), vm_id: z.uuid().optional(), vpc_id: z.uuid().optional(), keyword }),
    response: listOf(securityGroup),
  }),
  get: defineCall({
    id: 'nextstack.securityGroup.get',
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'One group, with what it guards',
    access: tenants,
    params: byId,
    response: securityGroup.extend({ vms: z.array(reference), vpcs: z.array(reference) }),
  }),
  create: defineCall({
    id: 'nextstack.securityGroup.create',
    method: 'POST',
    path: base,
    summary: 'Make a group, from a template where no rules are given',
    access: tenants,
    status: 201,
    body: z.object({
      cloud_id: z.uuid(),
      name,
      description: description.default(''),
      template: z.enum(templateNames).default('none'),
      rules: rules.optional(),
      ...inProject,
    }),
    response: securityGroup,
  }),
  update: defineCall({
    id: 'nextstack.securityGroup.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: byId,
    body: named,
    response: securityGroup,
  }),
  setRules: defineCall({
    id: 'nextstack.securityGroup.setRules',
    method: 'PUT',
    path: `${base}/{id}/rules`,
    summary: 'Replace the rules; 409 (90012) where somebody else changed them meanwhile',
    access: tenants,
    params: byId,
    status: 202,
    body: z.object({ revision: z.int(), rules }),
    response: securityGroup,
  }),
  delete: defineCall({
    id: 'nextstack.securityGroup.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete a group that guards nothing (94111)',
    access: tenants,
    params: byId,
    response: empty,
  }),
} as const
