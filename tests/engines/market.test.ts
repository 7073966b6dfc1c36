import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { containers } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { audits } from '@zhisuan/contract/iam/audit'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { cards, marketNodes } from '@zhisuan/contract/market/card'
import { offers } from '@zhisuan/contract/market/offer'
import { providers } from '@zhisuan/contract/market/provider'
import { rentals, type Rental } from '@zhisuan/contract/market/rental'
import { configs } from '@zhisuan/contract/sys/sys'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { startOwnDocker, type OwnDocker } from '../support/agent-docker.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { cardsEnvironment } from '../support/gpu/node.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const run = promisify(execFile)
const image = 'zs-market:1'
/** Asks for all cards itself. */
const greedy = 'zs-market-greedy:1'
const gib = 2 ** 30

/** A whole server, a whole agent, and a real Docker Engine with three cards that are not there: see {@link file://../support/gpu/hook.ts}. */
describe.skipIf(!dockerIsThere)('machines that are rented on a real Docker Engine', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let engine: OwnDocker
  let agent: RunningAgent
  let admin: Client
  let owner: Client
  let renter: Client
  let other: Client
  let offer_id: string
  let sshPort: number
  let appsPort: number
  let port: number

  const start = async (): Promise<void> => {
    server = await startServer(data.path, {
      LOCAL_CLOUD: 'none',
      TRUST_PROXY: '1',
      SSH_PORT: String(sshPort),
      PORT: String(port),
      APPS_PORT: String(appsPort),
      APPS_URL: `http://localhost:${appsPort}`,
    })
  }

  const signedUp = async (name: string, organisation: string): Promise<Client> => {
    const { username, password } = await register(server.url, name, organisation)
    const client = new Client(server.url)
    await client.signIn(username, password)
    return client
  }

  beforeAll(async () => {
    data = temporaryFolder('market')
    const environment = cardsEnvironment(data.path, 3)
    engine = await startOwnDocker(join(data.path, 'docker'), { environment })
    await importBusybox(engine.docker, image)
    await importBusybox(engine.docker, greedy, ['ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=all'])
    sshPort = await freePort()
    appsPort = await freePort()
    port = await freePort()
    await start()
    admin = await asAdministrator(server)
    owner = await signedUp('market-owner', '卡主')
    renter = await signedUp('market-renter', '租户甲')
    other = await signedUp('market-other', '租户乙')
    const { edge, enrolment } = await owner.call(edges.create, { body: { name: 'cabinet', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), '--docker', engine.socket, ...parametersOf(enrolment.command)], undefined, environment)
    await until(async () => (await owner.call(cards.list, { query: {} })).total === 3, 'the agent to tell of its cards', 40_000)

    const { id } = await owner.call(providers.create, { body: { name: '机柜主', contact: '13800000000' } })
    await admin.call(configs.set, { body: { key: 'market_hours_ahead', value: '0' } })
    await admin.call(providers.review, { params: { id }, body: { action: 'verify' } })
    const tested = await owner.call(marketNodes.test, { params: { id: edge.id } })
    expect(tested.test?.checks.filter(({ passed }) => !passed)).toEqual([])
    await owner.call(marketNodes.enlist, { params: { id: edge.id } })
    const terms = { card_model: 'NVIDIA H100 80GB HBM3', most_cards: 2, cpus_per_card: 0.5, memory_bytes_per_card: gib / 4, disk_bytes_per_card: gib }
    const offer = await owner.call(offers.create, { body: { ...terms, card_price: '10', disk_price: '0.01', stopped_disk_price: '0.01' } })
    offer_id = offer.id
    await admin.call(offers.decide, { params: { id: offer.id }, body: { accept: true } })
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    await engine?.remove()
    data?.remove()
  })

  const becomes = (who: Client, id: string, status: Rental['status']): Promise<Rental> =>
    until(async () => {
      const rental = await who.call(rentals.get, { params: { id } })
      if (rental.status === 'failed' && status !== 'failed') throw new Error(rental.error ?? 'failed')
      return rental.status === status && rental
    }, `the machine to be ${status}`)
  const rent = async (who: Client, name: string, count: number, from = image): Promise<Rental> => {
    const env = from === greedy ? [] : [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }]
    const { id } = await who.call(rentals.create, { body: { name, offer_id, count, image: from, env } })
    return becomes(who, id, 'running')
  }
  /** What somebody inside sees, by the engine itself. */
  const inside = async (rental: Rental, ...command: string[]): Promise<string> => {
    const [made] = await engine.docker.containers.list({ labels: [`zhisuan.container=${rental.container_id}`] })
    return (await run('docker', ['-H', `unix://${engine.socket}`, 'exec', made?.id ?? '', ...command])).stdout
  }
  const cardsInside = async (rental: Rental): Promise<string[]> =>
    (await inside(rental, 'sh', '-c', 'ls /dev | grep -E "^nvidia[0-9]"; true')).split('\n').filter((line) => line !== '')
  const cardsOf = ({ cards: of }: Rental): string[] => of.map(({ index }) => `nvidia${index}`)

  it('have exactly their cards, whatever their image or environment asks for', async () => {
    const [two, one] = [await rent(renter, 'two', 2), await rent(other, 'one', 1, greedy)]
    expect([...cardsOf(two), ...cardsOf(one)].toSorted()).toEqual(['nvidia0', 'nvidia1', 'nvidia2'])
    expect(await cardsInside(two)).toEqual(cardsOf(two))
    expect(await cardsInside(one)).toEqual(cardsOf(one))
    expect((await inside(one, '/usr/bin/nvidia-smi', '--query-gpu=uuid', '--format=csv,noheader')).trim()).toBe(one.cards[0]?.uuid)
    // Nobody who has the node gives himself one of them.
    const refused = await renter.call(rentals.create, { body: { name: 'late', offer_id, image } }).catch((error: unknown) => String(error))
    expect(refused).toContain('98011')
    const params = { id: two.container_id ?? '' }
    expect(await owner.call(containers.get, { params }).catch((error: unknown) => String(error))).toContain('404')

    await inside(two, 'sh', '-c', 'echo kept > /workspace/file; echo gone > /root/file')
    await renter.call(rentals.stop, { params: { id: two.id } })
    await becomes(renter, two.id, 'stopped')
    // Another has the cards of it now, so it comes back on none of them until they are free.
    const thief = await rent(other, 'thief', 1)
    expect(cardsOf(two)).toEqual(expect.arrayContaining(cardsOf(thief)))
    expect(await renter.call(rentals.start, { params: { id: two.id } }).catch((error: unknown) => String(error))).toContain('98011')
    // What the other gives back instead is taken: on other cards, around the same disk.
    await other.call(rentals.release, { params: { id: one.id } })
    await becomes(other, one.id, 'released')
    await renter.call(rentals.start, { params: { id: two.id } })
    const again = await becomes(renter, two.id, 'running')
    expect(await cardsInside(again)).toEqual(cardsOf(again))
    expect(cardsOf(again)).not.toEqual(expect.arrayContaining(cardsOf(thief)))
    expect(await inside(again, 'cat', '/workspace/file')).toBe('kept\n')
    expect(await cardsInside(thief)).toEqual(cardsOf(thief))

    for (const [who, { id }] of [
      [renter, again],
      [other, thief],
    ] as const) {
      await who.call(rentals.release, { params: { id } })
      await becomes(who, id, 'released')
    }
    expect(await engine.docker.containers.list({ all: true, labels: ['zhisuan.container'] })).toEqual([])
    expect(await engine.docker.volumes.list()).toEqual([])
  })

  it('are entered by ssh as it is, by the keys of whose they are and nobody else', async () => {
    const rental = await rent(renter, 'entered', 1)
    expect(rental.ssh_port).toBe(sshPort)
    const keyOf = async (who: Client, name: string): Promise<string> => {
      const file = join(data.path, name)
      await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file])
      await who.call(keyPairs.create, { body: { name, public_key: readFileSync(`${file}.pub`, 'utf8').trim() } })
      return file
    }
    const [mine, theirs] = [await keyOf(renter, 'renter-key'), await keyOf(other, 'other-key')]
    const options = (key: string): string[] => [
      '-F',
      'none',
      '-i',
      key,
      '-p',
      String(sshPort),
      ...['IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'BatchMode=yes'].flatMap((one) => ['-o', one]),
    ]
    const ssh = (key: string, ...more: string[]): Promise<{ stdout: string; stderr: string }> =>
      run('ssh', [...options(key), `${rental.id}@127.0.0.1`, ...more])

    expect((await ssh(mine, 'ls /dev | grep -E "^nvidia[0-9]"')).stdout.trim()).toBe(cardsOf(rental)[0])
    expect(await ssh(mine, 'echo wrong >&2; exit 7').catch((error: unknown) => error)).toMatchObject({ code: 7, stderr: 'wrong\n' })
    // Bytes as they are, both ways, and their end.
    const bytes = randomBytes(3_000_000)
    const copied = spawn('ssh', [...options(mine), `${rental.id}@127.0.0.1`, 'cat > /workspace/bytes; cat /workspace/bytes'])
    copied.stdin.end(bytes)
    expect((await buffer(copied.stdout)).equals(bytes)).toBe(true)
    // A terminal.
    expect((await ssh(mine, '-tt', 'tty; stty size 2>/dev/null; exit')).stdout).toContain('/dev/pts/')
    // What listens in the machine is reached by a port of one's own.
    const shown = spawn('ssh', [...options(mine), '-W', '127.0.0.1:9', `${rental.id}@127.0.0.1`])
    shown.stdin.end()
    expect((await buffer(shown.stdout)).length).toBe(0)
    await ssh(mine, 'echo over-the-wire > /workspace/index; (nc -l -p 7777 < /workspace/index > /dev/null 2>&1 &)')
    const forwarded = spawn('ssh', [...options(mine), '-W', '127.0.0.1:7777', `${rental.id}@127.0.0.1`])
    expect(await firstOf(forwarded.stdout)).toBe('over-the-wire\n')
    forwarded.kill()

    for (const wrong of [() => ssh(theirs, 'true'), () => run('ssh', [...options(mine), `${offer_id}@127.0.0.1`, 'true'])])
      expect(await wrong().catch((error: unknown) => error)).toMatchObject({ code: 255, stderr: expect.stringContaining('Permission denied') as string })
    // Who entered stands in the audit log, each time.
    const { items: entered } = await admin.call(audits.list, { query: { call: containers.terminal.id, page_size: '100' } })
    expect(entered.length).toBeGreaterThanOrEqual(6)
    for (const entry of entered) expect(entry).toMatchObject({ object_id: rental.container_id, bp_id: rental.bp_id, code: 0 })
    await renter.call(rentals.release, { params: { id: rental.id } })
    await becomes(renter, rental.id, 'released')
    expect(await ssh(mine, 'true').catch((error: unknown) => error)).toMatchObject({ code: 255 })
  })

  it('show JupyterLab to the browser of whose they are, started where it is not, and of nobody else', async () => {
    const rental = await rent(renter, 'lab', 1)
    expect(rental.apps).toBe(true)
    const params = { id: rental.id }
    const open = (who: Client, body: BodyInput<typeof rentals.open>) => who.call(rentals.open, { params, body })
    expect(await open(renter, { app: 'jupyter' }).catch((error: unknown) => String(error))).toContain('98022')
    expect(await open(renter, { app: 'port', port: 8888 }).catch((error: unknown) => String(error))).toContain('98024')
    expect(await open(other, { app: 'jupyter' }).catch((error: unknown) => String(error))).toContain('404')
    // What the image would have under this name: it takes the same port.
    const lab = '#!/bin/sh\necho "$@" > /workspace/arguments\nexec httpd -f -p 127.0.0.1:8888 -h /workspace\n'
    await inside(rental, 'sh', '-c', `printf '%s' '${lab}' > /bin/jupyter; chmod +x /bin/jupyter; echo the-lab > /workspace/index.html`)
    const { url } = await open(renter, { app: 'jupyter' })
    const { host, pathname, search } = new URL(url)
    const browse = async (path: string, cookie = ''): Promise<{ status: number | undefined; cookie: string; body: string }> => {
      const sent = request({ port: appsPort, path, headers: { host, cookie } }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return { status: answer.statusCode, cookie: (answer.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '', body: String(await buffer(answer)) }
    }
    expect((await browse('/')).status).toBe(401)
    const { status, cookie } = await browse(`${pathname}${search}`)
    expect(status).toBe(302)
    expect(await browse('/', cookie)).toMatchObject({ status: 200, body: 'the-lab\n' })
    expect((await browse('/arguments', cookie)).body).toContain('--ip=127.0.0.1 --port=8888')
    // Once more it is there already.
    expect((await open(renter, { app: 'port', port: 8888 })).url).toContain(host)
    // Nothing listens where the node's other neighbours could come.
    expect(await inside(rental, 'sh', '-c', 'netstat -ltn | grep -cE "^tcp +[0-9]+ +[0-9]+ +0.0.0.0:" || true')).toBe('0\n')
    await renter.call(rentals.release, { params })
    await becomes(renter, rental.id, 'released')
    // It is asked again every ten seconds; there is nothing inside any more in any case.
    expect([401, 502]).toContain((await browse('/', cookie)).status)
  })

  it('come to run or leave nothing behind, whenever the server is killed', async () => {
    const killedAfter = async (ms: number, asked: readonly Promise<unknown>[]): Promise<void> => {
      const settled = Promise.allSettled(asked)
      await sleep(ms)
      server.process.kill('SIGKILL')
      await Promise.all([server.ended, settled])
      await start()
    }
    const open = async () =>
      (
        await Promise.all(
          [renter, other].map(async (who) => (await who.call(rentals.list, { query: { page_size: '100' } })).items.map((rental) => ({ who, rental }))),
        )
      )
        .flat()
        .filter(({ rental: { status } }) => status !== 'released' && status !== 'failed')
    for (const [making, ending] of [
      [60, 40],
      [250, 150],
      [700, 400],
    ] as const) {
      const asked = [renter, other, renter, other, renter].map((who, index) =>
        who.call(rentals.create, { body: { name: `k${making}-${index}`, offer_id, image } }),
      )
      await killedAfter(making, asked)
      const running = await until(async () => {
        const all = await open()
        return all.every(({ rental }) => rental.status === 'running' && rental.fault === null) && all
      }, 'all that was promised to run')
      const cardsHeld = running.flatMap(({ rental }) => cardsOf(rental))
      expect(cardsHeld.length).toBe(new Set(cardsHeld).size)
      for (const { rental } of running) expect(await cardsInside(rental)).toEqual(cardsOf(rental))

      await killedAfter(
        ending,
        running.map(({ who, rental: { id } }) => who.call(rentals.release, { params: { id } })),
      )
      await until(async () => {
        const left = await open()
        for (const { who, rental } of left)
          if (rental.status === 'running') await who.call(rentals.release, { params: { id: rental.id } }).catch(() => undefined)
        return left.length === 0
      }, 'all to be released')
      // Its agent comes back to the server in its own time.
      await until(async () => (await owner.call(cards.list, { query: {} })).items.every(({ state }) => state === 'free'), 'all cards to be free', 30_000)
      expect(await engine.docker.containers.list({ all: true, labels: ['zhisuan.container'] })).toEqual([])
      expect(await engine.docker.volumes.list()).toEqual([])
    }
  }, 240_000)
})

const firstOf = async (stream: Readable): Promise<string> => String(((await once(stream, 'data')) as [Buffer])[0])
