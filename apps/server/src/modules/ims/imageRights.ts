import { imageKind, pulls } from '@zhisuan/contract/ims/rights'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { contextOfPerson } from '../../platform/auth/later.ts'
import { decideAlso } from '../../platform/auth/rules.ts'
import type { Sql } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { tagsOf } from '../../platform/kinds.ts'
import type { Platform } from '../../platform/platform.ts'
import { imageParts } from './imageAuth.ts'
import { projectForToken } from './project/project.store.ts'
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
  const registry = await on
    .selectFrom('registries')
    .select('id')
    .where(byId ? 'id' : 'address', '=', image.address)
    .executeTakeFirst()
  if (registry === undefined) return byId ? undefined : null
  const parts = partsOf(image.name)
  const project = parts === null ? undefined : await projectForToken(on, registry.id, parts.project)
  if (parts === null || project === undefined) return undefined
  return project.visibility === 'public' ? null : `${project.id}/${parts.repository}`
}

/** Refuses who may not pull one of these images, where they are known only after the call was read, as those of a compose file. @throws Refusal 3000 */
export type RefusePulls = (actor: Actor, images: readonly string[]) => Promise<void>

export const createRefusePulls =
  ({ db, kinds, now }: Pick<Platform, 'db' | 'kinds' | 'now'>): RefusePulls =>
  async (actor, images) => {
    const call = { id: 'ims.repository.pull', subjects: undefined, requestTags: undefined, also: () => pulls(...images) }
    const refused = await decideAlso(
      actor,
      call,
      { params: {} },
      contextOfPerson(actor, now()),
      (kind, id) => tagsOf(kinds(), scopeOf(actor), kind, id),
      async (of, id) => (of === imageKind ? repositoryOfImage(db, id) : undefined),
    )
    if (refused !== null && refused.outcome !== 'allowed')
      throw new Refusal('noPermission', { refused: { action: refused.action, outcome: refused.outcome, by: refused.by } })
  }
