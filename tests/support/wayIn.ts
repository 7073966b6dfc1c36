import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const relay = `
const [port, path] = process.argv.slice(1)
const { connect, createServer } = require('node:net')
createServer((from) => {
  const to = connect(path)
  from.on('error', () => to.destroy()).pipe(to).on('error', () => from.destroy()).pipe(from)
}).listen(Number(port), '127.0.0.1', () => console.log('open'))`

/**
 * Makes a port of this host's loopback reachable for the host's own programs, such as Docker, where these tests run in a network of
 * their own (scripts/test.sh): through a socket, which knows no networks. Without such a network it is reachable already.
 * @returns what ends it
 */
export async function openWayIn(port: number): Promise<() => void> {
  const hostNetwork = process.env['HOST_NETWORK']
  if (hostNetwork === undefined) return () => undefined
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-way-'))
  const path = join(folder, 'socket')
  const inside = createServer((from) => {
    const to = connect(port, '127.0.0.1')
    from
      .on('error', () => to.destroy())
      .pipe(to)
      .on('error', () => from.destroy())
      .pipe(from)
  })
  let outside: ChildProcess | undefined
  const end = (): void => {
    inside.close()
    outside?.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await new Promise<void>((resolve, reject) => inside.once('error', reject).listen(path, resolve))
    outside = spawn('nsenter', [`--net=${hostNetwork}`, process.execPath, '-e', relay, String(port), path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = (await once(outside.stdout ?? outside, 'data')) as [Buffer]
    if (said.toString().trim() !== 'open') throw new Error('the way in was not opened')
  } catch (error) {
    end()
    throw error
  }
  return end
}
