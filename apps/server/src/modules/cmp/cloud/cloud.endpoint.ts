import { cloudConnection, isOpenStack, type CloudConnection, type CloudServiceState } from '@zhisuan/contract/cmp/cloud'
import { cloudTexts } from '@zhisuan/contract/texts'
import type { ComputeEngine } from '@zhisuan/engines/compute'
import { createLook, type Look, type Looked } from '@zhisuan/engines/openstack/look'
import type { Db } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { createEndpoints, type EndpointHealth, type EndpointKind, type EndpointPart } from '../../../platform/endpoints.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { openEngine, openOpenStack, type OpenedOpenStack } from './cloud.engines.ts'
import { observedOf, partsOf, refuseOtherRegion, servicesOf, servicesRefusal, signInRefusal } from './cloud.openstack.ts'
import { usageOf } from './cloud.shape.ts'
import { tellHealth } from './cloud.told.ts'
import * as store from './cloud.store.ts'
import type { CloudRow, Observed } from './cloud.store.ts'

/** The engine of a cloud, by its family. */
export type OpenedCloud =
  | { readonly family: 'nextstack'; readonly engine: ComputeEngine }
  | { readonly family: 'compute'; readonly engine: OpenedOpenStack; readonly look: Look; readonly region: string | undefined }

/** What a look at a cloud found. */
export interface CloudLook {
  readonly parts: readonly EndpointPart[]
  readonly observed: Observed
  /** Of an OpenStack. */
  readonly services: CloudServiceState[]
  /** What the account may do there; null of the first family. */
  readonly access: Looked['access'] | null
  /** What the engine calls its host; null where it has more than one. */
  readonly host_name: string | null
}

type CloudKind = EndpointKind<CloudRow, CloudConnection, OpenedCloud, CloudLook>

export type CloudEndpoints = ReturnType<typeof createCloudEndpoints>

interface Parts {
  readonly tell: Tell
  /** How an engine of the first family is opened, where a test has one of its own. */
  readonly openEngine?: typeof openEngine
}

export const createCloudEndpoints = (platform: Platform, parts: Parts) => createEndpoints(platform, cloudKind(platform.db, platform.config.DATA_DIR, parts))

/** Clouds as endpoints. */
const cloudKind = (db: Db, dataDir: string, { tell, openEngine: openComputeEngine = openEngine }: Parts): CloudKind => ({
  topic: 'cloud',
  column: 'clouds.connection',
  connection: cloudConnection,
  rows: {
    looked: async () => (await store.allClouds(db)).filter(({ status }) => status !== 'offline'),
    get: (id) => store.getCloud(db, id),
    record: (row, health, look) =>
      db.transaction().execute(async (tx) => {
        const before = await store.lockCloud(tx, row.id)
        const after = await store.recordHealth(tx, row, { ...health, ...(look !== null && seen(look)) })
        if (before !== undefined && after !== undefined) await tellHealth(tx, tell, before, after)
        return after
      }),
  },
  open(connection, { id, name }) {
    if (!isOpenStack(connection)) return { family: 'nextstack', engine: openComputeEngine(connection, dataDir, id) }
    const engine = openOpenStack(connection, name, id === null ? { timeoutMs: 25_000 } : {})
    return { family: 'compute', engine, look: createLook(engine), region: connection.region }
  },
  close: ({ engine }) => engine.close(),
  async look(opened, { before, limitMs, signal }) {
    if (opened.family === 'nextstack')
      return { ...(await observe(opened.engine, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]))), parts: [], services: [], access: null }
    const looked = await opened.look(limitMs, signal)
    if (before === null) refuseOtherRegion(looked, opened.region)
    const services = servicesOf(looked)
    return { parts: partsOf(services), observed: observedOf(looked, before?.observed ?? null), services, access: looked.access, host_name: null }
  },
  explain: async (error, connection, name) => (isOpenStack(connection) ? signInRefusal(error, connection, name) : error),
  incomplete: servicesRefusal,
})

/** What a row keeps of what a look found. */
const seen = ({ observed, services }: CloudLook) => ({
  // The driver wants JSON as text; the type is what is read back.
  observed: jsonb(observed),
  services: jsonb(services),
  usage: observed.capacity === null ? null : usageOf(observed.capacity),
})

/** The same of one that is kept now. */
export const seenFirst = (look: CloudLook, health: EndpointHealth) => ({ ...health, ...seen(look) })

/** What engines say of a type of instances that they cannot run, in words; the rest is known to nobody but the engine. */
const unavailable: readonly (readonly [RegExp, keyof typeof cloudTexts])[] = [
  [/vhost_vsock/i, 'noVsock'],
  [/\/dev\/kvm|kvm support|virtuali[sz]ation/i, 'noKvm'],
  [/qemu|apparmor_parser|ovmf|edk2/i, 'noQemu'],
]
const whyUnavailable = ({ available, reason }: { available: boolean; reason?: string }): string | null => {
  const known = available || reason === undefined ? undefined : unavailable.find(([pattern]) => pattern.test(reason))?.[1]
  return known === undefined ? null : cloudTexts[known]
}

async function observe(engine: ComputeEngine, signal: AbortSignal): Promise<{ host_name: string; observed: Observed }> {
  const [info, capacity] = await Promise.all([engine.info({ signal }), engine.capacity({ signal })])
  const whole = (of: { total: number; used: number }) => ({ ...of, physical: of.total })
  const availability = (type: { available: boolean; reason?: string }) => ({ available: type.available, reason: whyUnavailable(type) })
  return {
    host_name: info.hostName,
    observed: {
      engine: info.product,
      engine_version: info.version,
      instance_types: { vm: availability(info.instanceTypes.vm), container: availability(info.instanceTypes.container) },
      capacity: {
        cpu_cores: whole(capacity.cpuCores),
        memory_bytes: whole(capacity.memoryBytes),
        disk_bytes: whole(capacity.diskBytes),
        nodes: capacity.nodes,
        running_instances: null,
      },
    },
  }
}
