import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import type { Docker } from '@zhisuan/engines/docker/types'
import { until } from './server.ts'

/** A Docker Engine of a test's own, which may be stopped, and whose disk may be full. It and its containers have no network of the host. */
export interface OwnDocker {
  readonly socket: string
  readonly docker: Docker
  /** Where its containers and images lie. */
  readonly root: string
  start(): Promise<void>
  /** Its containers end with it. */
  stop(): Promise<void>
  /** With all that it has. */
  remove(): Promise<void>
}

/**
 * @param diskBytes puts what it has on a disk of this size
 * @param environment of it, beside that of the test
 */
export async function startOwnDocker(
  folder: string,
  { diskBytes, environment = {} }: { diskBytes?: number; environment?: NodeJS.ProcessEnv } = {},
): Promise<OwnDocker> {
  const [root, exec, socket] = [join(folder, 'root'), join(folder, 'exec'), join(folder, 'docker.sock')]
  const namespace = `zs-${randomUUID().slice(0, 8)}`
  const docker = createDocker(socketTransport(socket))
  let daemon: ChildProcess | null = null
  for (const path of [root, exec]) mkdirSync(path, { recursive: true })
  if (diskBytes !== undefined) execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', root])

  const start = async (): Promise<void> => {
    const log = createWriteStream(join(folder, 'dockerd.log'), { flags: 'a' })
    // Names of its own, should it share the containerd of this host.
    const names = ['--containerd-namespace', namespace, '--containerd-plugins-namespace', `${namespace}-plugins`]
    // In a network of its own: with `--bridge none` Docker removes the bridge docker0 of the network that it is in.
    const child = spawn(
      'unshare',
      [
        '--net',
        'dockerd',
        '--data-root',
        root,
        '--exec-root',
        exec,
        '--pidfile',
        join(folder, 'docker.pid'),
        '-H',
        `unix://${socket}`,
        '--bridge',
        'none',
        '--iptables=false',
        '--storage-driver',
        'vfs',
        ...names,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { ...process.env, ...environment } },
    )
    child.stdout.pipe(log, { end: false })
    child.stderr.pipe(log, { end: false })
    daemon = child
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`dockerd ended with ${child.exitCode}: see ${folder}/dockerd.log`)
        return docker.ping().then(
          () => true,
          () => false,
        )
      },
      'the Docker Engine to answer',
      60_000,
    )
  }
  const stop = async (): Promise<void> => {
    if (daemon === null || daemon.exitCode !== null || daemon.signalCode !== null) return
    const ended = once(daemon, 'exit')
    daemon.kill('SIGTERM')
    await ended
  }
  await start()
  return {
    socket,
    docker,
    root,
    start,
    stop,
    async remove() {
      if (daemon?.exitCode !== null) await start().catch(() => undefined)
      for (const { id } of await docker.containers.list().catch(() => []))
        await docker.containers.remove(id, { force: true, volumes: true }).catch(() => undefined)
      await stop()
      for (const path of mountsBelow(folder)) execFileSync('umount', ['-l', path])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Deepest first. */
const mountsBelow = (folder: string): string[] =>
  execFileSync('cat', ['/proc/self/mounts'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
    .toSorted((one, other) => other.length - one.length)
