import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hostConformance } from '../conformance/hosts.ts'
import { networkConformance } from '../conformance/networks.ts'
import { createLxdEngine } from './engine.ts'
import { ownImage, socketPath } from './testing.ts'

describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('on this host', () => {
  const makeEngine = () => createLxdEngine({ socketPath })
  networkConformance('LXD', makeEngine, {
    type: 'container',
    prefix: 'zsn',
    machines: true,
    range: '10.200',
    outside: '198.18.200',
    place: async (engine) => ({ ...(await ownImage(engine, 'zs-networks')), network: 'lxdbr0' }),
  })
  it('no network that is gone leaves its dnsmasq behind', () => {
    const commands = readdirSync('/proc').flatMap((pid) => {
      try {
        return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
      } catch {
        return []
      }
    })
    // Of this LXD: the members of a cluster that is tested beside have theirs.
    expect(commands.filter((command) => command.startsWith('dnsmasq') && command.includes(`=${dirname(socketPath)}/networks/zsn`))).toEqual([])
  })
  hostConformance('LXD', makeEngine, {
    type: 'container',
    prefix: 'zs-host-',
    cluster: false,
    tells: false,
    place: async (engine) => ({ ...(await ownImage(engine, 'zs-hosts')), network: 'lxdbr0' }),
  })
})
