import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { createModules } from '../app.ts'
import { readConfig } from '../platform/config.ts'
import { startEmbeddedPostgres } from '../platform/db/embedded.ts'
import { createLog } from '../platform/log.ts'
import { openPlatform } from '../platform/platform.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The database `postgres` of the PostgreSQL that all tests of this run share. */
    postgresUrl: string
    /** The database in it that has the schema of this version and nothing else. */
    templateUrl: string
  }
}

const template = 'zhisuan_template'

/**
 * vitest's global setup: a real PostgreSQL in a temporary folder, and in it one database with
 * the schema of this version, which every test file gets a copy of.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-test-'))
  // As root, PostgreSQL runs as a system user of its own, who has to get in.
  chmodSync(folder, 0o755)
  // Nothing here outlives the run, so nothing has to reach the disk.
  const postgres = await startEmbeddedPostgres(join(folder, 'database'), [
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'autovacuum=off',
    'max_connections=300',
  ])
  const stop = async () => {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await query(postgres.url('postgres'), `create database ${template}`)
    // The queue makes its own schema at its first start; made here, no test waits for it.
    const platform = await openPlatform(
      readConfig({ ZHISUAN_ENV: 'test', DATABASE_URL: postgres.url(template), DATABASE_POOL_SIZE: '2' }),
      createLog({ LOG_LEVEL: 'warn' }),
    )
    await platform.compose(createModules(platform).modules)
    await platform.close()
    project.provide('postgresUrl', postgres.url('postgres'))
    project.provide('templateUrl', postgres.url(template))
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}

/** A database of one's own with the whole schema and nothing in it, or without a schema. */
export async function freshDatabase({ schema = true } = {}): Promise<{ url: string; drop(): Promise<void> }> {
  const admin = inject('postgresUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await query(admin, `create database ${name} template ${schema ? template : 'template0'}`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => query(admin, `drop database if exists ${name} with (force)`) }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
