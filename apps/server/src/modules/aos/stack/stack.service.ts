import { randomBytes } from 'node:crypto'
import type { Service, services, Stack, StackDeployment, stackConfigs, stackDeployments, StackFile, nodeStacks, stacks } from '@zhisuan/contract/aos/stack'
import type { Placement } from '@zhisuan/contract/cis/container'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { fieldTexts } from '@zhisuan/contract/texts'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ConfigService } from '../../cis/config/config.service.ts'
import type { ServiceContainers } from '../../cis/container/service.containers.ts'
import type { EdgeReach } from '../../ecrm/edge/edge.reach.ts'
import { checkCompose, judged, prepare, shown, termsOf, valuesOf, type Prepared } from '../compose/compose.ts'
import type { TemplateService } from '../template/template.service.ts'
import { listStackConfigs, setStackConfigs } from './config.store.ts'
import * as deployed from './deployment.store.ts'
import { getRevision, insertRevision, revisionsOf, type RevisionContent } from './revision.store.ts'
import { getService, servicesOf, setReplicas, wishServices, type ShownService } from './service.store.ts'
import type { StackOperations } from './stack.operations.ts'
import { shape, shapeDeployment, shapeService } from './stack.shape.ts'
import { refuseUnlessStackAllows } from './stack.state.ts'
import * as store from './stack.store.ts'
import type { ShownStack } from './stack.store.ts'
import { projectPrefix } from './stack.watch.ts'

type Calls = typeof stacks
type Source = Pick<BodyOf<Calls['create']>, 'compose' | 'template_id' | 'values' | 'configs'>
/** What a stack is to be, judged. */
interface Wish {
  readonly content: RevisionContent
  readonly template: Stack['template']
  readonly prepared: Prepared
}

export type StackService = ReturnType<typeof createStacks>

export function createStacks(
  platform: Pick<Platform, 'db' | 'operations' | 'secrets'>,
  parts: {
    edges: Pick<EdgeReach, 'choose'>
    operations: StackOperations
    templates: Pick<TemplateService, 'forDeployment'>
    configs: Pick<ConfigService, 'contents'>
    containers: Pick<ServiceContainers, 'list' | 'refuseTakenPorts'>
  },
) {
  const { db, secrets } = platform
  const { edges, operations, templates, configs, containers } = parts

  const get = async (scope: Scope, id: string): Promise<ShownStack> => found(await store.getStack(db, scope, id))

  /** Each config has to be the scope's. */
  const refuseConfigs = async (scope: Scope, files: readonly StackFile[]): Promise<void> => {
    await configs.contents(
      db,
      scope,
      files.map(({ config_id }) => config_id),
    )
  }

  /**
   * @param before what an update begins with: what it does not name stays
   * @param nodes where it is to run
   */
  const wishOf = async (
    actor: Actor,
    source: Source,
    before: { content: RevisionContent; template: Stack['template'] } | null,
    nodes: readonly { bp_id: string | null }[],
  ): Promise<Wish> => {
    const scope = scopeOf(actor)
    const files = source.configs ?? before?.content.configs ?? []
    await refuseConfigs(scope, files)
    const terms = termsOf(actor, nodes, files)
    const given = { ...before?.content.values, ...source.values }
    const wish = (compose: string, values: ReadonlyMap<string, string>, template: Stack['template']): Wish => ({
      content: { compose, values: Object.fromEntries(values), configs: [...files] },
      template,
      prepared: prepare(compose, values, terms),
    })
    if (source.template_id !== undefined) {
      const { id, name, version, compose, variables } = await templates.forDeployment(scope, source.template_id)
      return wish(compose, valuesOf(variables, given), { id, name, version })
    }
    return wish(
      source.compose ?? before?.content.compose ?? '',
      new Map(Object.entries(given)),
      source.compose === undefined ? (before?.template ?? null) : null,
    )
  }

  /** Makes a revision what the stack is to be, and begins to bring it there. */
  const begin = async (
    tx: Tx,
    actor: Actor,
    row: { id: string; bp_id: string | null; revision: number },
    { content, template, prepared }: Wish,
    kind: 'create' | 'update' | 'rollback',
  ): Promise<void> => {
    await insertRevision(tx, secrets, { stack_id: row.id, revision: row.revision, content, template, created_by_name: actor.name })
    await setStackConfigs(tx, row.id, content.configs)
    await wishServices(tx, row.id, prepared.services)
    await platform.operations.begin(tx, operations[kind], { resource_id: row.id, bp_id: row.bp_id, actor, input: { revision: row.revision } })
  }

  const deploy = async (
    actor: Actor,
    { name, description, placement, ...source }: { name: string; description: string; placement: Placement } & Source,
  ): Promise<{ deployment_id: string; items: Stack[] }> => {
    const scope = scopeOf(actor)
    refuseOwnerless(scope)
    const nodes = await edges.choose(scope, placement)
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
          await begin(tx, actor, row, wish, 'create')
        }
      }),
    )
    return { deployment_id, items: (await store.getStacks(db, scope, ids)).map(shape) }
  }

  const removeOne = async (tx: Tx, actor: Actor, row: ShownStack): Promise<void> => {
    refuseUnlessStackAllows(row, 'delete')
    if (row.edge_gone) {
      // There is nobody to ask: only what we know of it goes.
      const own = await store.getStackRow(tx, row.id)
      if (own !== undefined) await operations.dropStack(tx, own)
      return
    }
    await platform.operations.begin(tx, operations.delete, { resource_id: row.id, bp_id: row.bp_id, actor, input: {} })
    await store.updateStack(tx, row.id, { status: 'deleting', error_text: null })
  }

  const remove = (actor: Actor, id: string): Promise<Stack> =>
    db.transaction().execute(async (tx) => {
      const row = found(await store.lockStack(tx, scopeOf(actor), id))
      await removeOne(tx, actor, row)
      return { ...shape(row), status: 'deleting' }
    })

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
      await store.updateStack(tx, id, { status: from === undefined ? 'updating' : 'rolling_back', revision: row.revision + 1, error_text: null })
      await begin(tx, actor, { ...row, revision: row.revision + 1 }, wish, from === undefined ? 'update' : 'rollback')
    })
    return shape(await get(scope, id))
  }

  /** Of the whole, or of one service. A restart names what it restarts as it was, so that nothing is restarted twice. */
  const act = async (
    tx: Tx,
    actor: Actor,
    row: ShownStack,
    action: 'start' | 'stop' | 'restart',
    service: { id: string; name: string } | null,
  ): Promise<void> => {
    const started = service === null ? [] : await tx.selectFrom('containers').select(['docker_id', 'started_at']).where('service_id', '=', service.id).execute()
    await platform.operations.begin(tx, operations[action], {
      resource_id: row.id,
      bp_id: row.bp_id,
      actor,
      input: {
        action,
        service: service?.name ?? null,
        services: null,
        started: Object.fromEntries(started.map(({ docker_id, started_at }) => [docker_id ?? '', started_at?.toISOString() ?? null])),
      },
    })
    await store.updateStack(tx, row.id, { status: 'updating', error_text: null })
  }

  const serviceOf = async (scope: Scope, id: string): Promise<{ service: ShownService; stack: ShownStack }> => {
    const service = found(await getService(db, scope, id))
    return { service, stack: await get(scope, service.stack_id) }
  }
  /** Has the node brought to the number of replicas that the row says. */
  const scale = async (tx: Tx, actor: Actor, stack: ShownStack, service: ShownService, replicas: number): Promise<void> => {
    refuseUnlessStackAllows(stack, 'update')
    // What compose did not take cannot be more.
    if (stack.deployed_revision !== stack.revision) throw new Refusal('stateForbids')
    await setReplicas(tx, service.id, replicas)
    await platform.operations.begin(tx, operations.scale, { resource_id: stack.id, bp_id: stack.bp_id, actor, input: { revision: stack.revision } })
    await store.updateStack(tx, stack.id, { status: 'updating', error_text: null })
  }
  const onService = async (actor: Actor, id: string, change: (tx: Tx, stack: ShownStack, service: ShownService) => Promise<void>): Promise<Service> => {
    const scope = scopeOf(actor)
    const { service } = await serviceOf(scope, id)
    await db.transaction().execute(async (tx) => change(tx, found(await store.lockStack(tx, scope, service.stack_id)), service))
    const after = await serviceOf(scope, id)
    return shapeService(after.stack, after.service)
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listStacks(db, scopeOf(actor), query), shape),

    async get(actor: Actor, id: string): Promise<ResponseOf<(typeof nodeStacks)['get']>> {
      const row = await get(scopeOf(actor), id)
      return { ...shape(row), services: (await servicesOf(db, id)).map((service) => shapeService(row, service)) }
    },

    validate: async (actor: Actor, { compose, configs: files, template }: BodyOf<Calls['validate']>): Promise<ResponseOf<Calls['validate']>> =>
      checkCompose(compose, termsOf(actor, null, template ? 'any' : files)),

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
        await act(tx, actor, row, action, null)
      })
      return shape(await get(scope, id))
    },

    delete: remove,

    async composeConfig(actor: Actor, id: string): Promise<ResponseOf<Calls['composeConfig']>> {
      await get(scopeOf(actor), id)
      const revisions = await revisionsOf(db, secrets, id)
      const { compose, values, configs: files } = found(revisions[0]).content
      const { root } = prepare(compose, new Map(Object.entries(values)), judged(files))
      return {
        compose,
        resolved: shown(root),
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

    async services(actor: Actor, id: string): Promise<ResponseOf<(typeof services)['list']>> {
      const row = await get(scopeOf(actor), id)
      const items = (await servicesOf(db, id)).map((service) => shapeService(row, service))
      return { total: items.length, items }
    },

    serviceAction: (actor: Actor, id: string, body: BodyOf<(typeof services)['action']>): Promise<Service> =>
      onService(actor, id, async (tx, stack, service) => {
        if (body.action === 'scale') return scale(tx, actor, stack, service, body.replicas)
        // One that runs is stopped and one that stands is started, whatever the others do.
        refuseUnlessStackAllows(stack, 'update')
        await act(tx, actor, stack, body.action, service)
      }),

    /** None of it until the stack is updated. */
    deleteService: (actor: Actor, id: string): Promise<Service> => onService(actor, id, (tx, stack, service) => scale(tx, actor, stack, service, 0)),

    async instances(actor: Actor, id: string): Promise<ResponseOf<(typeof services)['instances']>> {
      const scope = scopeOf(actor)
      await serviceOf(scope, id)
      return containers.list(scope, id)
    },

    async listDeployments(actor: Actor, query: QueryOf<(typeof stackDeployments)['list']>): Promise<ResponseOf<(typeof stackDeployments)['list']>> {
      const scope = scopeOf(actor)
      const { total, rows } = await deployed.listDeployments(db, scope, query)
      const own = Map.groupBy(
        await store.getStacksOf(
          db,
          scope,
          rows.map(({ id }) => id),
        ),
        ({ deployment_id }) => deployment_id,
      )
      return { total, items: rows.map((row) => shapeDeployment(row, own.get(row.id) ?? [])) }
    },

    async getDeployment(actor: Actor, id: string): Promise<StackDeployment> {
      const scope = scopeOf(actor)
      return shapeDeployment(found(await deployed.getDeployment(db, scope, id)), await store.getStacksOf(db, scope, [id]))
    },

    async stacksOf(actor: Actor, id: string, query: QueryOf<(typeof stackDeployments)['stacks']>): Promise<ResponseOf<(typeof stackDeployments)['stacks']>> {
      const scope = scopeOf(actor)
      found(await deployed.getDeployment(db, scope, id))
      return shapedPage(store.listStacks(db, scope, { ...query, deployment_id: id }), shape)
    },

    /** All of its stacks, or none: where one cannot be taken down now, it says so. */
    deleteDeployment: (actor: Actor, id: string): Promise<StackDeployment> =>
      db.transaction().execute(async (tx) => {
        const scope = scopeOf(actor)
        const deployment = found(await deployed.getDeployment(tx, scope, id))
        const own = await store.lockStacksOf(tx, scope, id)
        for (const row of own) if (row.shown_status !== 'deleting') await removeOne(tx, actor, row)
        return { ...shapeDeployment(deployment, own), status: 'deleting' }
      }),

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

/** Those that lead out by a number that is known. */
const portsOf = ({ prepared }: Wish) =>
  prepared.services.flatMap(({ replicas, ports }) =>
    replicas === 0
      ? []
      : ports.flatMap(({ host_port, protocol }) =>
          host_port === null ? [] : [{ host_port, protocol: protocol === 'udp' ? ('udp' as const) : ('tcp' as const) }],
        ),
  )

/** The name as far as compose takes it, and what makes it the only one. */
function projectOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 30)
  return `${projectPrefix}${plain === '' ? '' : `${plain}-`}${randomBytes(6).toString('hex')}`
}
