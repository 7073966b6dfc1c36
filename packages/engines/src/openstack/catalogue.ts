import { z } from 'zod'
import { OpenStackError, type Place, type Service } from './errors.ts'

/** Identity API v3, "Password authentication with scoped authorization": what the answer says of the token. */
export const tokenSchema = z.object({
  token: z.object({
    expires_at: z.iso.datetime({ offset: true }),
    user: z.object({ id: z.string(), name: z.string().nullish() }),
    project: z.object({ id: z.string(), name: z.string() }).nullish(),
    domain: z.object({ id: z.string() }).nullish(),
    roles: z.array(z.object({ id: z.string(), name: z.string() })).nullish(),
    catalog: z
      .array(
        z.object({
          type: z.string(),
          endpoints: z.array(z.object({ interface: z.string(), region_id: z.string().nullish(), region: z.string().nullish(), url: z.string() })),
        }),
      )
      .nullish(),
  }),
})

export type Interface = 'public' | 'internal' | 'admin'

export interface Token {
  /** Never logged. */
  readonly secret: string
  readonly expiresAt: Date
  readonly userId: string
  readonly projectId: string | null
  readonly roles: readonly string[]
  readonly catalogue: NonNullable<z.output<typeof tokenSchema>['token']['catalog']>
}

/** What catalogues call a service, the official name first, and the version that stands in the paths of its calls. */
const types: Readonly<Record<Service, { readonly types: readonly string[]; readonly version: string }>> = {
  identity: { types: ['identity', 'identityv3'], version: 'v3' },
  compute: { types: ['compute'], version: 'v2.1' },
  placement: { types: ['placement'], version: '' },
  image: { types: ['image'], version: 'v2' },
  network: { types: ['network'], version: 'v2.0' },
  volume: { types: ['block-storage', 'block-store', 'volumev3', 'volume'], version: 'v3' },
}

/** Where a service is spoken to: the address that paths are put behind, and that of the document of its versions. */
export interface Endpoint {
  readonly base: string
  readonly versions: string
}

/**
 * The address of a service by the catalogue, or `override`.
 * @throws OpenStackError `unsupported` where this cloud, or this region of it, has no such service
 */
export function endpointOf(
  token: Token,
  service: Service,
  where: { region: string | undefined; interface: Interface; override: string | undefined },
  place: Place,
): Endpoint {
  const url = where.override ?? listed(token, service, where)
  if (url === undefined) {
    const region = where.region === undefined ? '' : ` in region ${where.region}`
    throw new OpenStackError('unsupported', `the catalogue has no ${where.interface} endpoint of the service ${service}${region}`, place)
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new OpenStackError('bad_answer', `the endpoint is no address: ${url}`, place)
  return rooted(url.replace(/\/+$/, ''), types[service].version, service === 'volume' ? token.projectId : null)
}

function listed(token: Token, service: Service, where: { region: string | undefined; interface: Interface }): string | undefined {
  for (const type of types[service].types) {
    const endpoint = token.catalogue
      .filter((entry) => entry.type === type)
      .flatMap(({ endpoints }) => endpoints)
      .find((one) => one.interface === where.interface && (where.region === undefined || (one.region_id ?? one.region) === where.region))
    if (endpoint !== undefined) return endpoint.url
  }
  return undefined
}

/** Catalogues name a service with its version or without; Cinder's calls stand under the project. */
function rooted(url: string, version: string, projectId: string | null): Endpoint {
  if (version === '') return { base: url, versions: `${url}/` }
  const found = /^(.*?\/v\d+(?:\.\d+)?)(\/.*)?$/.exec(url)
  const root = found?.[1] ?? `${url}/${version}`
  const within = found?.[2] ?? ''
  return { base: projectId !== null && within === '' ? `${root}/${projectId}` : `${root}${within}`, versions: `${root}/` }
}
