import { computeVolumeCan, type ComputeVolumeTransfer, type computeVolumeTransfers as calls } from '@zhisuan/contract/compute/volume'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { VolumeTransfer } from '@zhisuan/engines/openstack/volume'
import type { Actor } from '../../../platform/auth/actor.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { linesOf, mapped } from '../../../platform/lines.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { changeableOne, pagesOf } from '../view.ts'
import { asNames, moment, named, refusedAtField } from './storage.ts'
import { statusOf, volumeIn } from './volume.service.ts'

/** Volumes on their way from one project to another. */
export function createTransfers(tenancy: Tenancy) {
  return {
    async *list(actor: Actor, cloudId: string, requestId: string, signal: AbortSignal) {
      const view = await tenancy.view(actor, cloudId)
      const transfers = pagesOf(view, (cloud, allTenants) => cloud.volume.transfers.list(allTenants, signal))
      const volumes = pagesOf(view, (cloud, allTenants) => cloud.volume.volumes.names({ ...allTenants, status: 'awaiting-transfer' }, signal))
      yield* linesOf({ items: mapped(transfers, shape), names: [asNames(volumes)], requestId })
    },

    /** @returns with the key, which nobody is told a second time */
    async create(actor: Actor, cloudId: string, { volume_id, name }: BodyOf<typeof calls.create>): Promise<ResponseOf<typeof calls.create>> {
      const volume = await named(volumeIn(await tenancy.viewForChange(actor, cloudId), volume_id), 'computeVolumeMissing', 'volume_id')
      refuseUnless(computeVolumeCan.transfer, { status: statusOf(volume.one) }, 'volume_id')
      const made = await volume.cloud.volume.transfers.create({ volumeId: volume_id, name })
      return { ...shape(made), auth_key: found(made.authKey) }
    },

    /** @throws Refusal `computeTransferRefused` whether it is the offer or the key that is wrong, `computeStorageExhausted` */
    async accept(actor: Actor, cloudId: string, id: string, { project_id, auth_key }: BodyOf<typeof calls.accept>): Promise<ResponseOf<typeof calls.accept>> {
      const { cloud } = await tenancy.placeForMaking(actor, cloudId, project_id)
      const taken = cloud.volume.transfers.accept(id, auth_key).catch((error: unknown) => {
        // The cloud's own words would tell whether there is such an offer.
        throw isEngineError(error, 'not_found', 'invalid') ? new Refusal('computeTransferRefused', { field: 'auth_key', cause: error }) : error
      })
      return { volume_id: await refusedAtField(taken, { exhausted: ['computeStorageExhausted', 'project_id'] }) }
    },

    async delete(actor: Actor, cloudId: string, id: string): Promise<void> {
      const view = await tenancy.viewForChange(actor, cloudId)
      // It says whose it is by its volume only; whoever sees it offered it.
      const { cloud } = await changeableOne(
        view,
        (one) => one.volume.transfers.get(id),
        () => null,
      )
      try {
        await cloud.volume.transfers.delete(id)
      } catch (error) {
        // Somebody took it meanwhile, or took it back.
        if (!(error instanceof EngineError) || error.kind !== 'not_found') throw error
      }
    },
  }
}
export type Transfers = ReturnType<typeof createTransfers>

const shape = ({ id, name, volumeId, createdAt }: VolumeTransfer): ComputeVolumeTransfer => ({ id, name, volume_id: volumeId, created_at: moment(createdAt) })
