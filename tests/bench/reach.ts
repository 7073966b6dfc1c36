import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { cards, marketNodes } from '@zhisuan/contract/market/card'
import { offers } from '@zhisuan/contract/market/offer'
import { providers } from '@zhisuan/contract/market/provider'
import { rentals } from '@zhisuan/contract/market/rental'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { configs } from '@zhisuan/contract/sys/sys'
import { importBusybox } from '@zhisuan/engines/docker/testing'
import { register, someAddress } from '../browser/people.ts'
import { parametersOf, startAgent } from '../support/agent.ts'
import { startOwnDocker } from '../support/agent-docker.ts'
import { cardsEnvironment } from '../support/gpu/node.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until } from '../support/server.ts'
import type { Figure } from './main.ts'
import { percentile, timed } from './stats.ts'

const times = 20
const mostSeconds = 8
const image = 'zs-reach:1'
const model = 'NVIDIA H100 80GB HBM3'
const gib = 2 ** 30

/** From the click on to what `ssh` answers from within the machine: a real Docker with a card that is not there, and the image there. */
export async function benchReach(data: string): Promise<Figure[]> {
  mkdirSync(data, { recursive: true })
  const environment = cardsEnvironment(data, 1)
  const engine = await startOwnDocker(join(data, 'docker'), { environment })
  const sshPort = await freePort()
  const server = await startServer(data, { LOCAL_CLOUD: 'none', LOG_LEVEL: 'error', TRUST_PROXY: '1', SSH_PORT: String(sshPort) })
  let stopAgent = async (): Promise<unknown> => undefined
  try {
    await importBusybox(engine.docker, image)
    const member = async (name: string): Promise<Client> => {
      const account = await register(server.url, name, `${name}-org`)
      const client = new Client(server.url, someAddress())
      await client.signIn(account.username, account.password)
      return client
    }
    const administrator = await asAdministrator(server)
    const owner = await member('reach-owner')
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'cabinet', confirm: 'auto' } })
    const agent = startAgent(['serve', '--data', join(data, 'agent'), '--docker', engine.socket, ...parametersOf(enrolment.command)], undefined, environment)
    stopAgent = () => agent.stop()
    await until(async () => (await owner.call(cards.list, { query: {} })).total === 1, 'the agent to tell of its card', 40_000)
    const { id: provider } = await owner.call(providers.create, { body: { name: '机柜主', contact: '13800000000' } })
    await administrator.call(configs.set, { body: { key: 'market_hours_ahead', value: '0' } })
    await administrator.call(providers.review, { params: { id: provider }, body: { action: 'verify' } })
    await owner.call(marketNodes.test, { params: { id: edge.id } })
    await owner.call(marketNodes.enlist, { params: { id: edge.id } })
    const terms = { card_model: model, most_cards: 1, cpus_per_card: 0.5, memory_bytes_per_card: gib / 4, disk_bytes_per_card: gib }
    const offer = await owner.call(offers.create, { body: { ...terms, card_price: '10', disk_price: '0.01', stopped_disk_price: '0.005' } })
    await administrator.call(offers.decide, { params: { id: offer.id }, body: { accept: true } })

    const renter = await member('reach-renter')
    const key = join(data, 'key')
    await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    await renter.call(keyPairs.create, { body: { name: 'mine', public_key: readFileSync(`${key}.pub`, 'utf8').trim() } })
    const options = ['IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'BatchMode=yes']
    const enters = (id: string) =>
      promisify(execFile)('ssh', ['-F', 'none', '-i', key, '-p', String(sshPort), ...options.flatMap((one) => ['-o', one]), `${id}@127.0.0.1`, 'true'])
    const taken: number[] = []
    for (let time = 0; time < times; time++) {
      let made = ''
      const ms = await timed(async () => {
        made = (await renter.call(rentals.create, { body: { name: `m${time}`, offer_id: offer.id, image } })).id
        for (;;) {
          const { status, error } = await renter.call(rentals.get, { params: { id: made } })
          if (status === 'failed') throw new Error(error ?? 'a machine failed')
          if (status === 'running') break
          await sleep(50)
        }
        await enters(made)
      })
      taken.push(ms / 1_000)
      await renter.call(rentals.release, { params: { id: made } })
      await until(async () => (await renter.call(rentals.get, { params: { id: made } })).status === 'released', 'the machine to be released')
    }
    const p95 = percentile(taken, 0.95)
    const value = p95 / mostSeconds
    return [
      {
        name: 'from the click to an answer by ssh, image there, p95',
        ours: `${p95.toFixed(2)} s`,
        floor: `${mostSeconds} s`,
        value,
        bar: `≤ ${mostSeconds} s`,
        met: value <= 1,
      },
    ]
  } finally {
    await stopAgent()
    await server.stop()
    await engine.remove()
  }
}
