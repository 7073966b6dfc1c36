import type { ComputeFloatingIp } from '@zhisuan/contract/compute/floating-ip'
import type { ComputeNetwork, ComputePort, PortUse } from '@zhisuan/contract/compute/network'
import type { ComputeRouter } from '@zhisuan/contract/compute/router'
import { describe, expect, it } from 'vitest'
import { sourcesOf, targetsOf, type Ground } from './floatingIpRules.ts'

// Of what the rules look at; nothing else of them counts here.
const port = (id: string, subnet: string, more: Partial<ComputePort> = {}): ComputePort =>
  ({
    id,
    network_id: `net-${subnet}`,
    use: 'instance' as PortUse,
    keystone_project_id: 'own',
    addresses: [{ address: `10.0.0.${id.length}`, subnet_id: subnet }],
    ...more,
  }) as ComputePort
const router = (gateway: string | null, ...subnets: string[]): ComputeRouter =>
  ({ gateway: gateway === null ? null : { network_id: gateway }, interfaces: subnets.map((subnet_id) => ({ addresses: [{ subnet_id }] })) }) as ComputeRouter
const network = (id: string, more: Partial<ComputeNetwork> = {}): ComputeNetwork =>
  ({ id, name: id, external: false, changeable: true, ...more }) as ComputeNetwork
const ip = (id: string, networkId: string, bound: [string, string] | null = null, owner = 'own'): ComputeFloatingIp =>
  ({
    id,
    address: `outside-${id}`,
    network_id: networkId,
    keystone_project_id: owner,
    bound_to: bound && { port_id: bound[0], fixed_address: bound[1] },
  }) as ComputeFloatingIp

const ground = (more: Partial<Ground>): Ground => ({
  ports: [],
  routers: [router('ext', 'a'), router(null, 'b'), router('other', 'c')],
  networks: ['net-a', 'net-b', 'net-c'].map((id) => network(id)),
  ips: [],
  ...more,
})
const reasons = (one: Ground, of: Partial<Parameters<typeof targetsOf>[1]> = {}) =>
  Object.fromEntries(
    targetsOf(one, { networkId: 'ext', projectId: 'own', ip: null, ...of }).map((target) => [`${target.port.id} ${target.address}`, target.why]),
  )

describe('where a floating IP can lead', () => {
  it('is where a router leads from to its network', () => {
    expect(reasons(ground({ ports: [port('p', 'a'), port('pp', 'b'), port('ppp', 'c')] }))).toEqual({
      'p 10.0.0.1': null,
      'pp 10.0.0.2': { kind: 'unreached' },
      'ppp 10.0.0.3': { kind: 'unreached' },
    })
  })

  it('is left to the cloud in networks of others, whose routers are not seen', () => {
    expect(reasons(ground({ ports: [port('p', 'b')], networks: [network('net-b', { changeable: false })] }))).toEqual({ 'p 10.0.0.1': null })
  })

  it('is no address that has one of the same network already', () => {
    const one = ip('1', 'ext', ['p', '10.0.0.1'])
    const all = ground({ ports: [port('p', 'a')], ips: [one, ip('2', 'ext')] })
    expect(reasons(all)).toEqual({ 'p 10.0.0.1': { kind: 'taken', by: 'outside-1' } })
    expect(reasons(all, { ip: one })).toEqual({ 'p 10.0.0.1': { kind: 'here' } })
    // Of another network it may have one too.
    expect(reasons({ ...all, routers: [router('other', 'a')] }, { networkId: 'other' })).toEqual({ 'p 10.0.0.1': null })
  })

  it('is an IPv4 address of the same project, and none of routers and DHCP', () => {
    const both = [
      { address: '10.0.0.1', subnet_id: 'a' },
      { address: '2001:db8::1', subnet_id: 'a' },
      { address: '10.0.0.2', subnet_id: 'b' },
    ]
    const ports = [
      port('p', 'a', { addresses: both }),
      port('r', 'a', { use: 'router' }),
      port('d', 'a', { use: 'dhcp' }),
      port('theirs', 'a', { keystone_project_id: 'another' }),
    ]
    expect(reasons(ground({ ports }))).toEqual({ 'p 10.0.0.1': null, 'p 10.0.0.2': { kind: 'unreached' } })
    // Those that it can lead to stand first.
    expect(
      targetsOf(ground({ ports: [port('pp', 'b'), port('p', 'a')] }), { networkId: 'ext', projectId: 'own', ip: null }).map((target) => target.port.id),
    ).toEqual(['p', 'pp'])
  })
})

describe('what can be bound to an address of an instance', () => {
  const networks = [network('net-a'), network('ext', { external: true }), network('other', { external: true })]
  it('is what is free in its project, and new ones of networks that a router leads to', () => {
    const ips = [ip('1', 'other'), ip('2', 'ext'), ip('3', 'ext', ['else', '10.0.0.9']), ip('4', 'ext', null, 'another')]
    const { free, fresh } = sourcesOf(ground({ networks, ips }), port('p', 'a'), '10.0.0.1')
    expect(free.map((one) => [one.ip.id, one.reached])).toEqual([
      ['2', true],
      ['1', false],
    ])
    expect(fresh.map((one) => [one.network.id, one.reached])).toEqual([
      ['ext', true],
      ['other', false],
    ])
  })

  it('is nothing of a network that leads to it already', () => {
    const { free, fresh } = sourcesOf(ground({ networks, ips: [ip('1', 'ext', ['p', '10.0.0.1']), ip('2', 'ext')] }), port('p', 'a'), '10.0.0.1')
    expect([free, fresh.map((one) => one.network.id)]).toEqual([[], ['other']])
  })
})
