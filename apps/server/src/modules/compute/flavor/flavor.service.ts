import type { ComputeFlavor } from '@zhisuan/contract/compute/flavor'
import type { Flavor } from '@zhisuan/engines/openstack/compute'
import type { Actor } from '../../../platform/auth/actor.ts'
import { linesOf, mapped } from '../../../platform/lines.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { readOne, sharedPagesOf } from '../view.ts'

const mib = 2 ** 20
const gib = 2 ** 30

export function createFlavors(tenancy: Tenancy) {
  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const flavors = sharedPagesOf(
        view,
        (cloud) => cloud.compute.flavors.list(view.everything ? 'all' : 'mine', signal),
        (flavor) => flavor.public,
      )
      yield* linesOf({ items: mapped(flavors, (flavor) => shape(flavor, view.everything)), requestId })
    },

    async get(actor: Actor, cloudId: string, id: string): Promise<ComputeFlavor> {
      const view = await tenancy.view(actor, cloudId)
      return shape(
        await readOne(
          view,
          (cloud) => cloud.compute.flavors.get(id),
          (flavor) => flavor.public,
        ),
        view.everything,
      )
    },
  }
}
export type Flavors = ReturnType<typeof createFlavors>

const shape = (flavor: Flavor, everything: boolean): ComputeFlavor => ({
  id: flavor.id,
  name: flavor.name,
  description: flavor.description,
  vcpus: flavor.vcpus,
  memory_bytes: flavor.memoryMib * mib,
  disk_bytes: flavor.diskGib * gib,
  ephemeral_bytes: flavor.ephemeralGib * gib,
  swap_bytes: flavor.swapMib * mib,
  public: flavor.public,
  extra_specs: everything ? flavor.extraSpecs : {},
})
