import { hasRegistry } from '@zhisuan/contract/ims/rights'
import type { RegistryAuth } from '@zhisuan/engines/docker/types'
import type { Db } from '../../platform/db/database.ts'
import { projectForToken } from './project/project.store.ts'
import { registryAt } from './registry/place.ts'
import { platformSubject } from './registry/registry.connection.ts'
import type { RegistryEndpoints } from './registry/registry.endpoint.ts'
import type { ThirdService } from './third/third.service.ts'
import { partsOf } from './token/scopes.ts'
import type { Tokens } from './token/tokens.ts'

/** A pull has one token, and cannot ask for another. */
const tokenSeconds = 3_600

/**
 * By what a node may pull an image, for this pull only; undefined where it needs nothing, or nothing of ours is good for it.
 * @param bpId whose pull it is; null is the platform's
 * @param nodeBpId whose node it is; null is the platform's
 */
export type ImageAuth = (image: string, bpId: string | null, nodeBpId: string | null) => Promise<RegistryAuth | undefined>

/**
 * The account that a node's Docker may be told, null where it may be told none: whoever has a node sees what its Docker is told.
 * So an account is for nodes of whose it is; and for the platform's, which has it anyway, where it is its owner's pull.
 */
export function accountFor<T>(account: T | null, of: { readonly owner: string | null; readonly node: string | null; readonly pull: string | null }): T | null {
  const isTheirs = of.node === of.owner || (of.node === null && of.pull === of.owner)
  return isTheirs ? account : null
}

/** `registry.example.com:5000/team/app:1` in address and name. */
export function imageParts(image: string): { readonly address: string; readonly name: string } | null {
  const slash = image.indexOf('/')
  const [address, rest] = [image.slice(0, slash), image.slice(slash + 1)]
  if (!hasRegistry(image)) return null
  return { address, name: rest.replace(/@.*$/, '').replace(/:[\w.-]+$/, '') }
}

export function createImageAuth({
  db,
  endpoints,
  tokens,
  third,
}: {
  db: Db
  endpoints: RegistryEndpoints
  tokens: Tokens
  third: Pick<ThirdService, 'connectionOf'>
}): ImageAuth {
  return async (image, bpId, nodeBpId) => {
    const parts = imageParts(image)
    if (parts === null) return undefined
    const of = { node: nodeBpId, pull: bpId }
    const { address, name } = parts
    const row = await registryAt(db, address)
    if (row?.status === 'active') {
      const names = partsOf(name)
      const project = names === null ? undefined : await projectForToken(db, row.id, names.project)
      if (project === undefined) return undefined
      if (bpId !== null && project.bp_id !== bpId && project.visibility !== 'public') return undefined
      const { account, ours } = endpoints.connectionOf(row)
      // The account is the platform's, for all that is in it.
      if (account !== null) {
        const told = bpId === null ? accountFor(account, { ...of, owner: null }) : null
        return told === null ? undefined : { ...told, serverAddress: address }
      }
      if (ours === null) return undefined
      const scopes = [{ type: 'repository', name, actions: ['pull'] }] as const
      const { token } = await tokens.sign({ registryId: ours, subject: platformSubject, scopes, seconds: tokenSeconds })
      return { username: '', password: '', token }
    }
    const theirs = await db
      .selectFrom('third_registries')
      .selectAll()
      .where('address', '=', address)
      .where('bp_id', 'is not distinct from', bpId)
      .where('username', 'is not', null)
      .executeTakeFirst()
    const account = theirs === undefined ? null : accountFor(third.connectionOf(theirs).account, { ...of, owner: theirs.bp_id })
    return account === null ? undefined : { ...account, serverAddress: address }
  }
}

/**
 * What an image that lies on a node which others use, too, is to somebody. `none`: it is in another's project, and not there for
 * them. `anew`: others have accounts where it comes from, so it is asked for there by whoever wants it. `there`: as it is.
 */
export type ImageUse = (image: string, bpId: string) => Promise<'there' | 'anew' | 'none'>

export const createImageUse =
  (db: Db): ImageUse =>
  async (image, bpId) => {
    const parts = imageParts(image)
    const address = parts?.address ?? 'docker.io'
    const registered = await registryAt(db, address)
    if (parts !== null && registered !== undefined) {
      const names = partsOf(parts.name)
      const project = names === null ? undefined : await projectForToken(db, registered.id, names.project)
      return project !== undefined && (project.bp_id === bpId || project.visibility === 'public') ? 'there' : 'none'
    }
    const others = await db
      .selectFrom('third_registries')
      .select('id')
      .where('address', '=', address)
      .where('username', 'is not', null)
      .where('bp_id', '<>', bpId)
      .limit(1)
      .executeTakeFirst()
    return others === undefined ? 'there' : 'anew'
  }
