import type { QueryOf } from '@zhisuan/contract/define'
import { settings as known, type ConfigChange, type ConfigEntry, type SettingKey, type configs } from '@zhisuan/contract/sys/sys'
import type { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { allConfigs, deleteConfig, insertChange, listChanges, valuesSince, writeConfig, type ConfigRow } from './settings.store.ts'

type Known = { [K in SettingKey]: z.output<(typeof known)[K]> }
type Author = Pick<Actor, 'user_id' | 'name'>

export interface Settings {
  get<K extends keyof Known>(key: K): Promise<Known[K]>
  /** What one was at any time since a moment: for what must not be loosened and used at once. */
  since<K extends keyof Known>(key: K, at: Date): Promise<Known[K][]>
  list(key: string | undefined): Promise<{ total: number; items: ConfigEntry[] }>
  /** @throws Refusal 92006 where a known key does not take that value */
  set(author: Author, key: string, value: string): Promise<ConfigEntry>
  /** So that the default counts again. */
  reset(author: Author, key: string): Promise<void>
  changes(query: QueryOf<(typeof configs)['changes']>): Promise<{ total: number; items: ConfigChange[] }>
}

const isKnown = (key: string): key is keyof Known => Object.hasOwn(known, key)

/** Platform settings, remembered until some server changes one. */
export function createSettings({ db, bus, config, now }: Platform): Settings {
  const defaults: Known = {
    // Without a way to send codes nobody could register; in development the inbox shows them.
    register_mode: config.ZHISUAN_ENV !== 'production' || config.SMS_GATEWAY_URL !== undefined ? 'open' : 'closed',
    title: '智算云',
    support_phone: '',
    remittance_receiver: '',
    remittance_bank: '',
    remittance_account: '',
    invoice_tax_number: '',
    invoice_tax_rate: '6',
    model_hubs: 'https://huggingface.co',
    market_floor_price: '0',
    market_prepaid: '0',
    market_hours_ahead: '1',
    split_bank_hours: '24',
    split_payout_least: '1',
    split_payout_most: '1000000',
    split_payout_approved_above: '10000',
    message_days: '180',
    api_log_days: '30',
    alert_log_days: '180',
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
  const entry = (key: string, row: ConfigRow | undefined): ConfigEntry => {
    const fallback = isKnown(key) ? defaults[key] : null
    return {
      key,
      value: row?.value ?? fallback ?? '',
      known: isKnown(key),
      default_value: fallback,
      updated_at: row?.updated_at.toISOString() ?? null,
      updated_by: row?.updated_by ?? null,
    }
  }

  const change = (author: Author, key: string, value: string | null) => ({
    id: uuidv7(),
    key,
    value,
    actor_id: author.user_id,
    actor_name: author.name,
    created_at: now(),
  })

  return {
    async get<K extends keyof Known>(key: K): Promise<Known[K]> {
      // One that a former version allowed and this one does not counts as never set.
      const parsed = known[key].safeParse((await all()).get(key)?.value)
      // A record of the schemas' own outputs, which the compiler cannot follow for an open key.
      return parsed.success ? (parsed.data as Known[K]) : defaults[key]
    },
    async since<K extends keyof Known>(key: K, at: Date): Promise<Known[K][]> {
      return (await valuesSince(db, key, at)).map((value) => {
        const parsed = known[key].safeParse(value)
        // As above.
        return parsed.success ? (parsed.data as Known[K]) : defaults[key]
      })
    },
    async list(key) {
      const rows = await all()
      const keys = [...new Set([...Object.keys(known), ...rows.keys()])].filter((one) => key === undefined || one === key)
      return { total: keys.length, items: keys.map((one) => entry(one, rows.get(one))) }
    },
    async set(author, key, value) {
      const parsed = isKnown(key) ? known[key].safeParse(value) : { success: true as const, data: value }
      if (!parsed.success) throw new Refusal('configValueInvalid', { field: 'value' })
      const made = change(author, key, parsed.data)
      const row = await db.transaction().execute(async (tx) => {
        await bus.publish(tx, 'sys.settings', key)
        await insertChange(tx, made)
        return writeConfig(tx, { key, value: parsed.data, updated_at: made.created_at, updated_by: author.name })
      })
      // Without waiting for the bus, so that whoever changed it sees it at once.
      forget()
      return entry(key, row)
    },
    async reset(author, key) {
      await db.transaction().execute(async (tx) => {
        await bus.publish(tx, 'sys.settings', key)
        if (await deleteConfig(tx, key)) await insertChange(tx, change(author, key, null))
      })
      forget()
    },
    changes: (query) => listChanges(db, query),
  }
}
