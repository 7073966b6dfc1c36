import { registerModes, type configEntry } from '@zhisuan/contract/sys/sys'
import { z } from 'zod'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { allConfigs, deleteConfig, writeConfig, type ConfigRow } from './settings.store.ts'

/** The settings that the platform itself reads. Others are the console's own. */
interface Known {
  register_mode: (typeof registerModes)[number]
  title: string
}
const known: { readonly [K in keyof Known]: z.ZodType<Known[K]> } = {
  register_mode: z.enum(registerModes),
  title: z.string().trim().min(1).max(64),
}

type Entry = z.output<typeof configEntry>

export interface Settings {
  get<K extends keyof Known>(key: K): Promise<Known[K]>
  list(key: string | undefined): Promise<{ total: number; items: Entry[] }>
  /** @throws Refusal 92006 where a known key does not take that value */
  set(key: string, value: string): Promise<Entry>
  /** So that the default counts again. */
  reset(key: string): Promise<void>
}

const isKnown = (key: string): key is keyof Known => Object.hasOwn(known, key)

/** Platform settings, remembered until some server changes one. */
export function createSettings({ db, bus, config, now }: Platform): Settings {
  const defaults: Known = {
    // Without a way to send codes nobody could register; in development the inbox shows them.
    register_mode: config.ZHISUAN_ENV !== 'production' || config.SMS_GATEWAY_URL !== undefined ? 'open' : 'closed',
    title: '智算云',
  }
  let remembered: Promise<ReadonlyMap<string, ConfigRow>> | null = null
  const forget = () => {
    remembered = null
  }
  bus.subscribe('sys.settings', forget, forget)
  const all = (): Promise<ReadonlyMap<string, ConfigRow>> => {
    if (remembered !== null) return remembered
    const reading = allConfigs(db).then((rows) => new Map(rows.map((row) => [row.key, row])))
    remembered = reading
    reading.catch(() => {
      if (remembered === reading) forget()
    })
    return reading
  }
  const entry = (key: string, row: ConfigRow | undefined): Entry => {
    const fallback = isKnown(key) ? defaults[key] : null
    return {
      key,
      value: row?.value ?? fallback ?? '',
      known: isKnown(key),
      default_value: fallback,
      updated_at: row?.updated_at.toISOString() ?? null,
    }
  }

  return {
    async get<K extends keyof Known>(key: K): Promise<Known[K]> {
      // One that a former version allowed and this one does not counts as never set.
      const parsed = known[key].safeParse((await all()).get(key)?.value)
      return parsed.success ? parsed.data : defaults[key]
    },
    async list(key) {
      const rows = await all()
      const keys = [...new Set([...Object.keys(known), ...rows.keys()])].filter((one) => key === undefined || one === key)
      return { total: keys.length, items: keys.map((one) => entry(one, rows.get(one))) }
    },
    async set(key, value) {
      const parsed = isKnown(key) ? known[key].safeParse(value) : { success: true as const, data: value }
      if (!parsed.success) throw new Refusal('configValueInvalid', { field: 'value' })
      const row = await db.transaction().execute(async (tx) => {
        await bus.publish(tx, 'sys.settings', key)
        return writeConfig(tx, { key, value: parsed.data, updated_at: now() })
      })
      // Without waiting for the bus, so that whoever changed it sees it at once.
      forget()
      return entry(key, row)
    },
    async reset(key) {
      await db.transaction().execute(async (tx) => {
        await bus.publish(tx, 'sys.settings', key)
        await deleteConfig(tx, key)
      })
      forget()
    },
  }
}
