import { allCalls } from '@zhisuan/contract/calls'
import { kindOf } from '@zhisuan/contract/kind'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { kindsOf } from './platform/kinds.ts'
import { testApp, type TestApp } from './testing/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

it('calls every kind as its calls begin, or says whose page tells of it', () => {
  const kinds = new Set(allCalls.map(({ id }) => kindOf(id)))
  expect([...app.platform.kinds()].filter(([kind, { page }]) => !kinds.has(kind) && page === undefined)).toEqual([])
})

it('finds every kind of thing in its table, by the columns that it names', async () => {
  const { rows } = await sql<{ place: string }>`
    select table_name || '.' || column_name as place from information_schema.columns where table_schema = 'public'
  `.execute(app.platform.db)
  const places = new Set(rows.map(({ place }) => place))
  const named = [...app.platform.kinds().values()].flatMap(({ table, name = 'name', page }) =>
    table === undefined ? [] : ['id', name, page?.id ?? 'id'].map((column) => `${table}.${column}`),
  )
  expect(named.filter((place) => !places.has(place))).toEqual([])
})

it('tells of no kind that no module names', async () => {
  const { rows } = await sql<{ kind: string }>`
    select distinct encode(trim(trailing '\\000'::bytea from tgargs), 'escape') as kind from pg_trigger join pg_proc on pg_proc.oid = tgfoid
    where proname in ('tell_change', 'tell_usage')
  `.execute(app.platform.db)
  const kinds: ReadonlySet<string> = new Set(app.platform.kinds().keys())
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter(({ kind }) => !kinds.has(kind))).toEqual([])
})

it('refuses two modules that name one, and work on what nobody names', () => {
  const one = { handlers: [], kinds: { 'nextstack.vm': {} } }
  expect(() => kindsOf([one, one])).toThrow('two modules name nextstack.vm')
  const operations = [{ kind: 'nextstack.volume.create', input: undefined as never, steps: [], ended: async () => undefined }]
  expect(() => kindsOf([{ ...one, operations }])).toThrow('nextstack.volume.create is on a kind that no module names')
})
