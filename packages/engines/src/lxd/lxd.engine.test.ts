import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import { conformance } from '../conformance.ts'
import { imageFiles } from '../conformance/image-files.ts'
import { createLxdEngine } from './engine.ts'
import { ownImage, socketPath } from './testing.ts'

describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('on this host', () => {
  conformance('LXD', () => createLxdEngine({ socketPath }), {
    type: 'container',
    prefix: 'zs-conf-',
    machines: true,
    imageFiles,
    place: async (engine) => ({ ...(await ownImage(engine, 'zs-conf-image')), network: 'lxdbr0' }),
  })
})
