import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createDocker } from '@zhisuan/engines/docker/engine'
import type { Output } from '@zhisuan/engines/docker/frames'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { importBusybox, removeLabelled } from '@zhisuan/engines/docker/testing'
import type { Docker } from '@zhisuan/engines/docker/types'
import { dockerOver } from '../../apps/server/src/platform/tunnel/docker.ts'
import { startAgentServer } from '../support/agent-server.ts'
import { startAgent } from '../support/agent.ts'
import { until } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median, timed } from './stats.ts'

const keystrokes = 300
const logBytes = 128 * 2 ** 20

/** What the way through server, tunnel and agent costs, held against Docker itself in the same run. */
export async function benchAgent(data: string): Promise<Figure[]> {
  const direct = createDocker(socketTransport())
  const run = randomUUID().slice(0, 8)
  const image = `zs-bench-${run}:1`
  const label = `zs-bench=${run}`
  const server = await startAgentServer()
  const agent = startAgent(['run', '--data', data, '--server', server.url, '--token', server.token])
  try {
    await importBusybox(direct, image)
    await until(async () => server.tunnels.connected(server.edgeId), 'the agent to come')
    const tunnelled = createDocker(dockerOver(server.tunnels.to(server.edgeId)))
    const started = async (command: readonly string[]): Promise<string> => {
      const { id } = await direct.containers.create(`zs-bench-${run}-${randomUUID().slice(0, 4)}`, { image, command, labels: { 'zs-bench': run } })
      await direct.containers.start(id)
      return id
    }
    const idle = await started(['sleep', '1000'])
    const echoes = [await echo(direct, idle), await echo(tunnelled, idle)] as const
    const writer = await started(['sh', '-c', `yes 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456 | head -c ${logBytes}`])
    await direct.containers.wait(writer)
    // The first reading warms the disk's cache, for both.
    await rateOfCommand(writer)
    const rates = [await rateOfCommand(writer), await rateOf(tunnelled, writer)] as const
    return [
      {
        name: 'keystroke echo in a container, by the tunnel (p50)',
        ours: `${echoes[1].toFixed(2)} ms`,
        floor: `${echoes[0].toFixed(2)} ms by Docker's socket`,
        value: echoes[1] - echoes[0],
        bar: '≤ 5 ms more',
        met: echoes[1] - echoes[0] <= 5,
      },
      {
        name: 'log of a container, by the tunnel',
        ours: `${rates[1].toFixed(0)} MB/s`,
        floor: `${rates[0].toFixed(0)} MB/s by docker logs`,
        value: rates[1] / rates[0],
        bar: '≥ 50 MB/s or 0.5',
        met: rates[1] >= 50 || rates[1] / rates[0] >= 0.5,
      },
    ]
  } finally {
    await agent.stop()
    await removeLabelled(direct, label)
    await direct.images.remove(image, { force: true }).catch(() => undefined)
    await server.stop()
  }
}

/** Milliseconds from a key to its letter, at the median. */
async function echo(docker: Docker, container: string): Promise<number> {
  const exec = await docker.execs.create(container, { command: ['sh', '-c', 'stty -echo -icanon; echo ready; cat'], tty: true, stdin: true })
  const stream = await docker.execs.attach(exec, { tty: true })
  let said = ''
  stream.on('data', (part: Buffer) => (said += part.toString('latin1')))
  await until(async () => said.includes('ready'), 'the terminal')
  const times: number[] = []
  for (let n = 0; n < keystrokes; n++) {
    times.push(
      await timed(async () => {
        const back = once(stream, 'data')
        stream.write('x')
        await back
      }),
    )
  }
  stream.destroy()
  return median(times)
}

/** MB/s of a log that is read to its end. */
async function rateOf(docker: Docker, container: string): Promise<number> {
  let size = 0
  const ms = await timed(async () => {
    for await (const { data } of (await docker.containers.logs(container)) as AsyncIterable<Output>) size += data.length
  })
  if (size !== logBytes) throw new Error(`the log has ${size} bytes of ${logBytes}`)
  return size / 1e6 / (ms / 1e3)
}
async function rateOfCommand(container: string): Promise<number> {
  const ms = await timed(async () => {
    const child = spawn('docker', ['logs', container], { stdio: ['ignore', 'ignore', 'ignore'] })
    await once(child, 'close')
  })
  return logBytes / 1e6 / (ms / 1e3)
}
