import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the kernel gives to whoever asks for any, so that nobody is given it before it is used. */
const [from, to] = [20_000, 32_000]

/** A port of this host that nobody has now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = from + Math.floor(Math.random() * (to - from))
    const probe = createServer().listen(port)
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
