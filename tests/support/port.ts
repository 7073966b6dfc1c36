import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** A port of this host that nobody has now. Another may take it before it is used: that is seen as a port that is taken. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
