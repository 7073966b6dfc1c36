import zh from 'i18n-iso-countries/langs/zh.json' with { type: 'json' }

/** As the mainland's own standard, GB/T 2659, has them. */
const ours: Readonly<Record<string, string>> = { HK: '中国香港', MO: '中国澳门', TW: '中国台湾' }
/** In use, but not of ISO 3166-1. */
const assignedByUsers: ReadonlySet<string> = new Set(['XK'])
const collator = new Intl.Collator('zh-CN-u-co-pinyin')

/** ISO 3166-1 with Chinese names; this country first, then by pronunciation. */
export const nations: readonly { readonly code: string; readonly name: string }[] = Object.entries(zh.countries)
  .filter(([code]) => !assignedByUsers.has(code))
  .map(([code, name]) => ({ code, name: ours[code] ?? (Array.isArray(name) ? (name[0] ?? code) : name) }))
  .toSorted((one, other) => Number(other.code === 'CN') - Number(one.code === 'CN') || collator.compare(one.name, other.name))

const names: ReadonlyMap<string, string> = new Map(nations.map(({ code, name }) => [code, name]))

/** Undefined where there is no such nation. */
export const nationName = (code: string): string | undefined => names.get(code)
