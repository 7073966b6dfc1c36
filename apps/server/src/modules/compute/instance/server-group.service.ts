import type { serverGroups, ServerGroup } from '@zhisuan/contract/compute/instance'
import type { BodyOf } from '@zhisuan/contract/define'
import type { ServerGroup as EngineGroup } from '@zhisuan/engines/openstack/compute'
import type { Actor } from '../../../platform/auth/actor.ts'
import { linesOf, mapped } from '../../../platform/lines.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { changeableOf, namesOfPlaces, pagesOf } from '../view.ts'

/** Groups of instances that lie together, or apart. */
export function createServerGroups(tenancy: Tenancy) {
  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const pages = pagesOf(view, async function* ({ compute }) {
        yield await compute.serverGroups.list('all_tenants' in view.allTenants ? 'all' : 'mine', signal)
      })
      yield* linesOf({ items: mapped(pages, groupShape), names: [namesOfPlaces(view)], requestId })
    },
    async create(actor: Actor, cloudId: string, body: BodyOf<typeof serverGroups.create>): Promise<ServerGroup> {
      const { cloud } = await tenancy.placeForMaking(actor, cloudId, body.project_id, 'free')
      return groupShape(await cloud.compute.serverGroups.create({ name: body.name, policy: body.policy }))
    },
    async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
      const view = await tenancy.viewForChange(actor, cloudId)
      const { cloud } = await changeableOf(view, ({ compute }) => compute.serverGroups.get(id))
      await cloud.compute.serverGroups.delete(id)
    },
  }
}

const groupShape = ({ id, name, policy, memberIds, projectId }: EngineGroup): ServerGroup => ({
  id,
  name,
  policy,
  member_ids: memberIds,
  keystone_project_id: projectId,
})
