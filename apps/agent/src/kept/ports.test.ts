import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { allListeners } from './ports.ts'

it('all ports that programs have are told, with the address where it is not all', async () => {
  for (const [host, address] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', ''],
  ] as const) {
    const server = createServer().listen(0, host)
    await once(server, 'listening')
    const bound = server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    expect(allListeners().filter((one) => one.port === port)).toEqual([{ port, protocol: 'tcp', address }])
    server.close()
  }
})
