import { randomBytes } from 'node:crypto'
import { addressesOf, agentPaths, dialOrder, dialResult, type DialResult } from '@zhisuan/contract/agent/node'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import {
  gatewayCan,
  portCan,
  targetReasons,
  type PortSpec,
  type serviceGateways,
  type ServiceGateway,
  type servicePorts,
  type ServicePort,
  type TargetReason,
  type TargetState,
  type TargetTest,
} from '@zhisuan/contract/middleware/gateway'
import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import { askStats, type HaproxyRow } from '@zhisuan/engines/haproxy/stats'
import { text } from 'node:stream/consumers'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Kept } from '../../../platform/kept/kept.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tunnel } from '../../../platform/tunnel/tunnel.ts'
import type { GatewayOperations } from './gateway.operations.ts'
import * as store from './gateway.store.ts'
import type { GatewayRow, PortRow, ShownGateway, ShownPort } from './gateway.store.ts'
import { proxyName, serverName, statsPath, statsUser, wantedGateway } from './program.ts'

type Gateways = typeof serviceGateways
type Ports = typeof servicePorts

/** A page is not kept waiting by a gateway that does not answer. */
const statsMs = 3_000
const placeOf = (id: string): string => `service_gateways.secret:${id}`

export type GatewayService = ReturnType<typeof createGatewayService>

/** What somebody makes of what a node saw, in HAProxy's words. */
const reasonOf = (kind: 'tcp' | 'http', { outcome, http_status }: DialResult): TargetReason => {
  if (outcome === 'unknown_name') return 'NAME'
  if (outcome === 'refused' || outcome === 'unreachable') return 'L4CON'
  if (outcome === 'silent') return kind === 'http' ? 'L7TOUT' : 'L4TOUT'
  if (outcome === 'broken') return 'L7RSP'
  if (kind === 'tcp') return 'L4OK'
  return http_status !== null && http_status >= 200 && http_status < 400 ? 'L7OK' : 'L7STS'
}

export function createGatewayService(
  platform: Pick<Platform, 'db' | 'operations' | 'secrets'>,
  {
    kept,
    operations,
    connected,
    reach,
  }: {
    kept: Kept
    operations: GatewayOperations
    connected: (nodeId: string) => Tunnel | null
    reach: (nodeId: string) => Promise<{ readonly name: string; readonly tunnel: Tunnel }>
  },
) {
  const { db, secrets } = platform

  /** What gateways say of themselves now; those that do not answer say nothing. */
  const statsOf = async (gateways: readonly Pick<GatewayRow, 'id' | 'node_id' | 'control_port' | 'secret' | 'status'>[]) =>
    new Map(
      await Promise.all(
        gateways.map(async ({ id, node_id, control_port, secret, status }): Promise<[string, readonly HaproxyRow[] | null]> => {
          if (status !== 'active' && status !== 'changing') return [id, null]
          try {
            const rows = await askStats({
              connect: async (signal) => {
                const tunnel = connected(node_id)
                if (tunnel === null) throw new EngineError('unreachable', 'the node is not connected')
                const answer = await tunnel.request({ method: 'POST', path: `${agentPaths.port}?port=${control_port}`, body: 'open', signal, changes: false })
                if (answer.status === 200) return answer.stream
                answer.stream.destroy()
                throw new EngineError('unreachable', 'nobody listens there')
              },
              path: statsPath,
              username: statsUser,
              password: secrets.open(secret, placeOf(id)),
              signal: AbortSignal.timeout(statsMs),
            })
            return [id, rows]
          } catch (error) {
            if (!isEngineError(error)) throw error
            return [id, null]
          }
        }),
      ),
    )
  const trafficOf = (rows: readonly HaproxyRow[] | null, of: (row: HaproxyRow) => boolean): ServicePort['traffic'] => {
    const mine = rows?.filter((row) => row.server === 'FRONTEND' && row.proxy !== 'own' && of(row))
    if (mine === undefined || mine.length === 0) return null
    const sum = (value: (row: HaproxyRow) => number): number => mine.reduce((all, row) => all + value(row), 0)
    return {
      connections: sum(({ sessions }) => sessions),
      connections_per_second: sum(({ rate }) => rate),
      bytes_in: sum(({ bytesIn }) => bytesIn),
      bytes_out: sum(({ bytesOut }) => bytesOut),
    }
  }
  const targetNow = (rows: readonly HaproxyRow[] | null, portId: string, targetId: string, isChecked: boolean): TargetState => {
    const row = rows?.find(({ proxy, server }) => proxy === proxyName(portId) && server === serverName(targetId))
    if (row === undefined) return { state: 'unknown', reason: null, said: '', seconds: null, connections: 0 }
    const check = row.check.replace(/^\* /, '')
    return {
      state: stateOf(row, isChecked),
      reason: isUnnamed(row.status) ? 'NAME' : check === '' ? null : (targetReasons.find((one) => one === check) ?? 'OTHER'),
      said: [row.checkCode === null ? '' : String(row.checkCode), row.said].filter(Boolean).join(' ').slice(0, 300),
      seconds: row.changed,
      connections: row.sessions,
    }
  }

  const shape = (row: ShownGateway): ServiceGateway => ({
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    health: row.health,
    health_message: row.health_message,
    node: { id: row.node_id, name: row.node_name },
    addresses: row.node_facts === null ? [] : addressesOf(row.node_facts),
    version: row.version,
    connections_most: row.connections_most,
    drain_minutes: row.drain_minutes,
    port_count: row.port_count,
    error: row.error,
    operation_id: row.operation_id,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const shapePort = (row: ShownPort, rows: readonly HaproxyRow[] | null): ServicePort => {
    const { targets, ...spec } = row.spec
    return {
      id: row.id,
      gateway: { id: row.gateway_id, name: row.gateway_name },
      name: row.name,
      description: row.description,
      status: row.status,
      error: row.error,
      ...spec,
      targets: targets.map((target) => ({ ...target, now: targetNow(rows, row.id, target.id, spec.check.kind !== 'none') })),
      traffic: trafficOf(rows, ({ proxy }) => proxy === proxyName(row.id)),
      revision: row.revision,
      operation_id: row.operation_id,
      created_by: row.created_by_name,
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
    }
  }
  const show = async (id: string): Promise<ShownGateway> => found(await store.showGateway(db, id))
  const showPort = async (id: string): Promise<ServicePort> => {
    const row = found(await store.showPort(db, id))
    const stats = await statsOf([await show(row.gateway_id)])
    return shapePort(row, stats.get(row.gateway_id) ?? null)
  }

  /** Held until the transaction ends: its ports, too, are changed by nobody else. */
  const locked = async (tx: Tx, id: string, field?: string): Promise<GatewayRow> => {
    const row = await store.lockGateway(tx, id)
    if (row === undefined) throw new Refusal('notFound', field === undefined ? {} : { field })
    return row
  }
  const served = (ports: readonly PortRow[]): Map<string, PortSpec> => new Map(ports.flatMap(({ id, spec, served: is }) => (is ? [[id, spec]] : [])))
  /** Has its node take in what it is to be; what is served until then goes on. */
  const change = async (tx: Tx, gateway: GatewayRow, ports: ReadonlyMap<string, PortSpec>): Promise<void> => {
    await kept.change(tx, gateway.id, wantedGateway(gateway, secrets.open(gateway.secret, placeOf(gateway.id)), ports))
    await store.updateGateway(tx, gateway.id, { status: 'changing', error: null })
  }
  const specOf = (body: Omit<BodyOf<Ports['create']>, 'gateway_id'>, known: readonly { readonly id: string }[]): PortSpec => {
    const { protocol, port, balance, sticky, check, idle_seconds, connections_most, allowed } = body
    const targets = body.targets.map(({ id, ...target }, index) => {
      if (id !== undefined && !known.some((one) => one.id === id)) throw new Refusal('serviceTargetUnknown', { field: `targets.${index}.id` })
      return { id: id ?? uuidv7(), ...target }
    })
    return { protocol, port, balance, sticky, check, idle_seconds, connections_most, allowed, targets }
  }
  const portTaken = (ports: readonly PortRow[], gateway: GatewayRow, id: string, { port }: PortSpec, name: string): void => {
    const other = ports.find((one) => one.id !== id && one.port === port)
    if (other !== undefined || port === gateway.control_port)
      throw new Refusal('gatewayPortTaken', { field: 'port', values: { port, name: other?.name ?? gateway.name } })
    if (ports.some((one) => one.id !== id && one.name === name)) throw new Refusal('servicePortNameTaken', { field: 'name' })
  }

  const gatewayTaken = (nodeId: string) => ({
    service_gateways_name: ['serviceGatewayNameTaken', 'name'] as const,
    service_gateways_node: async (cause: unknown) =>
      new Refusal('serviceGatewayThere', { field: 'node_id', values: { name: (await store.gatewayOnNode(db, nodeId))?.name ?? '' }, cause }),
  })

  return {
    list: (query: QueryOf<Gateways['list']>): Promise<ResponseOf<Gateways['list']>> => shapedPage(store.listGateways(db, query), shape),
    async get(id: string): Promise<ResponseOf<Gateways['get']>> {
      const row = await show(id)
      return { ...shape(row), traffic: trafficOf((await statsOf([row])).get(id) ?? null, () => true) }
    },
    async overview(): Promise<ResponseOf<Gateways['overview']>> {
      const gateways = await store.allGateways(db)
      if (gateways.length === 0) return { items: [] }
      const [stats, ports] = await Promise.all([
        statsOf(gateways),
        store.portsOf(
          db,
          gateways.map(({ id }) => id),
        ),
      ])
      return {
        items: gateways.map(({ id, name, status, health, node_id, node_name }) => {
          const rows = stats.get(id) ?? null
          return {
            id,
            name,
            status,
            health,
            node: { id: node_id, name: node_name },
            traffic: trafficOf(rows, () => true),
            ports: ports
              .filter(({ gateway_id }) => gateway_id === id)
              .map(({ id: portId, spec, ...port }) => ({
                id: portId,
                name: port.name,
                port: port.port,
                protocol: port.protocol,
                status: port.status,
                up: spec.targets.filter((target) => {
                  const { state } = targetNow(rows, portId, target.id, spec.check.kind !== 'none')
                  return state === 'up' || state === 'unchecked'
                }).length,
                targets: spec.targets.length,
              })),
          }
        }),
      }
    },
    async log(id: string, lines: number): Promise<ResponseOf<Gateways['log']>> {
      await show(id)
      return { text: await kept.lastLines(id, lines) }
    },

    /** @throws Refusal 95003, 97400, 97401, 97407 */
    async create(actor: Actor, body: BodyOf<Gateways['create']>): Promise<ServiceGateway> {
      const node = await db.selectFrom('edges').select(['bp_id', 'binding']).where('id', '=', body.node_id).executeTakeFirst()
      if (node === undefined || node.binding !== 'bound') throw new Refusal('edgeUnknown', { field: 'node_id' })
      // Whoever has a node reads all that passes through it.
      if (node.bp_id !== null) throw new Refusal('serviceGatewayNodeForeign', { field: 'node_id' })
      const id = uuidv7()
      const secret = randomBytes(24).toString('base64url')
      const { name, description, node_id, control_port, connections_most, drain_minutes } = body
      await refusing(gatewayTaken(node_id), () =>
        db.transaction().execute(async (tx) => {
          await store.insertGateway(tx, {
            id,
            bp_id: null,
            name,
            description,
            status: 'installing',
            node_id,
            control_port,
            connections_most,
            drain_minutes,
            secret: secrets.seal(secret, placeOf(id)),
            health: 'unknown',
            health_message: null,
            version: null,
            error: null,
            ...authoredBy(actor),
          })
          await kept.want(tx, { id, node_id, owner: { kind: 'middleware.gateway', id }, wanted: wantedGateway(body, secret, new Map()) })
          await platform.operations.begin(tx, operations.create, { resource_id: id, bp_id: null, actor, input: {} })
        }),
      )
      return shape(await show(id))
    },

    /** @throws Refusal 404, 90010, 90011, 97400 */
    async update(actor: Actor, id: string, body: BodyOf<Gateways['update']>): Promise<ServiceGateway> {
      const before = await show(id)
      await refusing(gatewayTaken(before.node_id), () =>
        db.transaction().execute(async (tx) => {
          const row = await locked(tx, id)
          refuseUnless(gatewayCan.update, row)
          const { name = row.name, description = row.description, connections_most = row.connections_most, drain_minutes = row.drain_minutes } = body
          await store.updateGateway(tx, id, { name, description })
          if (connections_most === row.connections_most && drain_minutes === row.drain_minutes) return
          await change(tx, { ...row, connections_most, drain_minutes }, served(await store.portsOf(tx, [id])))
          await platform.operations.begin(tx, operations.update, { resource_id: id, bp_id: null, actor, input: { connections_most, drain_minutes } })
        }),
      )
      return shape(await show(id))
    },

    /** @throws Refusal 404, 90010, 90011 */
    async remove(actor: Actor, id: string): Promise<ServiceGateway> {
      await db.transaction().execute(async (tx) => {
        refuseUnless(gatewayCan.delete, await locked(tx, id))
        await kept.leave(tx, id)
        await store.updateGateway(tx, id, { status: 'removing', error: null })
        await platform.operations.begin(tx, operations.remove, { resource_id: id, bp_id: null, actor, input: {} })
      })
      return shape(await show(id))
    },

    async listPorts(query: QueryOf<Ports['list']>): Promise<ResponseOf<Ports['list']>> {
      const { total, rows } = await store.listPorts(db, query)
      const ids = new Set(rows.map(({ gateway_id }) => gateway_id))
      const stats = await statsOf((await store.allGateways(db)).filter(({ id }) => ids.has(id)))
      return { total, items: rows.map((row) => shapePort(row, stats.get(row.gateway_id) ?? null)) }
    },
    getPort: showPort,

    /** @throws Refusal 404, 90010, 90011, 97402, 97403 */
    async createPort(actor: Actor, { gateway_id, name, description, ...body }: BodyOf<Ports['create']>): Promise<ServicePort> {
      const id = uuidv7()
      await db.transaction().execute(async (tx) => {
        const gateway = await locked(tx, gateway_id, 'gateway_id')
        refuseUnless(gatewayCan.configure, gateway)
        const ports = await store.portsOf(tx, [gateway_id])
        const spec = specOf({ name, description, ...body }, [])
        portTaken(ports, gateway, id, spec, name)
        await store.insertPort(tx, {
          id,
          bp_id: null,
          gateway_id,
          name,
          description,
          status: 'creating',
          error: null,
          port: spec.port,
          protocol: spec.protocol,
          spec: JSON.stringify(spec),
          served: false,
          revision: 0,
          ...authoredBy(actor),
        })
        await change(tx, gateway, served(ports).set(id, spec))
        const input = { port_id: id, named: { name, description }, spec }
        await platform.operations.begin(tx, operations.createPort, { resource_id: gateway_id, of: { id: gateway_id, part: name }, bp_id: null, actor, input })
      })
      return showPort(id)
    },

    /** @throws Refusal 404, 90010, 90011, 97402, 97403, 97404, 97405 */
    async updatePort(actor: Actor, id: string, { revision, name, description, ...body }: BodyOf<Ports['update']>): Promise<ServicePort> {
      const { gateway_id } = found(await store.showPort(db, id))
      await db.transaction().execute(async (tx) => {
        const gateway = await locked(tx, gateway_id)
        const row = found(await store.lockPort(tx, id))
        if (row.revision !== revision) throw new Refusal('servicePortStale', { field: 'revision' })
        refuseUnless(portCan.update, row)
        refuseUnless(gatewayCan.configure, gateway)
        const ports = await store.portsOf(tx, [gateway_id])
        const spec = specOf({ name, description, ...body }, row.spec.targets)
        portTaken(ports, gateway, id, spec, name)
        await store.updatePort(tx, id, { status: 'changing', error: null })
        await change(tx, gateway, served(ports).set(id, spec))
        const input = { port_id: id, named: { name, description }, spec }
        await platform.operations.begin(tx, operations.updatePort, { resource_id: gateway_id, of: { id: gateway_id, part: name }, bp_id: null, actor, input })
      })
      return showPort(id)
    },

    /** @throws Refusal 404, 90010, 90011 */
    async removePort(actor: Actor, id: string): Promise<ServicePort> {
      const before = await showPort(id)
      const gatewayId = before.gateway.id
      await db.transaction().execute(async (tx) => {
        const gateway = await locked(tx, gatewayId)
        const row = found(await store.lockPort(tx, id))
        refuseUnless(portCan.delete, row)
        // One that is not served is nobody's to take in.
        if (!row.served) return store.removePort(tx, id)
        refuseUnless(gatewayCan.configure, gateway)
        const ports = served(await store.portsOf(tx, [gatewayId]))
        ports.delete(id)
        await store.updatePort(tx, id, { status: 'deleting', error: null })
        await change(tx, gateway, ports)
        await platform.operations.begin(tx, operations.deletePort, {
          resource_id: gatewayId,
          of: { id: gatewayId, part: row.name },
          bp_id: null,
          actor,
          input: { port_id: id },
        })
      })
      return { ...before, status: 'deleting' }
    },

    /** @throws Refusal 404, 97406, and what keeps a node from being reached */
    async test(id: string, targetId: string): Promise<TargetTest> {
      const row = found(await store.showPort(db, id))
      const target = found(row.spec.targets.find((one) => one.id === targetId))
      const { node_id } = await show(row.gateway_id)
      const { check } = row.spec
      const kind = check.kind === 'http' ? 'http' : 'tcp'
      const { name, tunnel } = await reach(node_id)
      const order = dialOrder.parse({ kind, address: target.address, port: target.port, path: check.path, timeout_ms: check.timeout_seconds * 1_000 })
      const answer = await tunnel.request({
        method: 'POST',
        path: agentPaths.dial,
        body: JSON.stringify(order),
        signal: AbortSignal.timeout(order.timeout_ms + 5_000),
        changes: false,
      })
      const said = await text(answer.stream)
      if (answer.status === 404) throw new Refusal('serviceTestUnknown', { values: { node: name } })
      if (answer.status !== 200) throw new EngineError('bad_answer', `the agent answered ${answer.status}`)
      const result = dialResult.parse(JSON.parse(said))
      const reason = reasonOf(kind, result)
      return {
        ok: reason === 'L4OK' || reason === 'L7OK',
        reason,
        http_status: result.http_status,
        milliseconds: result.milliseconds,
        said: result.said,
      }
    },
  }
}

/** Its name leads to no address. */
const isUnnamed = (status: string): boolean => status === 'MAINT (resolution)'

/** What HAProxy calls states, as people are told of them. */
function stateOf({ status, weight }: HaproxyRow, isChecked: boolean): TargetState['state'] {
  if (isUnnamed(status)) return 'down'
  if (weight === 0 || status.startsWith('DRAIN') || status.startsWith('MAINT')) return status.startsWith('DOWN') ? 'down' : 'drained'
  if (!isChecked || status === 'no check') return 'unchecked'
  if (status === 'UP') return 'up'
  // On its way up, or down: `UP 1/3`, `DOWN 1/2`.
  if (status.startsWith('UP')) return 'up'
  return status.includes('/') ? 'starting' : 'down'
}
