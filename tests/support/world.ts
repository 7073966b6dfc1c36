import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)
/** Where the engines' interfaces are, should these tests themselves run in a network of their own (scripts/test.sh). */
const hostNetwork = process.env['HOST_NETWORK']
const run = (command: string, parameters: readonly string[]) =>
  hostNetwork === undefined ? execute(command, parameters) : execute('nsenter', [`--net=${hostNetwork}`, command, ...parameters])

/** A machine on the other side of a cable: a network namespace that knows one way only, to this host. */
export interface World {
  /** The host's address, and its own, on the cable. */
  readonly hostSide: string
  readonly worldSide: string
  run(...command: string[]): Promise<{ stdout: string }>
  /** What it reads there; null where nothing answers. */
  read(url: string): Promise<string | null>
  remove(): Promise<void>
}

/** What was answered with 200, as it came over the wire; null where that is not what came. */
export const bodyOf = (answer: string): string | null => /^HTTP\/1\.\d 200[\s\S]*?\r\n\r\n([\s\S]*)$/.exec(answer)?.[1]?.trim() ?? null

/**
 * @param name of the namespace; its cable has the same, at most 13 characters
 * @param range the first three bytes of the cable's addresses
 */
export async function openWorld(name: string, range: string): Promise<World> {
  const [hostSide, worldSide] = [`${range}.1`, `${range}.2`]
  const inside = (...command: string[]) => run('ip', ['netns', 'exec', name, ...command])
  const remove = async (): Promise<void> => {
    await run('ip', ['netns', 'delete', name]).catch(() => undefined)
    await run('ip', ['link', 'delete', `${name}0`]).catch(() => undefined)
  }
  await remove()
  await run('ip', ['netns', 'add', name])
  await run('ip', ['link', 'add', `${name}0`, 'type', 'veth', 'peer', 'name', `${name}1`, 'netns', name])
  await run('ip', ['address', 'add', `${hostSide}/30`, 'dev', `${name}0`])
  await run('ip', ['link', 'set', `${name}0`, 'up'])
  await inside('ip', 'address', 'add', `${worldSide}/30`, 'dev', `${name}1`)
  await inside('ip', 'link', 'set', `${name}1`, 'up')
  await inside('ip', 'route', 'add', 'default', 'via', hostSide)
  return {
    hostSide,
    worldSide,
    run: inside,
    async read(url) {
      const { hostname, port, pathname } = new URL(url)
      // A connection is the kernels' work, which answer at once or never; who serves it may wait for a processor.
      const script = `
        const [host, port, path] = process.argv.slice(1)
        const socket = require('net').connect({ host, port })
        let told = ''
        socket.setEncoding('utf8').setTimeout(3000, () => socket.destroy())
        socket.on('connect', () => socket.setTimeout(30000).write('GET ' + path + ' HTTP/1.0\\r\\n\\r\\n'))
        socket.on('data', (part) => (told += part))
        socket.on('end', () => console.log(told))
        socket.on('error', () => {})`
      const { stdout } = await inside(process.execPath, '-e', script, hostname, port === '' ? '80' : port, pathname)
      return bodyOf(stdout)
    },
    remove,
  }
}
