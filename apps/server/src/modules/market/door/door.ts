import { createHash, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { containers } from '@zhisuan/contract/cis/container'
import { framesTaken, type Output } from '@zhisuan/engines/docker/frames'
import { through } from '@zhisuan/engines/docker/transport'
import type { Docker } from '@zhisuan/engines/docker/types'
import { LRUCache } from 'lru-cache'
import ssh2, { type AuthContext, type Connection, type PublicKeyAuthContext, type ServerChannel, type Session } from 'ssh2'
import { z } from 'zod'
import { createAudit } from '../../../platform/audit.ts'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Windows } from '../../../platform/http/windows.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RentedContainers } from '../../cis/container/rented.containers.ts'
import type { Entering, Inside } from '../inside.ts'
import { connectTo } from '../relay.ts'
import { readDoorKey } from './door.store.ts'

/** Whoever has not shown a key by then is sent away. */
const loginMs = 20_000
/** So many keys a client may try, as OpenSSH does. */
const keysMost = 6
/** At one server, signed in or not. */
const connectionsMost = 1_000
/** From one address, signed in or not. */
const connectionsOfOne = 64
/** So often in a minute an address may come without a key that lets it in; then it is not heard until that is over. */
export const failuresMost = 20
const failureWindowMs = 60_000
/** In one connection: shells, commands and forwarded connections. */
const channelsMost = 64
/** So often it is asked whether who is inside may still be. */
const lookEveryMs = 60_000
/** Programs of the machine may be told these of the client's. */
const passedOn = /^(LANG|LC_[A-Z]+|TERM|COLORTERM)$/
const local: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

const shell = ['/bin/sh', '-c', 'cd /workspace 2>/dev/null; exec "$(command -v bash || echo /bin/sh)" -l']
const commandOf = (text: string): string[] => ['/bin/sh', '-c', text]
const sftp = commandOf(
  'for at in /usr/lib/openssh /usr/libexec/openssh /usr/lib/ssh /usr/libexec /usr/lib; do [ -x "$at/sftp-server" ] && exec "$at/sftp-server"; done; exit 127',
)
/** Of one in some hundred that ssh2 makes it cannot read itself what it wrote, where a number begins with zeros: a key that was kept so would keep the door shut for good. */
export function newDoorKey(): string {
  for (;;) {
    const { private: key } = ssh2.utils.generateKeyPairSync('ed25519')
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key
  }
}
export type Door = ReturnType<typeof createDoor>

/**
 * The SSH door: `ssh -p PORT <rental>@<platform>` enters a machine that is rented, by the keys that people registered. A
 * key stands for who registered it, as what they are by now: roles, policies and organisation are asked as before the call
 * that opens a terminal. Inside the machine nothing listens: each shell, command and forwarded connection is executed
 * there by its Docker, through the tunnel of its node.
 */
export function createDoor(
  platform: Pick<Platform, 'db' | 'secrets' | 'log' | 'config'>,
  parts: {
    rented: Pick<RentedContainers, 'enter'>
    entering: Entering
    personOf: (userId: string) => Promise<Actor | null>
    personOfKey: (bpId: string, fingerprint: string) => Promise<string | null>
  },
) {
  const { db, secrets, log, config } = platform
  const audit = createAudit(db)
  const open = new Map<Connection, string>()
  const failures = new Windows()
  const failed = (ip: string): Promise<number> =>
    new Promise((resolve) => failures.incr(ip, (_error, result) => resolve(result?.current ?? 0), failureWindowMs))
  const shut = new LRUCache<string, true>({ max: 10_000, ttl: failureWindowMs })
  let server: ssh2.Server | null = null

  /** Whom a key stands for, for the machine that is asked for; null where that is nobody who may. */
  const entering = async (machine: string, key: Buffer, ip: string): Promise<Inside | null> => {
    if (!z.uuid().safeParse(machine).success) return null
    const fingerprint = `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
    return parts.entering(
      machine,
      async (bpId) => {
        const person = await parts.personOfKey(bpId, fingerprint)
        return person === null ? null : parts.personOf(person)
      },
      { ip },
    )
  }

  const authenticate = async (context: PublicKeyAuthContext, ip: string): Promise<(() => Promise<Inside | null>) | null> => {
    const { username } = context
    const key = ssh2.utils.parseKey(context.key.data)
    if (key instanceof Error) return null
    if ((await entering(username, context.key.data, ip)) === null) return null
    // Without a signature it is only asked whether the key would do.
    if (context.signature !== undefined && key.verify(context.blob ?? Buffer.alloc(0), context.signature, context.hashAlgo) !== true) return null
    const { data } = context.key
    // What somebody may is asked again with whatever they open.
    return () => entering(username, data, ip)
  }

  const run = async (entered: () => Promise<Inside | null>, command: readonly string[], channel: ServerChannel, how: Terminal): Promise<void> => {
    const now = await entered()
    if (now === null) throw new Error('may enter no longer')
    const { actor, container_id } = now
    const { docker, docker_id } = await parts.rented.enter(actor, container_id)
    const execId = await docker.execs.create(docker_id, { command: [...command], tty: how.size !== null, stdin: true, env: how.env })
    const stream = await docker.execs.attach(execId, { tty: how.size !== null })
    how.resize = (size) => void docker.execs.resize(execId, size).catch(() => undefined)
    if (how.size !== null) how.resize(how.size)
    await joined(channel, stream, how.size !== null)
    await exit(docker, execId, channel)
  }

  const serveSession = (session: Session, entered: () => Promise<Inside | null>): void => {
    const how: Terminal = { size: null, env: {}, resize: () => undefined }
    session.on('env', (accept, _reject, { key, val }) => {
      if (passedOn.test(key) && val.length < 256) how.env[key] = val
      accept?.()
    })
    session.on('pty', (accept, _reject, info) => {
      how.size = { columns: info.cols, rows: info.rows }
      how.env['TERM'] = 'xterm-256color'
      accept?.()
    })
    session.on('window-change', (accept, _reject, { cols, rows }) => {
      how.resize({ columns: cols, rows })
      accept?.()
    })
    const begin = (accept: () => ServerChannel, command: readonly string[], size = how.size): void => {
      const channel = accept()
      channel.on('error', () => undefined)
      run(entered, command, channel, Object.assign(how, { size })).catch((error: unknown) => {
        log.debug({ err: error }, 'what somebody opened by SSH')
        channel.stderr.write('zhisuan: 机器现在不能进入\r\n')
        channel.exit(255)
        channel.end()
      })
    }
    session.on('shell', (accept) => begin(accept, shell))
    session.on('exec', (accept, _reject, { command }) => begin(accept, commandOf(command)))
    session.on('subsystem', (accept, reject, { name }) => {
      if (name === 'sftp') begin(accept, sftp, null)
      else reject()
    })
  }

  const recorded = ({ actor, container_id }: Inside, ip: string): Promise<void> =>
    audit({ call: containers.terminal.id, actor, bp_id: actor.bp_id, object_id: container_id, request_id: randomUUID(), ip, code: 0 })

  const serve = (client: Connection, ip: string): void => {
    client.on('error', () => undefined)
    const fromThere = [...open.values()].filter((one) => one === ip).length
    if (open.size >= connectionsMost || fromThere >= connectionsOfOne || shut.has(ip)) return void client.end()
    open.set(client, ip)
    client.on('close', () => open.delete(client))
    const late = setTimeout(() => client.end(), loginMs)
    let tried = 0
    let channels = 0
    let entered: (() => Promise<Inside | null>) | null = null
    /** A client with several keys has failed once, not once for each. */
    const refused = async (): Promise<void> => {
      if (tried > 1) return
      if ((await failed(ip)) >= failuresMost) shut.set(ip, true)
    }
    let looking: NodeJS.Timeout | undefined
    const refuse = (context: AuthContext): void => {
      context.reject(['publickey'])
    }
    client.on('authentication', (context) => {
      // A client asks first what there is.
      if (context.method !== 'publickey') return refuse(context)
      if (++tried > keysMost * 2) return void client.end()
      authenticate(context, ip).then(
        (found) => {
          entered = found
          if (found !== null) return context.accept()
          refuse(context)
          return refused()
        },
        (error: unknown) => {
          log.warn({ err: error }, 'signing in by SSH')
          refuse(context)
        },
      )
    })
    client.on('ready', () => {
      clearTimeout(late)
      const who = entered
      if (who === null) return void client.end()
      who().then(
        (one) => (one === null ? undefined : recorded(one, ip)),
        (error: unknown) => {
          // Whoever enters unseen does not enter.
          log.warn({ err: error }, 'recording who entered by SSH')
          client.end()
        },
      )
      // Whoever may enter no longer is inside no longer, and neither is who is in what was stopped.
      looking = setInterval(() => {
        who().then(
          (now) => now ?? client.end(),
          (error: unknown) => log.debug({ err: error }, 'who is inside by SSH'),
        )
      }, lookEveryMs).unref()
      const take = (): boolean => {
        if (channels >= channelsMost) return false
        channels++
        return true
      }
      client.on('session', (accept, reject) => {
        if (!take()) return void reject()
        const session = accept()
        session.on('close', () => channels--)
        serveSession(session, who)
      })
      client.on('tcpip', (accept, reject, { destIP, destPort }) => {
        if (!local.has(destIP) || !take()) return void reject()
        const channel = accept()
        channel.on('error', () => undefined)
        channel.on('close', () => channels--)
        run(who, connectTo(destPort), channel, { size: null, env: {}, resize: () => undefined }).catch(() => channel.destroy())
      })
    })
    client.on('close', () => {
      clearTimeout(late)
      clearInterval(looking)
    })
  }

  return {
    /** Where it is; null where there is none. */
    port: (): number | null => (server === null ? null : (server.address() as AddressInfo).port),
    async start(): Promise<void> {
      if (config.SSH_PORT === undefined) return
      const key = await readDoorKey(db, secrets, newDoorKey)
      const listening = new ssh2.Server({ hostKeys: [key], ident: 'zhisuan' }, (client, { ip }) => serve(client, ip))
      server = listening
      await new Promise<void>((resolve, reject) => {
        listening.once('error', reject)
        listening.listen(config.SSH_PORT, config.HOST, () => {
          listening.off('error', reject)
          listening.on('error', (error: unknown) => log.warn({ err: error }, 'the SSH door'))
          resolve()
        })
      })
    },
    drain(): void {
      for (const client of open.keys()) client.end()
      server?.close()
      server = null
    },
  }
}

interface Terminal {
  /** Null without one. */
  size: { columns: number; rows: number } | null
  readonly env: Record<string, string>
  resize(size: { columns: number; rows: number }): void
}

/** Both ways, until what runs there has said all. */
async function joined(channel: ServerChannel, stream: Duplex, tty: boolean): Promise<void> {
  stream.on('error', () => undefined)
  channel.on('close', () => stream.destroy())
  channel.pipe(stream)
  const say = async (to: NodeJS.WritableStream, data: Buffer): Promise<void> => {
    if (to.write(data)) return
    await new Promise<void>((resolve) => {
      for (const event of ['drain', 'close']) to.once(event, resolve)
    })
  }
  if (tty) for await (const data of stream as AsyncIterable<Buffer>) await say(channel, data)
  else
    for await (const { from, data } of through('/exec', stream, framesTaken()) as AsyncIterable<Output>)
      await say(from === 'stdout' ? channel : channel.stderr, data)
}

async function exit(docker: Docker, execId: string, channel: ServerChannel): Promise<void> {
  const { exitCode } = await docker.execs.inspect(execId).catch(() => ({ exitCode: null }))
  channel.exit(exitCode ?? 255)
  channel.end()
}
