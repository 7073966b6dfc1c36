import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../testing/database.ts'
import { openDatabase, type Database } from './db/database.ts'
import { createJobs, defineJob, handleJob, type Jobs } from './jobs.ts'
import { createLog } from './log.ts'

const log = createLog({ LOG_LEVEL: 'silent' })
const greet = defineJob({ name: 'test.greeting.send', input: z.object({ name: z.string().trim() }), retries: 2 })

let fresh: { url: string; drop(): Promise<void> }
let database: Database
let jobs: Jobs
let got: string[]
beforeEach(async () => {
  fresh = await freshDatabase()
  database = openDatabase(fresh.url, { poolSize: 2, log })
  jobs = await createJobs(fresh.url, log)
  got = []
})
afterEach(async () => {
  await jobs.stop()
  await database.close()
  await fresh.drop()
})

const takes = handleJob(greet, async ({ name }) => void got.push(name))
const send = (name: string) => database.db.transaction().execute((tx) => jobs.send(tx, greet, { name }))
const becomes = (wanted: string[], timeout = 10_000) => vi.waitFor(() => expect(got.toSorted()).toEqual(wanted.toSorted()), { timeout, interval: 10 })

describe('a job', () => {
  it('is done with its input as its schema reads it', async () => {
    await jobs.start([greet], [takes])
    await send('  Ada ')
    await becomes(['Ada'])
  })

  it('exists if and only if the change that it belongs to does', async () => {
    await jobs.start([greet], [takes])
    await expect(
      database.db.transaction().execute(async (tx) => {
        await jobs.send(tx, greet, { name: 'taken back' })
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await send('kept')
    await becomes(['kept'])
  })

  it('with a wrong input is not taken at all', async () => {
    await jobs.start([greet], [takes])
    const wrong = { name: 7 } as unknown as { name: string }
    await expect(database.db.transaction().execute((tx) => jobs.send(tx, greet, wrong))).rejects.toThrow()
  })

  it('that fails is tried again', async () => {
    let failures = 1
    await jobs.start(
      [greet],
      [
        handleJob(greet, async ({ name }) => {
          got.push(name)
          if (failures-- > 0) throw new Error('not yet')
        }),
      ],
    )
    await send('twice')
    await becomes(['twice', 'twice'], 18_000)
  })

  it('that was sent while nobody worked is done by the next server', async () => {
    await jobs.start([greet], [takes])
    await jobs.stop()
    jobs = await createJobs(fresh.url, log)
    await send('waiting')
    await jobs.start([greet], [takes])
    await becomes(['waiting'])
  })

  it('is done by one of several servers', async () => {
    const other = await createJobs(fresh.url, log)
    try {
      await jobs.start([greet], [takes])
      await other.start([greet], [takes])
      const names = Array.from({ length: 20 }, (_, n) => `n${n}`)
      await Promise.all(names.map(send))
      await becomes(names)
    } finally {
      await other.stop()
    }
  })
})

describe('the start', () => {
  it('fails where a job has no handler, or two, or a handler no job', async () => {
    await expect(jobs.start([greet], [])).rejects.toThrow('test.greeting.send has no handler')
    await expect(jobs.start([greet], [takes, takes])).rejects.toThrow('test.greeting.send has two handlers')
    const unknown = handleJob(defineJob({ name: 'test.unknown.do', input: z.object({}) }), async () => undefined)
    await expect(jobs.start([greet], [takes, unknown])).rejects.toThrow('handlers of unknown jobs: test.unknown.do')
  })
})
