import { instanceCan, instanceCanLocked, type InstanceAction } from '@zhisuan/contract/compute/instance'
import { holds, readAddress, readRange } from '@zhisuan/contract/compute/address'
import type { Problem } from '@zhisuan/contract/problem'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Server } from '@zhisuan/engines/openstack/compute'
import { all } from '@zhisuan/engines/openstack/session'
import type { Actor, Scope } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { problemOf, toRefusal } from '../../../platform/http/problems.ts'
import type { Reading } from '../network/network.refusals.ts'
import { isRecycled } from '../recycle/recycle.store.ts'
import type { Place, Tenancy, View } from '../tenancy/tenancy.service.ts'
import { changeableOne } from '../view.ts'

/** The keys of an organisation, which are tied to no cloud: given by whoever keeps them. */
export interface PublicKeys {
  /** @throws Refusal `keyPairMissing` where the scope does not show it */
  publicKey(scope: Scope, id: string): Promise<string>
  names(scope: Scope): Promise<readonly { id: string; name: string }[]>
}

export interface OpenedServer {
  readonly one: Server
  readonly cloud: OpenStack
  readonly place: Place | null
  readonly view: View
}

/**
 * An instance that something is to be done to.
 * @throws Refusal notFound, `instanceRecycled`, `instanceNotNow`, `instanceLocked`
 */
export async function openedServer(
  parts: { db: Db; tenancy: Tenancy },
  actor: Actor,
  cloudId: string,
  id: string,
  action: InstanceAction,
): Promise<OpenedServer> {
  const view = await parts.tenancy.viewForChange(actor, cloudId)
  const { one, cloud, place } = await changeableOne(
    view,
    (from) => from.compute.servers.get(id),
    (server) => server.projectId,
  )
  if (one.state === 'soft_deleted' || (await isRecycled(parts.db, cloudId, id))) throw new Refusal('instanceRecycled')
  const allowed: readonly string[] = instanceCan[action]
  if (!allowed.includes(one.state)) throw new Refusal('instanceNotNow')
  const locked: readonly string[] = instanceCanLocked
  if (one.locked && !locked.includes(action)) throw new Refusal('instanceLocked')
  return { one, cloud, place, view }
}

/** Something that a body names, as the place of what it is for sees it. @throws Refusal `chosenMissing` at that field */
export async function chosen<T>(field: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (isEngineError(error, 'not_found')) throw new Refusal('chosenMissing', { field, cause: error })
    throw error
  }
}

/** One of both: a network, in which a port is made, or a port that is there. */
interface Connection {
  readonly network_id?: string | undefined
  readonly address?: string | undefined
  readonly port_id?: string | undefined
}

/**
 * Looks at what an instance is to be connected to: Nova finds out about some of it only when it has begun.
 * @param at where it stands in the request, with a dot behind
 * @throws Refusal `chosenMissing`, `computePortInUse`, `computeSubnetMissing`, `computeAddressTaken` at that field
 */
export async function connectable({ network }: Pick<OpenStack, 'network'>, { network_id, port_id, address }: Connection, at: string): Promise<void> {
  if (network_id === undefined) {
    const { deviceId } = await chosen(`${at}port_id`, network.ports.get(port_id ?? ''))
    if (deviceId !== null) throw new Refusal('computePortInUse', { field: `${at}port_id` })
    return
  }
  const [{ subnetIds }, subnets] = await Promise.all([chosen(`${at}network_id`, network.networks.get(network_id)), all(network.subnets.list({ network_id }))])
  if (subnetIds.length === 0) throw new Refusal('computeSubnetMissing', { field: `${at}network_id` })
  // The ranges of an external network are nobody's to see.
  if (address === undefined || subnets.length === 0) return
  const wanted = readAddress(address)
  const inside = subnets.map(({ cidr }) => readRange(cidr)).some((range) => range !== null && wanted !== null && holds(range, wanted))
  if (!inside) throw new Refusal('computeAddressTaken', { field: `${at}address` })
}

/** What somebody else took after `connectable` had looked, by Nova's words, which name it. */
export const connectionReadings = ({ port_id, address }: Connection, at: string): Reading[] =>
  (['invalid', 'conflict', 'busy'] as const).flatMap((kind) => [
    ...(port_id === undefined
      ? []
      : [{ kind, says: new RegExp(`Port ${RegExp.escape(port_id)} is still in use`, 'i'), refusal: 'computePortInUse', field: `${at}port_id` } as const]),
    ...(address === undefined
      ? []
      : [
          {
            kind,
            says: new RegExp(`Fixed IP (?:address )?${RegExp.escape(address)} is already in use`, 'i'),
            refusal: 'computeAddressTaken',
            field: `${at}address`,
          } as const,
        ]),
  ])

/** What is only beside the thing that was asked for: without it where its service fails, which is then among `failed`. */
export function besides(requestId: string) {
  /** One of each service. */
  const failed = new Map<string, Problem>()
  return {
    failed,
    async beside<T>(asked: Promise<T>, without: T): Promise<T> {
      try {
        return await asked
      } catch (error) {
        if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
        // What is gone by now did not fail.
        const problem = problemOf(toRefusal(error), requestId)
        if (error.kind !== 'not_found') failed.set(problem.engine?.service ?? '', problem)
        return without
      }
    },
  }
}
