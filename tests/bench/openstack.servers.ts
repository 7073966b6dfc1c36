import { createOpenStack, type OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { administrator } from '@zhisuan/engines/openstack/local'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/** Always the same: what a run that was killed has left is found again by the next one. */
const name = 'zs-bench'
/** Where they are looked at afterwards: the next run without it deletes them. */
const kept = process.env['ZHISUAN_BENCH_KEEP'] !== undefined
/** Made by one request, and under way at once. */
const [batch, together] = [100, 2]

/** So many of them: a port costs Neutron seconds of a processor, and what lists them needs is one call of Nova with them or without. */
const withPort = 50

/** Real servers of Nova in a project of their own; the first of them with a port and its address. */
export interface Servers {
  remove(): Promise<void>
}

/** Makes as many as are missing. They go with `remove`, and where the run is broken off by a signal. */
export async function makeServers(count: number): Promise<Servers> {
  const direct = createOpenStack(administrator())
  const project = await direct.identity.projects.ensure({ name, domainId: 'default' })
  const remove = async (): Promise<void> => {
    process.off('SIGINT', brokenOff).off('SIGTERM', brokenOff)
    if (!kept) await clear(direct, project.id)
    await direct.close()
  }
  const brokenOff = (signal: NodeJS.Signals): void => {
    console.error(`${signal}: the servers are being deleted`)
    void remove().finally(() => process.exit(1))
  }
  process.once('SIGINT', brokenOff).once('SIGTERM', brokenOff)
  try {
    await fill(direct, project.id, count)
  } catch (error) {
    await remove()
    throw error
  }
  return { remove }
}

/** Where they are, as a member of their project sees them. */
async function inside(direct: OpenStack, projectId: string): Promise<OpenStack> {
  const [{ userId }, [member]] = await Promise.all([direct.session.whoami(), all(direct.identity.roles.list({ name: 'member' }))])
  await direct.identity.roles.grant({ projectId, userId, roleId: member?.id ?? '' })
  return direct.within({ id: projectId })
}

async function fill(direct: OpenStack, projectId: string, count: number): Promise<void> {
  await direct.compute.quotas.set(projectId, { instances: -1, cores: -1, ram: -1 })
  await direct.network.quotas.set(projectId, { port: -1 })
  const { compute, images, network, session } = await inside(direct, projectId)
  const [[image], flavors, [existing]] = await Promise.all([
    all(images.list({ name: 'empty' })),
    all(compute.flavors.list()),
    all(network.networks.list({ name, project_id: projectId })),
  ])
  const flavor = flavors.find((one) => one.name === 'm1.tiny')
  const own = existing ?? (await network.networks.create({ name }))
  if (own.subnetIds.length === 0) await network.subnets.create({ networkId: own.id, name, cidr: '10.240.0.0/20', version: 4 })
  const there = await all(compute.servers.list())
  const batches: { size: number; networks: unknown }[] = []
  for (let from = there.length; from < count;) {
    const size = Math.min(batch, (from < withPort ? withPort : count) - from, count - from)
    batches.push({ size, networks: from < withPort ? [{ uuid: own.id }] : 'none' })
    from += size
  }
  const one = async (): Promise<void> => {
    for (let next = batches.shift(); next !== undefined; next = batches.shift()) {
      const { size, networks } = next
      const server = {
        name,
        flavorRef: flavor?.id,
        imageRef: image?.id,
        networks,
        min_count: size,
        max_count: size,
        return_reservation_id: true,
      }
      const { reservation_id } = await session.json('compute', z.object({ reservation_id: z.string() }), {
        method: 'POST',
        path: '/servers',
        body: { server },
        timeoutMs: 300_000,
      })
      await settled(() => all(compute.servers.names({ reservation_id, status: 'BUILD' })))
    }
  }
  await Promise.all(Array.from({ length: together }, one))
  const broken = (await all(compute.servers.list())).filter(({ state }) => state !== 'running')
  if (broken.length > 0) throw new Error(`${broken.length} servers do not run: ${broken[0]?.fault ?? broken[0]?.state}`)
}

async function clear(direct: OpenStack, projectId: string): Promise<void> {
  const { compute, network } = await inside(direct, projectId)
  const left = (await all(compute.servers.list())).map(({ id }) => id)
  const one = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await compute.servers.act(id, 'forceDelete')
  }
  await Promise.all(Array.from({ length: 10 }, one))
  await settled(() => all(compute.servers.names()))
  for (const { id } of await all(network.networks.list({ name, project_id: projectId }))) await network.networks.delete(id)
  for (const { id } of await all(network.securityGroups.list({ project_id: projectId }))) await direct.network.securityGroups.delete(id)
  await direct.identity.projects.delete(projectId)
}

/** Until none is left. Half an hour: a machine that does other things too takes its time over a thousand. */
async function settled(look: () => Promise<readonly unknown[]>): Promise<void> {
  for (const end = Date.now() + 1_800_000; (await look()).length > 0; await sleep(3_000))
    if (Date.now() > end) throw new Error('the servers of the benchmark did not settle')
}
