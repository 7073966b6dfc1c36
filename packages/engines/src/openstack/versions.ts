import { z } from 'zod'
import { OpenStackError, type Place, type Service } from './errors.ts'

/** Major and minor, as of a microversion `2.90`. */
export type Version = readonly [number, number]

export type Versioned = 'compute' | 'volume' | 'placement'

/** API guides "Microversions": services that have them, what this client is written for, and below what it cannot work. */
const spoken: Readonly<Record<Versioned, { readonly newest: Version; readonly oldest: Version }>> = {
  // 2.47 (Pike) tells a server's flavor with the server; 2.90 is Xena's.
  compute: { newest: [2, 90], oldest: [2, 47] },
  // 3.50 is Queens'.
  volume: { newest: [3, 68], oldest: [3, 50] },
  placement: { newest: [1, 36], oldest: [1, 10] },
}

export const hasVersions = (service: Service): service is Versioned => service in spoken

const described = z.object({
  status: z.string().nullish(),
  version: z.string().nullish(),
  max_version: z.string().nullish(),
  min_version: z.string().nullish(),
})
export const versionsSchema = z.union([
  z.object({ version: described }).transform(({ version }) => [version]),
  z.object({ versions: z.array(described) }).transform(({ versions }) => versions),
])

const read = (text: string | null | undefined): Version | null => {
  const match = /^(\d+)\.(\d+)$/.exec(text ?? '')
  return match === null ? null : [Number(match[1]), Number(match[2])]
}
export const below = (one: Version, other: Version): boolean => one[0] < other[0] || (one[0] === other[0] && one[1] < other[1])

/**
 * The highest microversion that both know.
 * @throws OpenStackError `unsupported` where there is none
 */
export function agreed(service: Versioned, offered: z.output<typeof versionsSchema>, place: Place): Version {
  const ours = spoken[service]
  for (const one of offered) {
    const highest = read(one.version) ?? read(one.max_version)
    const lowest = read(one.min_version)
    if (highest === null || lowest === null || highest[0] !== ours.newest[0]) continue
    const best = below(highest, ours.newest) ? highest : ours.newest
    if (below(best, ours.oldest)) throw new OpenStackError('unsupported', `its API ${best.join('.')} is older than ${ours.oldest.join('.')}`, place)
    if (below(best, lowest)) throw new OpenStackError('unsupported', `its API begins with ${lowest.join('.')}, this client ends with ${best.join('.')}`, place)
    return best
  }
  throw new OpenStackError('unsupported', 'it offers no version of its API that this client knows', place)
}

export const versionHeaders = (service: Versioned, version: Version): Record<string, string> => ({ 'openstack-api-version': `${service} ${version.join('.')}` })

const named = described.extend({ id: z.string().nullish() })
export const offeredSchema = z.union([
  z.object({ version: named }).transform(({ version }) => [version]),
  z.object({ versions: z.array(named) }).transform(({ versions }) => versions),
])

/** Where a service tells its versions, by that of the version that we speak: Glance and Neutron tell them at their root only. */
export const overview = (service: Service, versions: string): string =>
  service === 'image' || service === 'network' ? versions.replace(/v\d+(?:\.\d+)?\/$/, '') : versions

/** Of the versions that a service offers: `2.93`, `v2.15`, or of old ones `v2`. */
export function newest(offered: z.output<typeof offeredSchema>): string | null {
  const known = offered.flatMap((one) => {
    const text = [one.version, one.max_version, one.id?.replace(/^v/, '')].find((candidate) => /^\d+(\.\d+)?$/.test(candidate ?? ''))
    const [major = 0, minor = 0] = (text ?? '').split('.').map(Number)
    return text === undefined || text === null ? [] : [{ text, version: [major, minor] as const }]
  })
  return known.reduce<(typeof known)[number] | null>((best, one) => (best === null || below(best.version, one.version) ? one : best), null)?.text ?? null
}
