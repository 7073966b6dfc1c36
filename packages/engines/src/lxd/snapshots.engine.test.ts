import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import { imageConformance } from '../conformance/images.ts'
import { imageFiles } from '../conformance/image-files.ts'
import { snapshotConformance } from '../conformance/snapshots.ts'
import { createLxdEngine } from './engine.ts'
import { ownImage, shell, socketPath } from './testing.ts'

const makeEngine = () => createLxdEngine({ socketPath })

describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('on this host', () => {
  snapshotConformance('LXD', makeEngine, {
    type: 'container',
    prefix: 'zs-snap-',
    place: async (engine) => ({ ...(await ownImage(engine, 'zs-snap-image')), network: 'lxdbr0' }),
    async identity(instance) {
      const { config } = JSON.parse(await shell('lxc', 'query', `/1.0/instances/${instance}`)) as { config: Record<string, string> }
      return Object.fromEntries(['uuid', 'cloud-init.instance-id', 'eth0.hwaddr'].map((key) => [key, config[`volatile.${key}`] ?? '']))
    },
    async leftovers(instance) {
      const profiles = JSON.parse(await shell('lxc', 'query', '/1.0/profiles')) as string[]
      return profiles.filter((path) => path.endsWith(`-${instance}`))
    },
  })
  imageConformance('LXD', makeEngine, {
    type: 'container',
    prefix: 'zs-img-',
    files: imageFiles,
    place: async (engine) => ({ ...(await ownImage(engine, 'zs-img-image')), network: 'lxdbr0' }),
  })
})
