import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModules } from '../app.ts'
import { openSaid } from '../modules/aos/stack/stack.store.ts'
import { getTemplate } from '../modules/aos/template/template.store.ts'
import { getCommand, getResult, listResults } from '../modules/nextstack/command/command.store.ts'
import { auditMigrations } from '../platform/audit.ts'
import { platformScope } from '../platform/auth/actor.ts'
import { changeMigrations } from '../platform/changes.ts'
import { readConfig } from '../platform/config.ts'
import { migrate, migration, openDatabase, type Migrations } from '../platform/db/database.ts'
import { kindMigrations } from '../platform/db/kinds.migration.ts'
import { squashed } from '../platform/db/squashed.ts'
import { createLog } from '../platform/log.ts'
import type { ModuleParts } from '../platform/module.ts'
import { operationMigrations } from '../platform/operations.ts'
import { openPlatform } from '../platform/platform.ts'
import { freshDatabase } from './database.ts'
import { schemaOf } from './schema.ts'

const fixture = (name: string): string => readFileSync(new URL(`before-release/${name}`, import.meta.url), 'utf8')
/** Rows by table, as JSON: of every table some, as servers and tests of that day wrote them. */
const rows = JSON.parse(fixture('rows.json')) as Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** Whose rows a migration since writes anew: what becomes of them is said in a test beside it. */
const rewritten: ReadonlySet<string> = new Set(['policy_versions', 'access_keys', 'usage_postings'])
/** Columns that a migration since took away (where wrong passwords came from is told in rows of their own), added, or sealed. */
const columnsSince: Readonly<Record<string, readonly string[]>> = {
  users: ['wrong_passwords', 'frozen_until'],
  edges: ['docker_trouble', 'away_told', 'shared_with', 'shared_bp_ids', 'share_limits'],
  byte_uploads: ['writer', 'handed_over'],
  model_imports: ['moved_at'],
  file_entries: ['counts_for', 'lay_in'],
  file_machine_copies: ['replaces'],
  containers: ['shared_cpu', 'shared_memory_bytes', 'rental_id', 'cards'],
  stack_services: ['shared_cpu', 'shared_memory_bytes'],
  models: ['published_revision_id', 'published_card', 'published_size_bytes', 'published_file_count', 'pending_about', 'project_id'],
  model_revisions: ['accepted_at'],
  model_staged: ['user_id', 'path'],
  identity_providers: ['by_organisation'],
  policies: ['system_key'],
  roles: ['system_key'],
  invitations: ['role_ids'],
  commands: ['name', 'named', 'script'],
  command_results: ['stdout', 'stderr', 'output', 'tail'],
  operations: ['error_text', 'error_detail'],
  stacks: ['error_text', 'output'],
  stack_templates: ['compose', 'variables', 'content'],
  keystone_projects: ['problem', 'problem_since'],
  cloud_usage: ['ended_because'],
  usage_events: ['reason', 'attributes'],
  vm_snapshot_schedules: ['wished_by'],
  usage_intervals: ['attributes'],
  usage_lines: ['attributes'],
  prepaid_spans: ['chain_from'],
  ledger_transactions: ['used_on'],
  invoices: ['lines'],
  arrears_policies: ['least_balance'],
  eip_pools: ['limits_bandwidth'],
  eips: ['limits_bandwidth', 'release_with'],
  volumes: ['release_by'],
  preheats: ['ordered_by'],
}
/** Where kinds of things are named, and how they were: nothing else of these rows changes. */
const spelledIn = ['operations', 'usage_events', 'metered_resources', 'bill_orders', 'prepaid_resources', 'suspended_resources']
const spelled: Readonly<Record<string, string>> = {
  vm: 'nextstack.vm',
  volumeSnapshot: 'nextstack.volumeSnapshot',
  computeInstance: 'compute.instance',
  'compute.recycled': 'compute.recycled',
  edge: 'ecrm.edge',
  edge_image_pull: 'ecrm.imagePull',
  container: 'cis.container',
  stack: 'aos.stack',
  order: 'bill.order',
}
const spelledAnew = (row: string): string =>
  row.replace(/"(resource_type|type|kind)": "(\w+)"/g, (all, key, was: string) => (was in spelled ? `"${key}": "${spelled[was]}"` : all))

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

async function connected(database: { url: string; drop(): Promise<void> }): Promise<pg.Client> {
  closing.push(() => database.drop())
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  closing.push(() => client.end())
  return client
}

const log = createLog({ LOG_LEVEL: 'silent' })

const configOf = (url: string) =>
  readConfig({ ZHISUAN_ENV: 'test', DATABASE_URL: url, DATABASE_POOL_SIZE: '2', SECRET_KEY: Buffer.alloc(32, 7).toString('base64') })

/** Brings a database up as a server does at its start. */
async function upgraded(url: string): Promise<void> {
  const platform = await openPlatform(configOf(url), log)
  try {
    await platform.compose(createModules(platform).modules)
  } finally {
    await platform.close()
  }
}

async function migrated(url: string, to: Migrations): Promise<string[]> {
  const database = openDatabase(url, { poolSize: 1, log })
  try {
    return await migrate(database.db, to)
  } finally {
    await database.close()
  }
}

const namesIn = async (client: pg.Client): Promise<string[]> =>
  (await client.query<{ name: string }>('select name from migrations order by 1')).rows.map(({ name }) => name)

describe('a database of the days before the first release', () => {
  let url: string
  let old: pg.Client
  beforeAll(async () => {
    const database = await freshDatabase({ schema: false })
    url = database.url
    old = await connected(database)
    await old.query(fixture('schema.sql'))
    await old.query('create table migrations (name text primary key, applied_at timestamptz not null default now())')
    await old.query('insert into migrations (name) select unnest($1::text[])', [[...squashed.from]])
    // Rows of many databases refer to what is in none of them, and nothing is counted or told of them again.
    await old.query(`set session_replication_role = 'replica'`)
    for (const [table, of] of Object.entries(rows)) {
      await old.query(`delete from ${table}`)
      const columns = await stored(old, table)
      await old.query(`insert into ${table} (${columns}) overriding system value select ${columns} from jsonb_populate_recordset(null::${table}, $1)`, [
        JSON.stringify(of),
      ])
    }
    for (const was of Object.keys(spelled)) {
      await old.query(
        `insert into operations select (jsonb_populate_record(operations, jsonb_build_object('id', gen_random_uuid(), 'resource_type', $1::text))).* from operations limit 1`,
        [was],
      )
    }
    await old.query('reset session_replication_role')
  })

  it('has rows in every table', async () => {
    const { rows: tables } = await old.query<{ relname: string }>(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations'`,
    )
    expect(tables.map(({ relname }) => relname).filter((table) => (rows[table] ?? []).length === 0)).toEqual([])
  })

  it('comes to the schema of a new one, and loses nothing', async () => {
    const before = await contentOf(old)
    await upgraded(url)
    const fresh = await connected(await freshDatabase())
    expect(await namesIn(old)).toEqual(await namesIn(fresh))
    expect(await schemaOf(old)).toEqual(await schemaOf(fresh))
    const after = await contentOf(old)
    for (const table of Object.keys(rows)) {
      if (rewritten.has(table)) expect(after[table], table).toHaveLength(before[table]?.length ?? 0)
      else expect(after[table], table).toEqual(spelledIn.includes(table) ? before[table]?.map(spelledAnew).sort() : before[table])
    }
    // Once more there is nothing to do.
    await upgraded(url)
    expect(await contentOf(old)).toEqual(after)
  })

  it('is refused where it is older still', async () => {
    const database = await freshDatabase({ schema: false })
    const older = await connected(database)
    await older.query('create table migrations (name text primary key, applied_at timestamptz not null default now())')
    await older.query('insert into migrations (name) select unnest($1::text[])', [[...squashed.from].slice(0, -1)])
    await expect(upgraded(database.url)).rejects.toThrow('start the last version of 2026-11-23 on it first')
    expect((await older.query('select from migrations')).rowCount).toBe(squashed.from.size - 1)
  })
})

describe('a database in which scripts, outputs and what was said of failures lay in clear', () => {
  it('has them sealed, and says what it said; nothing of them is left in its files', async () => {
    const database = await freshDatabase({ schema: false })
    const client = await connected(database)
    const mark = 'plain-text-of-before'
    const [cloud, command, named, operation, stack, template] = Array.from({ length: 6 }, () => randomUUID()) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    const tables = ['command_results', 'commands', 'operations', 'stack_templates', 'stacks']
    const vms = Array.from({ length: 120 }, () => randomUUID())
    const long = `${mark} ${'汉😀'.repeat(6_000)} end`
    const platform = await openPlatform(configOf(database.url), log)
    try {
      const modules = createModules(platform).modules
      const before = Object.entries(Object.assign({}, ...allMigrations(modules)) as Migrations).filter(([name]) => name < '20261126_70')
      await migrate(platform.db, Object.fromEntries(before))
      await client.query(`set session_replication_role = 'replica'`)
      await client.query(
        `insert into commands (id, cloud_id, name, script, timeout_seconds, vm_count, created_by_name) values
           ($1, $3, $4, $4, 60, 120, 'x'), ($2, $3, $5, $6, 60, 1, 'x')`,
        [command, named, cloud, `mysql -p${mark}`, 'nightly', `echo ${mark}`],
      )
      await client.query(
        `insert into command_results (command_id, vm_id, vm_name, position, cloud_id, stdout, stderr)
         select $1, vm, 'vm', nr, $2, $3 || nr, case when nr = 1 then $4 else '' end from unnest($5::uuid[]) with ordinality as of (vm, nr)`,
        [command, cloud, mark, long, vms],
      )
      await client.query('insert into command_results (command_id, vm_id, vm_name, position, cloud_id) values ($1, $2, $3, 0, $4)', [
        named,
        vms[0],
        'vm',
        cloud,
      ])
      await client.query(
        `insert into operations (id, kind, resource_type, resource_id, actor_name, status, steps_total, input, error, error_text, error_detail)
         values ($1, 'aos.stack.create', 'aos.stack', $2, 'x', 'failed', 1, '', 'composeFailed', $3, $4)`,
        [operation, stack, `${mark}-text`, `${mark}-detail`],
      )
      await client.query(
        `insert into stacks (id, deployment_id, edge_id, name, project, status, revision, error_text, output, created_by_name)
         values ($1, $1, $1, 's', 'p', 'error', 1, $2, $3, 'x')`,
        [stack, `${mark}-text`, `${mark}-output`],
      )
      await client.query(
        `insert into stack_templates (id, name, version, description, labels, compose, variables, created_by_name) values ($1, 't', '1', '', '[]', $2, $3, 'x')`,
        [template, `a: ${mark}`, JSON.stringify([{ name: 'A', label: '', type: 'password', required: true, default: mark, choices: [] }])],
      )
      await client.query('reset session_replication_role')
      await client.query('checkpoint')
      expect(await filesWith(client, mark, ...tables)).toEqual(tables)

      await platform.compose(modules)
      await client.query('checkpoint')
      expect(await filesWith(client, mark, ...tables)).toEqual([])
      const { db, secrets } = platform
      expect(await getCommand(db, secrets, platformScope, command)).toMatchObject({ name: `mysql -p${mark}`, script: `mysql -p${mark}`, named: false })
      expect(await getCommand(db, secrets, platformScope, named)).toMatchObject({ name: 'nightly', script: `echo ${mark}`, named: true })
      const results = await listResults(db, secrets, command)
      expect(results.map(({ stdout }) => stdout).toSorted()).toEqual(vms.map((_, index) => `${mark}${index + 1}`).toSorted())
      expect(results[0]).toMatchObject({ stderr: [...long].slice(-8_192).join(''), more: true })
      expect(await getResult(db, secrets, { command_id: command, vm_id: vms[0] ?? '' })).toMatchObject({ stdout: `${mark}1`, stderr: long })
      expect(await listResults(db, secrets, named)).toMatchObject([{ stdout: '', stderr: '', more: false }])
      expect(platform.operations.said(await db.selectFrom('operations').selectAll().executeTakeFirstOrThrow())).toEqual({
        error: `${mark}-text`,
        detail: `${mark}-detail`,
      })
      expect(openSaid(secrets, await db.selectFrom('stacks').selectAll().executeTakeFirstOrThrow())).toEqual({
        error_text: `${mark}-text`,
        output: `${mark}-output`,
      })
      expect(await getTemplate(db, secrets, platformScope, template)).toMatchObject({ compose: `a: ${mark}`, variables: [{ name: 'A', default: mark }] })
    } finally {
      await platform.close()
    }
  })
})

describe('migrations', () => {
  it('are refused where one would run after what was written later, and nothing is done', async () => {
    const database = await freshDatabase({ schema: false })
    const client = await connected(database)
    const first = { '20261201_01_a': migration('create table a ()'), '20261203_01_c': migration('create table c ()') }
    expect(await migrated(database.url, first)).toEqual(Object.keys(first))
    const late = { ...first, '20261202_01_b': migration('create table b ()'), '20261204_01_d': migration('create table d ()') }
    await expect(migrated(database.url, late)).rejects.toThrow('The database already has 20261203_01_c, which sorts after 20261202_01_b')
    expect((await client.query(`select from pg_class where relname in ('b', 'd')`)).rowCount).toBe(0)
  })
  it('are named by a day, a number and what they make', async () => {
    const names = await namesIn(await connected(await freshDatabase()))
    expect(names.filter((name) => !/^20\d{6}(_\d\d){1,2}_[a-z_]+$/.test(name))).toEqual([])
  })
})

const allMigrations = (modules: readonly ModuleParts[]): Migrations[] => [
  auditMigrations,
  operationMigrations,
  changeMigrations,
  kindMigrations,
  ...modules.map(({ migrations = {} }) => migrations),
]

/** Tables whose files, those of what is too long for a row too, hold a text. */
async function filesWith(client: pg.Client, text: string, ...tables: readonly string[]): Promise<string[]> {
  const { rows: files } = await client.query<{ table: string; path: string }>(
    `select relname as table, current_setting('data_directory') || '/' || pg_relation_filepath(of) as path
     from pg_class, unnest(array[oid, nullif(reltoastrelid, 0)]) as of where relname = any($1) and relkind = 'r' and of is not null`,
    [tables],
  )
  const holding = files.filter(({ path }) => readFileSync(path).includes(text))
  return [...new Set(holding.map(({ table }) => table))].sort()
}

/** The columns that are not computed by the database. */
async function stored(client: pg.Client, table: string): Promise<string> {
  const { rows: columns } = await client.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  return columns.map(({ name }) => name).join(', ')
}

/** All that the tables hold that there were. */
async function contentOf(client: pg.Client): Promise<Readonly<Record<string, readonly string[]>>> {
  const content: Record<string, readonly string[]> = {}
  for (const table of Object.keys(rows)) {
    const { rows: kept } = await client.query<{ row: string }>(`select (to_jsonb(t) - $1::text[])::text as row from ${table} t`, [columnsSince[table] ?? []])
    content[table] = kept.map(({ row }) => row).sort()
  }
  return content
}
