import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ComputeEngine } from '../compute.ts'
import { hostConformance } from '../conformance/hosts.ts'
import { networkConformance } from '../conformance/networks.ts'
import { storageConformance } from '../conformance/storage.ts'
import type { NetworkSpec } from '../network.ts'
import { createLxdEngine } from './engine.ts'
import { ownImage, shell, socketPath } from './testing.ts'

const script = new URL('../../../../tests/support/lxd-cluster.sh', import.meta.url).pathname
const folder = join(tmpdir(), 'zhisuan-lxd-cluster')
const spec: NetworkSpec = {
  name: 'zskept',
  description: '',
  ipv4: '10.88.0.1/24',
  dhcp: true,
  dnsDomain: null,
  nat: true,
  natAddress: null,
  acl: null,
  tags: { owner: 'cluster' },
}

/** Two members, started and stopped here, in namespaces of their own. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('a cluster', () => {
  const makeEngine = () => createLxdEngine({ socketPath: join(folder, 'one', 'unix.socket') })
  const place = async (engine: ComputeEngine) => {
    await engine.networks.apply(spec)
    return { ...(await ownImage(engine, 'zs-cluster')), network: spec.name }
  }
  beforeAll(async () => {
    // What a killed run left.
    await shell('bash', script, 'down', folder)
    await shell('bash', script, 'up', folder)
  })
  afterAll(() => shell('bash', script, 'down', folder))

  hostConformance('A cluster of LXD', makeEngine, { type: 'container', prefix: 'zs-host-', cluster: true, tells: false, place })
  // On the member that is not asked.
  storageConformance('A cluster of LXD', makeEngine, { type: 'container', prefix: 'zs-vol-', machines: true, host: 'two', place })
  networkConformance('A cluster of LXD', makeEngine, {
    type: 'container',
    prefix: 'zsn',
    machines: true,
    cluster: true,
    range: '10.200',
    outside: '198.18.200',
    place,
  })

  describe('and its networks', () => {
    const engine = makeEngine()
    const { networks } = engine
    const query = async <T>(...request: string[]): Promise<T> => {
      const text = await shell('env', `LXD_DIR=${join(folder, 'one')}`, 'lxc', 'query', ...request)
      return JSON.parse(text.trim() || 'null') as T
    }
    interface Made {
      status: string
      locations: string[]
    }
    afterAll(() => engine.close())

    it('are made where a killed creation told only some members', async () => {
      const half = { ...spec, name: 'zshalf', ipv4: '10.200.1.1/24' }
      await query('-X', 'POST', '-d', JSON.stringify({ name: half.name, type: 'bridge' }), '/1.0/networks?target=one')
      expect(await query(`/1.0/networks/${half.name}`)).toMatchObject({ status: 'Pending', locations: ['one'] })
      await networks.apply(half)
      const { status, locations } = await query<Made>(`/1.0/networks/${half.name}`)
      expect([status, locations.sort()]).toEqual(['Created', ['one', 'two']])
      await networks.delete(half.name)
    })
    it('have the same forwards on every member, again where one lost its own', async () => {
      const on = { ...spec, name: 'zsforth', ipv4: '10.200.2.1/24' }
      await networks.apply(on)
      const forward = { address: '198.18.200.1', description: 'x', target: '10.200.2.5', ports: [] }
      const path = `/1.0/networks/${on.name}/forwards`
      const members = async () =>
        (await query<{ location: string; description: string }[]>(`${path}?recursion=1`))
          .map(({ location, description }) => `${location} ${description}`)
          .sort()
      await networks.forwards.apply(on.name, forward)
      expect(await members()).toEqual(['one x', 'two x'])
      await query('-X', 'DELETE', `${path}/${forward.address}?target=two`)
      await networks.forwards.apply(on.name, { ...forward, description: 'y' })
      expect(await members()).toEqual(['one y', 'two y'])
      expect(await networks.forwards.list(on.name)).toEqual([{ ...forward, description: 'y' }])
      await networks.forwards.delete(on.name, forward.address)
      expect(await members()).toEqual([])
      await networks.delete(on.name)
    })
  })
})
