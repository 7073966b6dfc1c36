import type { CapacityRange, CapacitySample, CloudCapacity } from '@zhisuan/contract/cmp/cloud'
import { z } from 'zod'
import { found } from '../../../platform/errors.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { countInstances } from './cloud.contents.ts'
import * as store from './cloud.store.ts'
import type { CloudRow } from './cloud.store.ts'

export const sampleCapacityJob = defineJob({ name: 'cmp.cloud.sample', input: z.object({}), concurrency: 1, schedule: '*/5 * * * *' })
const sampleEveryMs = 300_000
/** A little longer than the longest range that is shown. */
const samplesKeptMs = 30 * 24 * 3_600_000 + 3_600_000

export type CapacityHistory = ReturnType<typeof createCapacityHistory>

/** What clouds had and how full they were, as far back as it is kept. */
export const createCapacityHistory = (platform: Pick<Platform, 'db' | 'now' | 'modules'>) => ({
  async capacity(id: string, range: CapacityRange): Promise<{ items: CapacitySample[] }> {
    found(await store.getCloud(platform.db, id))
    return { items: await store.capacitySamples(platform.db, id, range, platform.now()) }
  },
  jobHandler: handleJob(sampleCapacityJob, () => takeSamples(platform)),
})

/** Writes down what each answering cloud has, once for each five minutes, and forgets what is old. */
async function takeSamples(platform: Pick<Platform, 'db' | 'now' | 'modules'>): Promise<void> {
  const { db } = platform
  const now = platform.now()
  const at = new Date(now.getTime() - (now.getTime() % sampleEveryMs))
  // What was known before a cloud fell silent says nothing of now.
  const fresh = (await store.allClouds(db)).filter(
    (row) => row.status !== 'offline' && isAnswering(row) && row.checked_at !== null && now.getTime() - row.checked_at.getTime() < sampleEveryMs,
  )
  const instances = await countInstances(platform, db, fresh)
  await store.insertSamples(
    db,
    fresh.flatMap((row) => (row.observed?.capacity == null ? [] : [sampleOf(row, row.observed.capacity, at, instances(row))])),
  )
  await store.forgetSamples(db, new Date(now.getTime() - samplesKeptMs))
}

const isAnswering = ({ health }: CloudRow): boolean => health === 'reachable' || health === 'degraded'

const sampleOf = (row: CloudRow, { cpu_cores, memory_bytes, disk_bytes, nodes }: CloudCapacity, at: Date, instances: number) => ({
  cloud_id: row.id,
  at,
  cpu_total: cpu_cores.total,
  cpu_used: cpu_cores.used,
  memory_total: memory_bytes.total,
  memory_used: memory_bytes.used,
  disk_total: disk_bytes.total,
  disk_used: disk_bytes.used,
  nodes,
  instances,
})
