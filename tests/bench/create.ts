import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { asAdministrator, startServer, until } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median, timed } from './stats.ts'

const execute = promisify(execFile)
const lxc = async (...args: readonly string[]) => {
  const running = execute('lxc', args)
  // `lxc launch` reads more configuration from what it is given until that ends.
  running.child.stdin?.end()
  await running
}
const rounds = 15

/** From the API call to running, against `lxc launch` of the same image with the same limits, in turns. */
export async function benchCreate(data: string): Promise<Figure[]> {
  if (!existsSync(join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket'))) {
    console.log('create: left out, no LXD (scripts/engines.sh starts one)')
    return []
  }
  const server = await startServer(data)
  try {
    const client = await asAdministrator(server)
    const cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id, type: 'container' as const }
    await until(async () => (await client.call(images.list, { query })).total > 0, 'the first image')
    const [image] = (await client.call(images.list, { query })).items
    const [network] = (await client.call(networks.list, { query })).items
    const flavor = (await client.call(flavors.list)).items.find(({ name }) => name === 'nano')
    if (image === undefined || network === undefined || flavor === undefined) throw new Error('nothing to create from')
    const ours: number[] = []
    const floors: number[] = []
    for (let round = 0; round < rounds; round++) {
      let id = ''
      ours.push(
        await timed(async () => {
          const body = {
            cloud_id,
            name: `bench-${round}`,
            type: 'container',
            image_fingerprint: image.fingerprint,
            network: network.name,
            flavor_id: flavor.id,
            ssh_public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHVzZXI= bench',
          }
          id = (await client.call(vms.create, { body })).items[0]?.id ?? ''
          // Nothing runs before that, and who asks all the time takes the processor from the engine.
          await sleep(100)
          while ((await client.call(vms.get, { params: { id } })).status !== 'running') await sleep(10)
        }),
      )
      const name = `bench-floor-${round}`
      floors.push(
        await timed(() =>
          lxc('launch', image.fingerprint, name, '--quiet', '--network', network.name, '-c', 'limits.cpu=1', '-c', `limits.memory=${flavor.memory_bytes}`),
        ),
      )
      await lxc('delete', '--force', name)
      await client.call(vms.delete, { params: { id } })
      await until(async () => (await client.call(vms.list, { query: { keyword: id } })).total === 0, 'the instance to be gone')
    }
    const [mine, floor] = [median(ours), median(floors)]
    return [
      {
        name: 'create to running',
        ours: `${mine.toFixed(0)} ms`,
        floor: `${floor.toFixed(0)} ms of lxc launch`,
        value: mine / floor,
        bar: '≤ 1.25',
        met: mine / floor <= 1.25,
      },
    ]
  } finally {
    await server.stop()
  }
}
