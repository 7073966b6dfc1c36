/**
 * Names of resources: `zrn:<service>:<organisation>:<type>/<id>`, such as
 * `zrn:nextstack:0190…:vm/0191…`. Service and type are the first two parts of the id of a call.
 * The organisation is `platform` for what belongs to none; without an id it is the whole kind, `vm/*`.
 */
export const resourceName = (service: string, type: string, organisation: string | null, id = '*'): string =>
  `zrn:${service}:${organisation ?? 'platform'}:${type}/${id}`

/** Whether it can stand in a policy: a name with wildcards and variables, or everything. */
export const isResourcePattern = (text: string): boolean => text === '*' || /^zrn:[^:\s]+:(?:[^:\s]|\$\{[^}\s]+\})+:\S+$/.test(text)
