import { agentPaths, type GpuHealth, type NodeGpu } from '@zhisuan/contract/agent/node'
import { edges, enrolments, type Edge } from '@zhisuan/contract/ecrm/edge'
import { marketNodes } from '@zhisuan/contract/market/card'
import { offers, type Offer } from '@zhisuan/contract/market/offer'
import { configs } from '@zhisuan/contract/sys/sys'
import { providers } from '@zhisuan/contract/market/provider'
import type { BodyInput } from '@zhisuan/contract/define'
import { expect, vi } from 'vitest'
import { newPrivateKey, publicKeyOf } from '../../../agent/src/identity.ts'
import type { TestApp } from './app.ts'
import { call } from './call.ts'
import type { SignedIn } from './people.ts'
import { fakeDocker, type FakeDocker } from '../modules/cis/testing.ts'
import { register, someMetrics, startAgent } from '../modules/ecrm/testing.ts'

const gib = 2 ** 30
const well: GpuHealth = { lost: false, uncorrected_errors: 0, slowed_by_heat: false, xids: [] }

export interface CardNode {
  readonly edge: Edge
  readonly docker: FakeDocker
  /** As its driver tells of them: a test changes what is said. */
  readonly cards: { gpu: NodeGpu; health: GpuHealth | null }[]
  readonly disk: { bytesPerSecond: number }
  /** The agent comes anew, and tells at once how its cards are. */
  reconnect(): Promise<void>
  stop(): void
}

let made = 0
/** A node with cards that the agent's own code tells of, and a Docker in memory. */
export async function cardNode(app: TestApp, token: string, { count = 2, model = 'NVIDIA H100', cuda = '12.4' } = {}): Promise<CardNode> {
  const { edge, enrolment } = await register(app, token)
  const docker = fakeDocker()
  const node = ++made
  const cards: CardNode['cards'] = Array.from({ length: count }, (_, index) => ({
    gpu: { index, uuid: `GPU-${node}-${index}`, vendor: 'nvidia' as const, model, memory_bytes: 80 * gib, driver: '550.54.15', cuda },
    health: well,
  }))
  const disk = { bytesPerSecond: 500 * 2 ** 20 }
  const privateKey = newPrivateKey()
  const { edge_id, server_public_key } = await call(app, enrolments.enrol, {
    body: { token: enrolment.token, public_key: publicKeyOf(privateKey), version: '0.1.0' },
  })
  const gpus = () => cards.filter(({ health }) => health !== null).map(({ gpu }) => gpu)
  const answers: Parameters<typeof startAgent>[2] = (request, response) => {
    if (request.url === agentPaths.metrics) {
      const told = cards.flatMap(({ gpu: { uuid }, health }) =>
        health === null ? [] : [{ uuid, share: 0, memory_used_bytes: 0, temperature_celsius: 40, power_watts: 70, health }],
      )
      response.end(JSON.stringify({ ...someMetrics(), gpus: told }))
      return true
    }
    if (request.url === agentPaths.selfTest) {
      const said = { gpus: gpus(), gpu_error: null, gpu_runtime: true, memory_bytes: 256 * gib, disk_bytes_per_second: disk.bytesPerSecond }
      response.end(JSON.stringify(said))
      return true
    }
    return docker.answers(request, response)
  }
  const start = () => startAgent(app, { edgeId: edge_id, privateKey, serverKey: server_public_key }, answers, { facts: { gpus: gpus() } })
  let agent = await start()
  const online = () =>
    vi.waitFor(
      async () =>
        expect(await call(app, edges.get, { token, params: { id: edge.id } })).toMatchObject({
          status: 'online',
          docker_version: expect.any(String) as string,
        }),
      10_000,
    )
  await online()
  return {
    edge,
    docker,
    cards,
    disk,
    async reconnect() {
      agent.stop()
      await agent.done
      agent = await start()
      await online()
    },
    stop: () => agent.stop(),
  }
}

/** An organisation, or with an administrator the platform, as a verified provider whose nodes are listed. */
export async function providing(app: TestApp, who: SignedIn, admin: SignedIn, nodes: readonly CardNode[], name: string): Promise<string> {
  // Who rents in tests has no money, but where a test is about that.
  await call(app, configs.set, { token: admin.token, body: { key: 'market_hours_ahead', value: '0' } })
  const { id } = await call(app, providers.create, { token: who.token, body: { name, contact: '010-12345678' } })
  await call(app, providers.review, { token: admin.token, params: { id }, body: { action: 'verify' } })
  for (const { edge } of nodes) {
    const params = { id: edge.id }
    await vi.waitFor(
      async () => expect((await call(app, marketNodes.list, { token: who.token, query: {} })).items.map((one) => one.id)).toContain(edge.id),
      10_000,
    )
    await call(app, marketNodes.test, { token: who.token, params })
    await call(app, marketNodes.enlist, { token: who.token, params })
  }
  return id
}

export const someTerms = (wish: Partial<BodyInput<typeof offers.create>> = {}): BodyInput<typeof offers.create> => ({
  card_model: 'NVIDIA H100',
  most_cards: 2,
  cpus_per_card: 8,
  memory_bytes_per_card: 32 * gib,
  disk_bytes_per_card: 100 * gib,
  card_price: '12.5',
  disk_price: '0.001',
  stopped_disk_price: '0.0005',
  ...wish,
})

/** Proposed by a provider and listed by an administrator. */
export async function listed(app: TestApp, who: SignedIn, admin: SignedIn, wish: Partial<BodyInput<typeof offers.create>> = {}): Promise<Offer> {
  const { id } = await call(app, offers.create, { token: who.token, body: someTerms(wish) })
  return call(app, offers.decide, { token: admin.token, params: { id }, body: { accept: true } })
}
