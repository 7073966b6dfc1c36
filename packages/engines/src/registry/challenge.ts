/** How a registry wants us to say who we are (RFC 9110, 11.6.1; token authentication of the CNCF's distribution). */
export type Challenge = { readonly scheme: 'basic' } | { readonly scheme: 'bearer'; readonly realm: string; readonly service: string | null }

/** Null where it names no way that we know. */
export function parseChallenge(header: string | undefined): Challenge | null {
  const [, scheme = '', rest = ''] = /^\s*([A-Za-z]+)(?:\s+(.*))?$/s.exec(header ?? '') ?? []
  if (scheme.toLowerCase() === 'basic') return { scheme: 'basic' }
  if (scheme.toLowerCase() !== 'bearer') return null
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain] of rest.matchAll(/([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g))
    parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '')
  const realm = parameters.get('realm')
  return realm === undefined || !URL.canParse(realm) ? null : { scheme: 'bearer', realm, service: parameters.get('service') ?? null }
}
