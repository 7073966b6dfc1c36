import { registerModes, type configEntry } from '@zhisuan/contract/sys/sys'
import type { Generated } from 'kysely'
import { z } from 'zod'
import { migration, type Migrations } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Platform } from '../../platform/platform.ts'

interface ConfigTable {
  key: string
  value: string
  updated_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    configs: ConfigTable
  }
}
export const settingsMigrations: Migrations = {
  '20261121_10_configs': migration(`
    create table configs (key text primary key, value text not null, updated_at timestamptz not null default now());
  `),
}

/** The settings that the platform itself reads, each with its rule. Others are the console's own. */
const known = {
  register_mode: z.enum(registerModes),
  title: z.string().trim().min(1).max(64),
} as const
type Known = { [K in keyof typeof known]: z.output<(typeof known)[K]> }

type Entry = z.output<typeof configEntry>

export interface Settings {
  get<K extends keyof Known>(key: K): Promise<Known[K]>
  list(key: string | undefined): Promise<{ total: number; items: Entry[] }>
  set(key: string, value: string): Promise<Entry>
  reset(key: string): Promise<void>
}

const isKnown = (key: string): key is keyof Known => Object.hasOwn(known, key)

/** Platform settings, remembered until some server changes one. */
export function createSettings(platform: Platform): Settings {
  const { db, bus, config } = platform
  const defaults: Known = {
    // Without a way to send codes nobody could register; in development the inbox shows them.
    register_mode: config.ZHISUAN_ENV !== 'production' || config.SMS_GATEWAY_URL !== undefined ? 'open' : 'closed',
    title: '智算云',
  }
  let remembered: Promise<Map<string, ConfigTableRow>> | null = null
  type ConfigTableRow = { key: string; value: string; updated_at: Date }
  const forget = () => {
    remembered = null
  }
  bus.subscribe('settings', forget, forget)
  const all = (): Promise<Map<string, ConfigTableRow>> => {
    remembered ??= db
      .selectFrom('configs')
      .selectAll()
      .orderBy('key')
      .execute()
      .then((rows) => new Map(rows.map((row) => [row.key, row])))
      .catch((error: unknown) => {
        forget()
        throw error
      })
    return remembered
  }
  const entry = (key: string, row: ConfigTableRow | undefined): Entry => ({
    key,
    value: row?.value ?? (isKnown(key) ? defaults[key] : ''),
    known: isKnown(key),
    default_value: isKnown(key) ? defaults[key] : null,
    updated_at: row?.updated_at.toISOString() ?? null,
  })
  return {
    async get(key) {
      const row = (await all()).get(key)
      // One that a former version allowed and this one does not counts as never set.
      const parsed = known[key].safeParse(row?.value)
      return (parsed.success ? parsed.data : defaults[key]) as Known[typeof key]
    },
    async list(key) {
      const rows = await all()
      const keys = [...new Set([...Object.keys(known), ...rows.keys()])].filter((one) => key === undefined || one === key)
      return { total: keys.length, items: keys.map((one) => entry(one, rows.get(one))) }
    },
    async set(key, value) {
      if (isKnown(key) && !known[key].safeParse(value).success) throw new Refusal('configValueInvalid', { field: 'value' })
      const row = await db.transaction().execute(async (tx) => {
        const written = await tx
          .insertInto('configs')
          .values({ key, value })
          .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, updated_at: platform.now() }))
          .returningAll()
          .executeTakeFirstOrThrow()
        await bus.publish(tx, 'settings', key)
        return written
      })
      forget()
      return entry(key, row)
    },
    async reset(key) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('configs').where('key', '=', key).execute()
        await bus.publish(tx, 'settings', key)
      })
      forget()
    },
  }
}
