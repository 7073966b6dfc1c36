import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import { storageConformance } from '../conformance/storage.ts'
import { createLxdEngine } from './engine.ts'
import { ownImage, shell, socketPath } from './testing.ts'

const pool = '/1.0/storage-pools/default/volumes/custom'

describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('on this host', () => {
  storageConformance('LXD', () => createLxdEngine({ socketPath }), {
    type: 'container',
    prefix: 'zs-vol-',
    machines: true,
    place: async (engine) => ({ ...(await ownImage(engine, 'zs-vol-image')), network: 'lxdbr0' }),
    async leftovers(volume) {
      const standIn = `zhisuan_${createHash('sha256').update(volume).digest('hex').slice(0, 24)}`
      const [volumes, backups] = await Promise.all([shell('lxc', 'query', pool), shell('lxc', 'query', `${pool}/${volume}/backups`).catch(() => '[]')])
      return [...(JSON.parse(volumes) as string[]).filter((path) => path.endsWith(`/${standIn}`)), ...(JSON.parse(backups) as string[])]
    },
  })
})
