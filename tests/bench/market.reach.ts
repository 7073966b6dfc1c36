import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { cards, marketNodes } from '@zhisuan/contract/market/card'
import { offers } from '@zhisuan/contract/market/offer'
import { providers } from '@zhisuan/contract/market/provider'
import { rentals } from '@zhisuan/contract/market/rental'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { importBusybox } from '@zhisuan/engines/docker/testing'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent } from '../support/agent.ts'
import { startOwnDocker } from '../support/agent-docker.ts'
import { cardsEnvironment } from '../support/gpu/node.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until } from '../support/server.ts'
import type { Figure } from './main.ts'
import { percentile, timed } from './stats.ts'

const run = promisify(execFile)
const image = 'zs-market-bench:1'
const gib = 2 ** 30
const rented = 20
const mostMs = 8_000

/** From the click until the machine is entered by OpenSSH's own client: a real Docker Engine with the image there, and cards that are not. */
export async function benchReachable(data: string): Promise<Figure> {
  const environment = cardsEnvironment(data, 2)
  const engine = await startOwnDocker(join(data, 'docker'), { environment })
  const [port, sshPort] = [await freePort(), await freePort()]
  const server = await startServer(join(data, 'server'), {
    LOCAL_CLOUD: 'none',
    TRUST_PROXY: '1',
    PORT: String(port),
    SSH_PORT: String(sshPort),
    LOG_LEVEL: 'fatal',
  })
  const signedUp = async (name: string, organisation: string): Promise<Client> => {
    const { username, password } = await register(server.url, name, organisation)
    const client = new Client(server.url)
    await client.signIn(username, password)
    return client
  }
  let agent: ReturnType<typeof startAgent> | undefined
  try {
    await importBusybox(engine.docker, image)
    const admin = await asAdministrator(server)
    const [owner, renter] = [await signedUp('reach-owner', '卡主'), await signedUp('reach-renter', '租户')]
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'cabinet', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data, 'agent'), '--docker', engine.socket, ...parametersOf(enrolment.command)], undefined, environment)
    await until(async () => (await owner.call(cards.list, { query: {} })).total === 2, 'the agent to tell of its cards')
    const { id } = await owner.call(providers.create, { body: { name: '机柜主', contact: '13800000000' } })
    await admin.call(providers.review, { params: { id }, body: { action: 'verify' } })
    await owner.call(marketNodes.test, { params: { id: edge.id } })
    await owner.call(marketNodes.enlist, { params: { id: edge.id } })
    const terms = { card_model: 'NVIDIA H100 80GB HBM3', most_cards: 1, cpus_per_card: 0.5, memory_bytes_per_card: gib / 4, disk_bytes_per_card: gib }
    const offer = await owner.call(offers.create, { body: { ...terms, card_price: '10', disk_price: '0.01', stopped_disk_price: '0.01' } })
    await admin.call(offers.decide, { params: { id: offer.id }, body: { accept: true } })
    const key = join(data, 'key')
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    await renter.call(keyPairs.create, { body: { name: 'key', public_key: readFileSync(`${key}.pub`, 'utf8').trim() } })
    const options = ['IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'BatchMode=yes'].flatMap((one) => [
      '-o',
      one,
    ])

    const times: number[] = []
    for (let index = 0; index < rented; index++) {
      let made = ''
      times.push(
        await timed(async () => {
          made = (await renter.call(rentals.create, { body: { name: `m${index}`, offer_id: offer.id, image } })).id
          // As whoever looks at its page: it is tried once it says that it runs.
          while ((await renter.call(rentals.get, { params: { id: made } })).status === 'placing') await sleep(100)
          await run('ssh', ['-F', 'none', '-i', key, '-p', String(sshPort), ...options, `${made}@127.0.0.1`, 'true'])
        }),
      )
      await renter.call(rentals.release, { params: { id: made } })
      await until(async () => (await renter.call(rentals.get, { params: { id: made } })).status === 'released', 'the machine to be given back')
    }
    const p95 = percentile(times, 0.95)
    return {
      name: 'from the click until a machine is entered by ssh, its image there, p95',
      ours: `${(p95 / 1_000).toFixed(2)} s`,
      floor: `${mostMs / 1_000} s`,
      value: p95 / mostMs,
      bar: `≤ ${mostMs / 1_000} s`,
      met: p95 <= mostMs,
    }
  } finally {
    await agent?.stop()
    await server.stop()
    await engine.remove()
  }
}
