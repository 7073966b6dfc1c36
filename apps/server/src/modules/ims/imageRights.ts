import type { Also } from '@zhisuan/contract/define'
import { imageKind, pulls } from '@zhisuan/contract/ims/rights'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { contextOfPerson } from '../../platform/auth/later.ts'
import { decideAlso } from '../../platform/auth/rules.ts'
import type { Sql } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { tagsOf } from '../../platform/kinds.ts'
import type { Platform } from '../../platform/platform.ts'
import { imageParts } from './imageAuth.ts'
import { projectForToken } from './project/project.store.ts'
import { registryAt } from './registry/place.ts'
import { getRegistry } from './registry/registry.store.ts'
import { partsOf } from './token/scopes.ts'

/**
 * The repository that an image is in, as policies name it; null where it is at no registry of the platform's, or everybody
 * may pull it. What is not there, or another's, is none: whoever may not pull everything learns nothing of it.
 * @param name as nodes pull it, or with the id of its registry instead of the address
 */
export async function repositoryOfImage(on: Sql, name: string): Promise<string | null | undefined> {
  const slash = name.indexOf('/')
  const byId = /^[0-9a-f-]{36}$/i.test(name.slice(0, slash))
  const image = byId ? { address: name.slice(0, slash), name: name.slice(slash + 1) } : imageParts(name)
  if (image === null) return null
  const registry = await (byId ? getRegistry(on, image.address) : registryAt(on, image.address))
  if (registry === undefined) return byId ? undefined : null
  const parts = partsOf(image.name)
  const project = parts === null ? undefined : await projectForToken(on, registry.id, parts.project)
  if (parts === null || project === undefined) return undefined
  return project.visibility === 'public' ? null : `${project.id}/${parts.repository}`
}

/** Who asks, and whence. */
export interface Asking {
  readonly actor: Actor
  readonly context: Context
}

/**
 * Refuses who may not do one of these, where they are known only after the call was read.
 * @param context of the request; left out where it is done for somebody who is not there
 * @throws Refusal 3000
 */
export type RefuseAlso = (actor: Actor, also: readonly Also[], context?: Context) => Promise<void>

/** Refuses who may not pull one of these images, as those of a compose file. @throws Refusal 3000 */
export type RefusePulls = (actor: Actor, images: readonly string[]) => Promise<void>

export const createRefusePulls = (platform: Pick<Platform, 'db' | 'kinds' | 'now'>): RefusePulls => {
  const refuseAlso = createRefuseAlso(platform)
  return (actor, images) => refuseAlso(actor, pulls(...images))
}

export const createRefuseAlso =
  ({ db, kinds, now }: Pick<Platform, 'db' | 'kinds' | 'now'>): RefuseAlso =>
  async (actor, also, context) => {
    const call = { id: 'ims.repository.pull', subjects: undefined, requestTags: undefined, also: () => also }
    const refused = await decideAlso(
      actor,
      call,
      { params: {} },
      context ?? contextOfPerson(actor, now()),
      (kind, id) => tagsOf(kinds(), scopeOf(actor), kind, id),
      async (of, id) => (of === imageKind ? repositoryOfImage(db, id) : undefined),
    )
    if (refused !== null && refused.outcome !== 'allowed')
      throw new Refusal('noPermission', { refused: { action: refused.action, outcome: refused.outcome, by: refused.by } })
  }
