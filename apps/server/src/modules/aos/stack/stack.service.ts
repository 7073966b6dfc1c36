import { randomBytes } from 'node:crypto'
import type { Stack, stackConfigs, nodeStacks, stacks } from '@zhisuan/contract/aos/stack'
import type { Placement } from '@zhisuan/contract/cis/container'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { fieldTexts } from '@zhisuan/contract/texts'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ConfigService } from '../../cis/config/config.service.ts'
import type { ServiceContainers } from '../../cis/container/service.containers.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import type { RefusePulls } from '../../ims/imageRights.ts'
import type { Composer } from '../compose/compose.apart.ts'
import { judged, termsOf } from '../compose/compose.ts'
import type { TemplateService } from '../template/template.service.ts'
import { listStackConfigs } from './config.store.ts'
import { createDeployments } from './deployment.service.ts'
import * as deployed from './deployment.store.ts'
import { getRevision, revisionsOf } from './revision.store.ts'
import { createServices } from './service.service.ts'
import { servicesOf } from './service.store.ts'
import type { StackOperations } from './stack.operations.ts'
import { shape as shapeOf, shapeService } from './stack.shape.ts'
import { refuseUnlessStackAllows } from './stack.state.ts'
import * as store from './stack.store.ts'
import type { ShownStack } from './stack.store.ts'
import { projectPrefix } from './stack.watch.ts'
import { createWishes, portsOf, type Source } from './stack.wish.ts'
import { createStackWork, nodeOf } from './stack.work.ts'

type Calls = typeof stacks

export type StackService = ReturnType<typeof createStacks>

export function createStacks(
  platform: Pick<Platform, 'db' | 'operations' | 'secrets'>,
  parts: {
    edges: Pick<EdgeReach, 'choose'>
    operations: StackOperations
    templates: Pick<TemplateService, 'forDeployment'>
    configs: Pick<ConfigService, 'contents'>
    containers: Pick<ServiceContainers, 'list' | 'refuseTakenPorts' | 'takeShare'>
    composer: Pick<Composer, 'check' | 'prepare' | 'resolve'>
    refusePulls: RefusePulls
  },
) {
  const { db, secrets } = platform
  const { edges, containers, composer } = parts
  const wishOf = createWishes(db, parts)
  const work = createStackWork(platform, parts.operations, containers)

  const shape = (row: ShownStack): Stack => shapeOf(secrets, row)

  const get = async (scope: Scope, id: string): Promise<ShownStack> => found(await store.getStack(db, scope, id))

  const deploy = async (
    actor: Actor,
    { name, description, placement, ...source }: { name: string; description: string; placement: Placement } & Source,
  ): Promise<{ deployment_id: string; items: Stack[] }> => {
    const scope = scopeOf(actor)
    refuseOwnerless(scope)
    const nodes = await edges.choose(scope, placement, { shared: true })
    const wish = await wishOf(actor, source, null, nodes)
    await Promise.all(
      nodes.map(({ id, name: node, status }) =>
        containers.refuseTakenPorts(scope, { id, name: node, online: status === 'online' }, portsOf(wish), null, 'compose'),
      ),
    )
    const deployment_id = uuidv7()
    const owner = { bp_id: actor.bp_id, ...authoredBy(actor) }
    const ids = nodes.map(() => uuidv7())
    await refusing({ stack_deployments_name: ['stackNameTaken', 'name'] }, () =>
      db.transaction().execute(async (tx) => {
        await deployed.insertDeployment(tx, {
          id: deployment_id,
          ...owner,
          name,
          description,
          template: wish.template === null ? null : JSON.stringify(wish.template),
        })
        for (const [index, node] of nodes.entries()) {
          const row = { id: ids[index] ?? '', bp_id: actor.bp_id, revision: 1 }
          await store.insertStack(tx, {
            ...owner,
            ...row,
            deployment_id,
            edge_id: node.id,
            name,
            project: projectOf(name),
            status: 'deploying',
          })
          await work.begin(tx, actor, row, node, wish, 'create')
        }
      }),
    )
    return { deployment_id, items: (await store.getStacks(db, scope, ids)).map(shape) }
  }

  const update = async (actor: Actor, id: string, source: Source, from?: number): Promise<Stack> => {
    const scope = scopeOf(actor)
    const before = await get(scope, id)
    refuseUnlessStackAllows(before, from === undefined ? 'update' : 'rollback')
    const revision = await getRevision(db, secrets, id, from ?? before.revision)
    if (revision === null) throw new Refusal('revisionUnknown', { field: 'revision' })
    const wish = await wishOf(actor, source, revision, [{ bp_id: before.edge_bp_id }])
    await containers.refuseTakenPorts(
      scope,
      before.edge,
      portsOf(wish),
      { project: before.project, services: (await servicesOf(db, id)).map((service) => service.id) },
      'compose',
    )
    await db.transaction().execute(async (tx) => {
      const row = found(await store.lockStack(tx, scope, id))
      refuseUnlessStackAllows(row, 'update')
      // What was asked for meanwhile was not seen by whoever asks now.
      if (row.revision !== before.revision) throw new Refusal('changedMeanwhile')
      await store.updateStack(tx, secrets, id, { status: from === undefined ? 'updating' : 'rolling_back', revision: row.revision + 1, error_text: null })
      await work.begin(tx, actor, { ...row, revision: row.revision + 1 }, nodeOf(row), wish, from === undefined ? 'update' : 'rollback')
    })
    return shape(await get(scope, id))
  }

  return {
    services: createServices(db, { work, containers }),
    deployments: createDeployments(platform, { work }),

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listStacks(db, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<(typeof nodeStacks)['get']>> {
      const row = await get(scopeOf(actor), id)
      return { ...shape(row), services: (await servicesOf(db, id)).map((service) => shapeService(row, service)) }
    },

    validate: async (actor: Actor, { compose, configs: files, template, declared }: BodyOf<Calls['validate']>): Promise<ResponseOf<Calls['validate']>> =>
      composer.check(compose, termsOf(actor, null, template ? 'any' : files), declared === undefined ? null : new Set(declared)),

    deploy,

    async deployToNode(actor: Actor, { edge_id, ...body }: BodyOf<(typeof nodeStacks)['create']>): Promise<Stack> {
      const { items } = await deploy(actor, { ...body, placement: { edge_ids: [edge_id], labels: [], tolerations: [], count: null } })
      return found(items[0])
    },

    async action(actor: Actor, id: string, body: BodyOf<Calls['action']>): Promise<Stack> {
      if (body.action === 'update') {
        if (body.compose !== undefined && body.template_id !== undefined)
          throw new Refusal('fieldsInvalid', { fields: [{ field: 'template_id', message: fieldTexts.oneSource }] })
        return update(actor, id, body)
      }
      const scope = scopeOf(actor)
      // By itself it goes back to the one before.
      if (body.action === 'rollback') return update(actor, id, { values: {} }, body.revision ?? (await get(scope, id)).revision - 1)
      const { action } = body
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockStack(tx, scope, id))
        refuseUnlessStackAllows(row, action)
        await work.act(tx, actor, row, action, null)
      })
      return shape(await get(scope, id))
    },

    delete: (actor: Actor, id: string): Promise<Stack> =>
      db.transaction().execute(async (tx) => {
        const row = found(await store.lockStack(tx, scopeOf(actor), id))
        await work.remove(tx, actor, row)
        return { ...shape(row), status: 'deleting' }
      }),

    async composeConfig(actor: Actor, id: string): Promise<ResponseOf<Calls['composeConfig']>> {
      await get(scopeOf(actor), id)
      const { newest, readable: revisions } = await revisionsOf(db, secrets, id)
      const { compose, values, configs: files } = newest?.content ?? { compose: '', values: {}, configs: [] }
      return {
        compose,
        resolved: newest === null ? '' : await composer.resolve(compose, new Map(Object.entries(values)), judged(files)),
        values,
        revisions: revisions.map(({ revision, content, template, created_by_name, created_at }) => ({
          revision,
          ...content,
          template,
          created_by: created_by_name,
          created_at: iso(created_at),
        })),
      }
    },

    async listConfigs(actor: Actor, query: QueryOf<(typeof stackConfigs)['list']>): Promise<ResponseOf<(typeof stackConfigs)['list']>> {
      const { total, rows } = await listStackConfigs(db, scopeOf(actor), query)
      return {
        total,
        items: rows.map((row) => ({
          stack: { id: row.stack_id, name: row.stack_name },
          edge: row.edge,
          config: { id: row.config_id, name: row.config_name },
          path: row.path,
          revision: row.revision,
          newest_revision: row.newest_revision,
        })),
      }
    },

    putConfigs: (actor: Actor, { stack_id, configs: files }: BodyOf<(typeof stackConfigs)['put']>): Promise<Stack> =>
      update(actor, stack_id, { values: {}, configs: files }),
  }
}

/** The name as far as compose takes it, and what makes it the only one. */
function projectOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 30)
  return `${projectPrefix}${plain === '' ? '' : `${plain}-`}${randomBytes(6).toString('hex')}`
}
