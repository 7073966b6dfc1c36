import { ruleTemplates, type SecurityRule } from '@zhisuan/contract/nextstack/security-group'
import { describe, expect, it } from 'vitest'
import { planOf, type VpcFacts } from './vpc.plan.ts'

const a = (last: number): number => 0x0a010000 + last
const outside = (last: number): number => 0xcb007100 + last
const facts = (wish: Partial<VpcFacts> = {}): VpcFacts => ({
  id: '018f0000-0000-7000-8000-00000000abcd',
  cloud_id: '018f0000-0000-7000-8000-00000000c10d',
  engine_name: 'zs-00000000abcd',
  name: '生产',
  cidr: '10.1.0.0/24',
  dhcp: true,
  dns_domain: null,
  groups: [],
  member_groups: [],
  nat: null,
  eips: [],
  rules: [],
  ...wish,
})
const rule = (wish: Partial<SecurityRule> = {}): SecurityRule => ({
  direction: 'ingress',
  action: 'allow',
  protocol: 'tcp',
  ports: '22',
  remote: '0.0.0.0/0',
  description: '',
  ...wish,
})
const dnat = (wish: Partial<VpcFacts['rules'][number]> = {}): VpcFacts['rules'][number] => ({
  eip_id: 'e1',
  number: outside(10),
  protocol: 'tcp',
  outside_first: 80,
  outside_last: 80,
  inside: a(5),
  inside_first: 8080,
  inside_last: 8080,
  description: '',
  ...wish,
})

describe('the plan of a network', () => {
  it('is the network alone, its first address the gateway, closed from outside, without a way out', () => {
    expect(planOf(facts())).toEqual({
      network: {
        name: 'zs-00000000abcd',
        description: '生产',
        ipv4: '10.1.0.1/24',
        dhcp: true,
        dnsDomain: null,
        nat: false,
        natAddress: null,
        acl: 'zs-00000000abcd',
        tags: { vpc_id: '018f0000-0000-7000-8000-00000000abcd' },
      },
      acl: { name: 'zs-00000000abcd', description: '生产', ingress: [], egress: [], tags: { vpc_id: '018f0000-0000-7000-8000-00000000abcd' } },
      forwards: [],
    })
  })

  it.each([
    ['10.1.0.0/29', '10.1.0.1/29'],
    ['172.16.0.0/16', '172.16.0.1/16'],
    ['192.168.255.248/29', '192.168.255.249/29'],
  ])('of %s has the gateway %s', (cidr, gateway) => {
    expect(planOf(facts({ cidr })).network.ipv4).toBe(gateway)
  })

  it('lets out by the gateway’s address, where it lets out at all', () => {
    expect(planOf(facts({ nat: { snat: true, snat_address: null } })).network).toMatchObject({ nat: true, natAddress: null })
    expect(planOf(facts({ nat: { snat: true, snat_address: outside(9) } })).network).toMatchObject({ nat: true, natAddress: '203.0.113.9' })
    expect(planOf(facts({ nat: { snat: false, snat_address: outside(9) } })).network).toMatchObject({ nat: false, natAddress: null })
  })
})

describe('rules', () => {
  it('of the network’s groups are about all of it', () => {
    const { acl } = planOf(
      facts({
        groups: [
          {
            rules: [
              rule({ description: 'SSH', remote: '192.0.2.0/24' }),
              rule({ direction: 'egress', action: 'drop', protocol: 'udp', ports: '53', remote: '198.51.100.1/32' }),
            ],
          },
        ],
      }),
    )
    expect(acl.ingress).toEqual([
      { action: 'allow', protocol: 'tcp', source: ['192.0.2.0/24'], destination: ['10.1.0.0/24'], destinationPorts: ['22'], description: 'SSH' },
    ])
    expect(acl.egress).toEqual([
      { action: 'drop', protocol: 'udp', source: ['10.1.0.0/24'], destination: ['198.51.100.1/32'], destinationPorts: ['53'], description: '' },
    ])
  })

  it('of instances’ groups are about those, all in one', () => {
    const { acl } = planOf(
      facts({
        member_groups: [
          { rules: [rule({ ports: '5432' }), rule({ direction: 'egress', action: 'reject', protocol: 'any', ports: '' })], addresses: [a(3), a(7)] },
        ],
      }),
    )
    expect(acl.ingress).toEqual([
      { action: 'allow', protocol: 'tcp', source: [], destination: ['10.1.0.3/32', '10.1.0.7/32'], destinationPorts: ['5432'], description: '' },
    ])
    expect(acl.egress).toEqual([
      { action: 'reject', protocol: null, source: ['10.1.0.3/32', '10.1.0.7/32'], destination: [], destinationPorts: [], description: '' },
    ])
  })

  it('of a group without instances are none: they would be about everybody', () => {
    const { acl } = planOf(facts({ member_groups: [{ rules: ruleTemplates.all, addresses: [] }] }))
    expect([acl.ingress, acl.egress]).toEqual([[], []])
  })

  it('say protocols and ports as engines do', () => {
    const said = (wish: Partial<SecurityRule>) => planOf(facts({ groups: [{ rules: [rule(wish)] }] })).acl.ingress[0]
    expect(said({ protocol: 'any', ports: '' })).toMatchObject({ protocol: null, destinationPorts: [] })
    expect(said({ protocol: 'icmp', ports: '' })).toMatchObject({ protocol: 'icmp4', destinationPorts: [] })
    expect(said({ ports: '80,443,8000-8999' })).toMatchObject({ destinationPorts: ['80', '443', '8000-8999'] })
    expect(said({ ports: '080-80,00443' })).toMatchObject({ destinationPorts: ['80', '443'] })
  })

  it('that say the same twice are said once, in the order in which they are looked at', () => {
    const rules = [rule(), rule({ description: 'once more' }), rule({ action: 'drop', remote: '192.0.2.1/32' }), rule({ action: 'reject', ports: '25' })]
    const { ingress } = planOf(facts({ groups: [{ rules }, { rules: [rule()] }] })).acl
    expect(ingress.map(({ action, destinationPorts }) => [action, ...destinationPorts])).toEqual([
      ['drop', '22'],
      ['reject', '25'],
      ['allow', '22'],
    ])
  })

  it('of the same group on the network and on an instance are both said', () => {
    const group = { rules: [rule()] }
    expect(planOf(facts({ groups: [group], member_groups: [{ ...group, addresses: [a(3)] }] })).acl.ingress.map(({ destination }) => destination)).toEqual([
      ['10.1.0.0/24'],
      ['10.1.0.3/32'],
    ])
  })
})

describe('forwards', () => {
  it('of an address on an instance lead everything to it', () => {
    expect(planOf(facts({ eips: [{ id: 'e1', number: outside(1), inside: a(3) }] })).forwards).toEqual([
      { eip_id: 'e1', forward: { address: '203.0.113.1', description: '', target: '10.1.0.3', ports: [] } },
    ])
  })

  it('of a gateway’s address lead ports, and nothing else anywhere', () => {
    const rules = [
      dnat(),
      dnat({ protocol: 'udp', outside_first: 5000, outside_last: 5010, inside_first: 5000, inside_last: 5010, inside: a(6), description: 'RTP' }),
      dnat({ eip_id: 'e2', number: outside(11) }),
    ]
    expect(planOf(facts({ rules })).forwards).toEqual([
      {
        eip_id: 'e1',
        forward: {
          address: '203.0.113.10',
          description: '',
          target: null,
          ports: [
            { protocol: 'tcp', listenPorts: '80', targetAddress: '10.1.0.5', targetPorts: '8080', description: '' },
            { protocol: 'udp', listenPorts: '5000-5010', targetAddress: '10.1.0.6', targetPorts: null, description: 'RTP' },
          ],
        },
      },
      {
        eip_id: 'e2',
        forward: {
          address: '203.0.113.11',
          description: '',
          target: null,
          ports: [{ protocol: 'tcp', listenPorts: '80', targetAddress: '10.1.0.5', targetPorts: '8080', description: '' }],
        },
      },
    ])
  })
})
