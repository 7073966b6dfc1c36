import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ports } from '@zhisuan/engines/openstack/local'
import { until } from './server.ts'

/** Passes what comes to each socket on to its port. */
const relay = `
const net = require('node:net')
for (const [port, path] of JSON.parse(process.argv[1])) {
  net.createServer((from) => {
    const to = net.connect(port, '127.0.0.1')
    from.on('error', () => to.destroy()).pipe(to).on('error', () => from.destroy()).pipe(from)
  }).listen(path)
}`

/**
 * Makes the OpenStack of this host reachable where it listens, from a network of the tests' own (scripts/test.sh):
 * through sockets, which know no networks. Without such a network it is there already.
 * @returns what ends it
 */
export async function openWayToOpenStack(): Promise<() => void> {
  const hostNetwork = process.env['HOST_NETWORK']
  if (hostNetwork === undefined) return () => undefined
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-openstack-'))
  const ways = Object.values(ports).map((port) => [port, join(folder, String(port))] as const)
  const outside: ChildProcess = spawn('nsenter', [`--net=${hostNetwork}`, process.execPath, '-e', relay, JSON.stringify(ways)], { stdio: 'inherit' })
  const inside: Server[] = []
  const end = (): void => {
    for (const server of inside) server.close()
    outside.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await until(async () => ways.every(([, path]) => existsSync(path)), 'the way to the OpenStack')
    for (const [port, path] of ways) {
      const server = createServer((from) => {
        const to = connect(path)
        from
          .on('error', () => to.destroy())
          .pipe(to)
          .on('error', () => from.destroy())
          .pipe(from)
      })
      inside.push(server)
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    }
  } catch (error) {
    end()
    throw error
  }
  return end
}
