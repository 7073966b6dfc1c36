import { startServer } from '../support/server.ts'
import type { Figure } from './main.ts'

/** From nothing (no data directory) to the first answer, and once more on what is there. */
export async function benchStart(data: string): Promise<Figure[]> {
  const measure = async (): Promise<number> => {
    const begin = performance.now()
    const server = await startServer(data, { LOCAL_CLOUD: 'sandbox' })
    await (await fetch(`${server.url}/`)).arrayBuffer()
    const took = (performance.now() - begin) / 1000
    await server.stop()
    return took
  }
  const first = await measure()
  const again = await measure()
  return [
    { name: 'start to first page, first time', ours: `${first.toFixed(1)} s`, floor: '15 s', value: first / 15, bar: '≤ 1', met: first <= 15 },
    { name: 'start to first page, again', ours: `${again.toFixed(1)} s`, floor: '15 s', value: again / 15, bar: '≤ 1', met: again <= 15 },
  ]
}
