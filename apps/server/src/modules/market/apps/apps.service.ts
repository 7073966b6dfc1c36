import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { rentalApps, workspacePath, type rentals } from '@zhisuan/contract/market/rental'
import type { Context } from '@zhisuan/contract/policy/pattern'
import type { Docker } from '@zhisuan/engines/docker/types'
import { buffer } from 'node:stream/consumers'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RentedContainers } from '../../cis/container/rented.containers.ts'
import type { Entering } from '../inside.ts'
import { getRental } from '../rental/rental.store.ts'
import { hostLabel, sealPass } from './apps.pass.ts'
import type { AppsProxy } from './apps.proxy.ts'

type Open = (typeof rentals)['open']
/** A browser follows at once. */
const ticketMs = 30_000

/** Whether something listens on a port; what looks is what its connections are made with. */
const listens = (port: number): string =>
  `if command -v python3 >/dev/null; then python3 -c 'import socket;socket.create_connection(("127.0.0.1",${port}),2)' 2>/dev/null; ` +
  `elif command -v nc >/dev/null; then nc -z 127.0.0.1 ${port} 2>/dev/null || nc 127.0.0.1 ${port} </dev/null >/dev/null 2>&1; else exit 126; fi`
/** Each begins on the machine's own loopback, where nobody comes but through the console: so it asks for no password of its own. */
const begin = (program: string, ...options: readonly string[]): string =>
  `command -v ${program} >/dev/null || exit 127; cd ${workspacePath} 2>/dev/null; (trap "" HUP; exec ${program} ${options.join(' ')}) >/tmp/${program}.log 2>&1 </dev/null &`
const begins = {
  jupyter: begin(
    'jupyter',
    'lab',
    '--ip=127.0.0.1',
    `--port=${rentalApps.jupyter}`,
    '--no-browser',
    '--allow-root',
    '--ServerApp.token=',
    '--ServerApp.password=',
    `--ServerApp.root_dir=${workspacePath}`,
  ),
  tensorboard: begin('tensorboard', `--logdir=${workspacePath}`, '--host=127.0.0.1', `--port=${rentalApps.tensorboard}`),
} as const

/** Ways for a browser into what runs in a machine. */
export function createApps(
  platform: Pick<Platform, 'db' | 'secrets' | 'now'>,
  { proxy, rented, entering }: { proxy: Pick<AppsProxy, 'addressOf' | 'offered'>; entering: Entering; rented: Pick<RentedContainers, 'enter'> },
) {
  const { db, secrets, now } = platform
  const exitOf = async (docker: Docker, dockerId: string, command: string): Promise<number | null> => {
    const execId = await docker.execs.create(dockerId, { command: ['/bin/sh', '-c', command], tty: false, stdin: false, env: {} })
    await buffer(await docker.execs.attach(execId, { tty: false }))
    return (await docker.execs.inspect(execId)).exitCode
  }
  return {
    /** @throws Refusal noPermission, 90010, `appsNowhere`, `appMissing`, `appUnreachable` */
    async open(actor: Actor, id: string, body: BodyOf<Open>, context: Context): Promise<ResponseOf<Open>> {
      if (!proxy.offered) throw new Refusal('appsNowhere')
      const rental = found(await getRental(db, scopeOf(actor), id))
      if (rental.status !== 'running' || rental.container_id === null) throw new Refusal('stateForbids')
      const inside = await entering(id, async () => actor, { context })
      if (inside === null) throw new Refusal('noPermission')
      const { docker, docker_id } = await rented.enter(actor, inside.container_id)
      const port = body.app === 'port' ? body.port : rentalApps[body.app]
      const there = await exitOf(docker, docker_id, listens(port))
      if (there === 126) throw new Refusal('appUnreachable')
      if (there !== 0) {
        if (body.app === 'port') throw new Refusal('appSilent', { field: 'port', values: { port } })
        if ((await exitOf(docker, docker_id, begins[body.app])) === 127) throw new Refusal('appMissing', { field: 'app', values: { app: body.app } })
      }
      const ends = now().getTime() + ticketMs
      const ticket = sealPass(secrets, { id: uuidv7(), kind: 'ticket', rental_id: id, port, session_id: actor.session_id, ends })
      return { url: found(proxy.addressOf(hostLabel(id, port), ticket) ?? undefined), expires_at: new Date(ends).toISOString() }
    },
  }
}
