import { setTimeout as sleep } from 'node:timers/promises'
import { isEngineError } from '../errors.ts'
import type { OpenStack } from './cloud.ts'
import { all } from './session.ts'

/**
 * Takes all that is in a project, for tests that leave a cloud as they found it: in the order in which one thing lets
 * go of the other; what goes by itself meanwhile is as good as gone. The user has to have a role in it.
 */
export async function emptyProject(administrator: OpenStack, project_id: string): Promise<void> {
  const { compute, volume, images, network } = administrator.within({ id: project_id })
  const { servers, serverGroups } = compute
  const kept = { all_tenants: 1, project_id, status: 'SOFT_DELETED', soft_deleted: true }
  for (const list of [servers.list(), administrator.compute.servers.list(kept)]) {
    for (const { id, locked } of await all(list)) {
      if (locked) await servers.act(id, 'unlock')
      await unlessGone(servers.act(id, 'forceDelete'))
    }
  }
  await untilNone(async () => (await all(servers.list())).length, 'instances')
  for (const { id } of await serverGroups.list()) await serverGroups.delete(id)

  for (const { id } of await all(volume.transfers.list())) await volume.transfers.delete(id)
  const stored = async (): Promise<number> => {
    const [backups, snapshots, volumes] = await Promise.all([all(volume.backups.list()), all(volume.snapshots.list()), all(volume.volumes.list())])
    for (const { id, hasDependents } of backups) if (!hasDependents) await unlessGone(volume.backups.delete(id))
    for (const { id } of snapshots) await unlessGone(volume.snapshots.delete(id))
    for (const { id } of volumes) await unlessGone(volume.volumes.delete(id, true))
    return backups.length + snapshots.length + volumes.length
  }
  await untilNone(stored, 'volumes and what was kept of them')

  // Glance leaves those of the community out unless it is asked for them.
  for (const query of [{}, { visibility: 'community' }]) {
    for (const one of await all(images.list({ ...query, owner: project_id }))) {
      if (one.protected) await images.update(one.id, { protected: false })
      await images.delete(one.id)
    }
  }

  for (const { id } of await all(network.floatingIps.list({ project_id }))) await network.floatingIps.delete(id)
  for (const { id } of await all(network.routers.list({ project_id }))) {
    await network.routers.update(id, { routes: [], gateway: null })
    for (const port of await all(network.ports.list({ device_id: id }))) await network.routers.removeInterface(id, { portId: port.id })
    await network.routers.delete(id)
  }
  for (const { id, deviceOwner } of await all(network.ports.list({ project_id })))
    if (deviceOwner !== 'network:dhcp') await unlessGone(network.ports.delete(id))
  for (const { id } of await all(network.networks.list({ project_id }))) await network.networks.delete(id)
  // Each project has a group of the cloud's own, which only the administrator can delete.
  for (const { id } of await all(administrator.network.securityGroups.list({ project_id }))) await administrator.network.securityGroups.delete(id)
}

/** What is busy is looked at again by whoever waits for it. */
const unlessGone = async (asked: Promise<unknown>): Promise<void> => {
  await asked.catch((error: unknown) => {
    if (!isEngineError(error, 'not_found', 'busy')) throw error
  })
}

async function untilNone(count: () => Promise<number>, what: string): Promise<void> {
  for (const end = Date.now() + 240_000; (await count()) > 0; await sleep(1_000)) if (Date.now() > end) throw new Error(`the ${what} do not go`)
}
