import { createHash, randomBytes } from 'node:crypto'
import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import {
  componentPorts,
  integrationCan,
  type integrations,
  type Integration,
  type MonitorConnection,
  type prometheus,
  type PrometheusBasic,
  type PrometheusInstance,
} from '@zhisuan/contract/omc/monitor'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Kept } from '../../../platform/kept/kept.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { KeptConnection, PrometheusEndpoints } from './integration.endpoint.ts'
import type { IntegrationOperations } from './integration.operations.ts'
import * as store from './integration.store.ts'
import { rulesPath, scrapeConfigs, wantedNodeExporter, wantedPrometheus, withRules } from './program.ts'

type Calls = typeof integrations
type Asked = typeof prometheus

export const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest()

const addressOf = ({ url, certificate_authority, account, token }: MonitorConnection): KeptConnection => ({
  kind: 'address',
  url: url.replace(/\/+$/, ''),
  certificate_authority: certificate_authority ?? null,
  account: account ?? null,
  token: token ?? null,
})

export type IntegrationService = ReturnType<typeof createIntegrationService>

export function createIntegrationService(
  platform: Pick<Platform, 'db' | 'config' | 'operations'>,
  { endpoints, kept, operations }: { endpoints: PrometheusEndpoints; kept: Kept; operations: IntegrationOperations },
) {
  const { db, config } = platform
  const base = config.PUBLIC_URL ?? `http://localhost:${config.PORT}`

  const shape = (row: store.ShownIntegration): Integration => ({
    id: row.id,
    name: row.name,
    description: row.description,
    component: row.component,
    origin: row.origin,
    status: row.status,
    health: row.health,
    health_message: row.health_message,
    checked_at: isoOrNull(row.checked_at),
    node: row.node_id === null ? null : { id: row.node_id, name: row.node_name ?? '' },
    port: row.port,
    url: row.url,
    username: row.username,
    version: row.version,
    error: row.error,
    operation_id: row.operation_id,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const hidden = '…'
  const instance = (row: store.ShownIntegration, token = hidden): PrometheusInstance => ({
    ...shape(row),
    settings: row.settings,
    scrape_config: row.origin === 'registered' ? scrapeConfigs({ id: row.id, base }, `credentials: '${token}'`, false).join('\n') : null,
  })
  const basic = ({ id, name, description, status, health }: store.ShownIntegration): PrometheusBasic => ({ id, name, description, status, health })
  const show = async (id: string): Promise<store.ShownIntegration> => found(await store.showIntegration(db, id))
  const showPrometheus = async (id: string): Promise<store.ShownIntegration> => {
    const row = await show(id)
    if (row.component !== 'prometheus') throw new Refusal('notFound')
    return row
  }
  const taken = (nodeId: string | undefined, component: Integration['component']) => ({
    monitor_integrations_name: ['monitorNameTaken', 'name'] as const,
    monitor_integrations_one: async (cause: unknown) =>
      new Refusal('monitorThere', {
        field: 'place.node_id',
        values: { name: (nodeId === undefined ? undefined : await store.integrationOnNode(db, nodeId, component))?.name ?? '' },
        cause,
      }),
  })

  const wantedOf = (row: Pick<store.IntegrationRow, 'id' | 'component' | 'settings'>, port: number, secret: string) =>
    row.component === 'prometheus' ? wantedPrometheus({ id: row.id, base }, { port, secret, settings: row.settings }) : wantedNodeExporter(port)
  /** What the program is to become, with the token and the rules that it has. */
  const wantedAnew = async (tx: Tx, row: Pick<store.IntegrationRow, 'id' | 'component' | 'settings'>, port: number) => {
    const { files } = await kept.wanted(tx, row.id)
    const textOf = (file: string): string | undefined => files.find(({ path }) => path === file)?.text
    const anew = wantedOf(row, port, textOf('token') ?? '')
    const rules = textOf(rulesPath)
    return rules === undefined ? anew : withRules(anew, rules)
  }

  /** Held until the transaction ends. */
  const locked = async (tx: Tx, id: string): Promise<store.IntegrationRow> => found(await store.lockIntegration(tx, id))

  return {
    list: (query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> => shapedPage(store.listIntegrations(db, query), shape),
    get: async (id: string): Promise<Integration> => shape(await show(id)),
    /** What the program on its node has written last. */
    async log(id: string, lines: number): Promise<ResponseOf<Calls['log']>> {
      if ((await show(id)).origin !== 'kept') throw new Refusal('monitorNotKept')
      return { text: await kept.lastLines(id, lines) }
    },

    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      const id = uuidv7()
      const token = randomBytes(32).toString('base64url')
      const { place, connection: asked, component, settings } = body
      const isAsked = component === 'prometheus'
      const port = place === undefined ? null : (place.port ?? componentPorts[component])
      if (place !== undefined) {
        const node = await db.selectFrom('edges').select(['bp_id', 'binding']).where('id', '=', place.node_id).executeTakeFirst()
        if (node === undefined || node.binding !== 'bound') throw new Refusal('edgeUnknown', { field: 'place.node_id' })
        // Whoever has a node reads all that lies on it.
        if (isAsked && node.bp_id !== null) throw new Refusal('monitorNodeForeign', { field: 'place.node_id' })
      }
      const connection: KeptConnection | undefined =
        place !== undefined && port !== null ? { kind: 'node', node_id: place.node_id, port } : asked === undefined ? undefined : addressOf(asked)
      if (connection === undefined) throw new Refusal('requestInvalid', { field: 'place' })
      const look = place === undefined ? await endpoints.tryToKeep(connection, body.name) : null
      await refusing(taken(place?.node_id, component), () =>
        db.transaction().execute(async (tx) => {
          await store.insertIntegration(tx, {
            id,
            bp_id: null,
            name: body.name,
            description: body.description,
            component,
            origin: place === undefined ? 'registered' : 'kept',
            status: place === undefined ? 'active' : 'installing',
            node_id: place?.node_id ?? null,
            port,
            url: connection.kind === 'address' ? connection.url : null,
            username: connection.kind === 'address' ? (connection.account?.username ?? null) : null,
            connection: endpoints.seal(id, connection),
            settings: JSON.stringify(settings),
            token_hash: isAsked ? tokenHash(token) : null,
            health: 'unknown',
            health_message: null,
            version: null,
            checked_at: null,
            ...(look !== null && { ...endpoints.healthOf(look), version: look.version }),
            error: null,
            ...authoredBy(actor),
          })
          if (place !== undefined && port !== null) {
            await kept.want(tx, {
              id,
              node_id: place.node_id,
              owner: { kind: 'omc.integration', id },
              wanted: wantedOf({ id, component, settings }, port, token),
            })
            await platform.operations.begin(tx, operations.create, { resource_id: id, bp_id: null, actor, input: {} })
          }
          await endpoints.tell(tx, id)
        }),
      )
      return isAsked ? instance(await show(id), token) : shape(await show(id))
    },

    async act(actor: Actor, id: string, { action, force }: QueryOf<Calls['action']>): Promise<Integration> {
      const before = await show(id)
      await db.transaction().execute(async (tx) => {
        const row = await locked(tx, id)
        refuseUnless(integrationCan[action], row)
        const operation = { resource_id: id, bp_id: null, actor, input: {} }
        if (action === 'reinstall') {
          if (row.port === null) throw new Refusal('monitorNotKept')
          await kept.change(tx, id, await wantedAnew(tx, row, row.port))
          await store.updateIntegration(tx, id, { status: 'changing', error: null })
          await platform.operations.begin(tx, operations.reinstall, operation)
        } else {
          const isAway =
            row.node_id === null || (await tx.selectFrom('edges').select('status').where('id', '=', row.node_id).executeTakeFirst())?.status !== 'online'
          if (row.origin === 'kept' && (!force || !isAway)) {
            await kept.leave(tx, id)
            await store.updateIntegration(tx, id, { status: 'removing', error: null })
            await platform.operations.begin(tx, operations.uninstall, operation)
          } else {
            // Its node is away: should it come back, the program goes then.
            if (row.origin === 'kept') await kept.abandon(tx, id)
            await store.removeIntegration(tx, id)
          }
        }
        await endpoints.tell(tx, id)
      })
      const after = await store.showIntegration(db, id)
      return shape(after ?? { ...before, status: 'removing' })
    },

    async prometheusList(actor: Actor, query: QueryOf<Asked['list']>): Promise<ResponseOf<Asked['list']>> {
      const isPlatform = isPlatformKind(actor.kind)
      const page = store.listIntegrations(db, { ...query, component: 'prometheus' }, !isPlatform)
      return isPlatform ? shapedPage(page, (row) => instance(row)) : shapedPage(page, basic)
    },
    prometheusGet: async (id: string): Promise<PrometheusInstance> => instance(await showPrometheus(id)),

    async prometheusUpdate(actor: Actor, id: string, body: BodyOf<Asked['update']>): Promise<PrometheusInstance> {
      const before = await showPrometheus(id)
      if (body.settings !== undefined && before.origin === 'registered') throw new Refusal('monitorNotKept', { field: 'settings' })
      await refusing(taken(undefined, 'prometheus'), () =>
        db.transaction().execute(async (tx) => {
          const row = await locked(tx, id)
          refuseUnless(integrationCan.update, row)
          const { name = row.name, description = row.description } = body
          await store.updateIntegration(tx, id, { name, description })
          if (body.settings !== undefined && row.port !== null) {
            const settings = { ...row.settings, ...withoutUndefined(body.settings) }
            await kept.change(tx, id, await wantedAnew(tx, { ...row, settings }, row.port))
            await store.updateIntegration(tx, id, { status: 'changing', error: null })
            await platform.operations.begin(tx, operations.update, { resource_id: id, bp_id: null, actor, input: { settings } })
          }
          await endpoints.tell(tx, id)
        }),
      )
      return instance(await show(id))
    },

    async link({ x }: ParamsOf<Asked['link']>): Promise<ResponseOf<Asked['link']>> {
      return { items: (await store.integrationsOf(db, x)).map(({ id, name, url }) => ({ id, name, url })) }
    },
  }
}

/** What was given of it. */
function withoutUndefined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Object.fromEntries loses the keys' names.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
