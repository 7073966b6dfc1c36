import type { Template, templates } from '@zhisuan/contract/aos/stack'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Composer } from '../compose/compose.apart.ts'
import { refuseInvalid, termsOf } from '../compose/compose.ts'
import * as store from './template.store.ts'
import type { ShownTemplate } from './template.store.ts'

type Calls = typeof templates

export type TemplateService = ReturnType<typeof createTemplates>

const shape = (row: ShownTemplate): Template => ({
  id: row.id,
  name: row.name,
  description: row.description,
  bp_id: row.bp_id,
  labels: row.labels,
  version: row.version,
  version_count: row.version_count,
  compose: row.compose,
  variables: row.variables,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})

/** Compose files with variables, in versions. */
export function createTemplates({ db, secrets }: Pick<Platform, 'db' | 'secrets'>, composer: Pick<Composer, 'check'>) {
  const contentOf = async (actor: Actor, body: BodyOf<Calls['update']>) => {
    // Which configs there are is said when it is deployed: their paths are not known here.
    const declared = new Set(body.variables.map(({ name }) => name))
    refuseInvalid((await composer.check(body.compose, termsOf(actor, null, 'any'), declared)).problems)
    return { description: body.description, labels: JSON.stringify(body.labels), compose: body.compose, variables: body.variables }
  }
  const get = async (scope: Scope, id: string): Promise<Template> => shape(found(await store.getTemplate(db, secrets, scope, id)))

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listTemplates(db, secrets, scopeOf(actor), query), shape),

    get: (actor: Actor, id: string): Promise<Template> => get(scopeOf(actor), id),

    /** For a deployment. @throws Refusal `templateUnknown` */
    async forDeployment(scope: Scope, id: string): Promise<Template> {
      const row = await store.getTemplate(db, secrets, scope, id)
      if (row === undefined) throw new Refusal('templateUnknown', { field: 'template_id' })
      return shape(row)
    },

    async versions(actor: Actor, id: string): Promise<ResponseOf<Calls['versions']>> {
      const scope = scopeOf(actor)
      return { items: (await store.versionsOf(db, secrets, scope, found(await store.getTemplate(db, secrets, scope, id)))).map(shape) }
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<Template> {
      const scope = scopeOf(actor)
      refuseOwnerless(scope)
      const id = uuidv7()
      const content = await contentOf(actor, body)
      await refusing({ stack_templates_version: ['templateVersionTaken', 'version'] }, () =>
        store.insertTemplate(db, secrets, {
          id,
          bp_id: actor.bp_id,
          name: body.name,
          version: body.version,
          ...content,
          ...authoredBy(actor),
        }),
      )
      return get(scope, id)
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Template> {
      const scope = scopeOf(actor)
      found(await store.getTemplate(db, secrets, scope, id))
      await store.updateTemplate(db, secrets, scope, id, await contentOf(actor, body))
      return get(scope, id)
    },

    /** What was deployed from it stays. */
    delete: (actor: Actor, { id, name }: QueryOf<Calls['delete']>): Promise<void> =>
      db.transaction().execute(async (tx) => {
        // The contract lets pass a name where there is no id.
        const which = id === undefined ? { name: name ?? '', bp_id: actor.bp_id } : { id, name }
        const count = await store.deleteTemplates(tx, scopeOf(actor), which)
        if (count === 0) throw new Refusal('notFound')
      }),
  }
}
