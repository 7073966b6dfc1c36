import { createHash } from 'node:crypto'
import { environmentOf } from './compose.env.ts'
import { isMapping, type Mapping } from './compose.parse.ts'
import { file, inside, type Place } from './compose.places.ts'
import { besides, keyed, listed, mountOf, portText } from './compose.service.ts'
import { literal } from './compose.variables.ts'

/** Names the stack on every container of it. */
const stackLabel = 'zhisuan.stack'
/** Of what lies in the configs that a service has: another text makes its containers anew. */
const filesLabel = 'zhisuan.files'

export interface FileFor {
  readonly stack_id: string
  /** What lies beside it, by path. */
  readonly files: ReadonlyMap<string, string>
  /** Images that are there already: compose would ask for them without an account. */
  readonly pulled?: ReadonlySet<string>
  /** What variables are, for what is only named. */
  readonly values: ReadonlyMap<string, string>
}

/**
 * A prepared file as a node gets it: JSON, which YAML is a superset of, so that no version of compose reads a text as something
 * else; and of the ways of writing something always the oldest, which each version of compose knows (`oldestCompose`).
 */
export function fileForNode(root: Mapping, of: FileFor): string {
  const { version: _, name: __, ...rest } = root
  const whole = clean(rest, file)
  const services = mappingOf(whole['services'])
  const written = Object.fromEntries(Object.entries(services).map(([name, service]) => [name, serviceForNode(mappingOf(service), services, of)]))
  const resources = Object.fromEntries(
    (['volumes', 'networks'] as const).flatMap((kind) =>
      kind in whole ? [[kind, Object.fromEntries(Object.entries(mappingOf(whole[kind])).map(([name, one]) => [name, resourceForNode(one)]))]] : [],
    ),
  )
  return JSON.stringify(literally({ ...whole, ...resources, services: written }))
}

const mappingOf = (value: unknown): Mapping => (isMapping(value) ? value : {})
const without = (value: Mapping, ...keys: readonly string[]): Mapping => Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
const unique = (values: readonly unknown[]): unknown[] => [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
/** The entry, where there is something to say. */
const some = (name: string, value: Mapping | readonly unknown[]): Mapping => (Object.keys(value).length > 0 ? { [name]: value } : {})

/** Without what the place does not know, what says nothing, and what is there twice. */
function clean(value: Mapping, place: Place): Mapping {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      const at = inside(place, key)
      if (at === undefined) return []
      // A volume or a network of which nothing is said is one all the same, and so is a variable that is only named.
      const isNamed = place.each === at && (at.keys !== undefined || (at.scalar === 'text' && place.items !== undefined))
      if (one === null && isNamed) return [[key, null]]
      return one === null || one === undefined ? [] : [[key, cleaned(one, at)]]
    }),
  )
}
function cleaned(value: unknown, place: Place): unknown {
  if (isMapping(value)) return clean(value, place)
  if (!Array.isArray(value)) return value
  const items = value.filter((one) => one !== null).map((one: unknown) => (place.items === undefined ? one : cleaned(one, place.items)))
  return place.unique === true ? unique(items) : items
}

/** Nothing in it is a variable any more. */
function literally(value: unknown): unknown {
  if (typeof value === 'string') return literal(value)
  if (Array.isArray(value)) return value.map(literally)
  return isMapping(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, literally(one)])) : value
}

/** What is of others has nothing but a name. */
const resourceForNode = (value: unknown): unknown => {
  if (!isMapping(value)) return value
  const { external, name } = value
  return external === true || isMapping(external) ? { external, ...(name !== undefined && { name }) } : without(value, 'external')
}

function serviceForNode(service: Mapping, services: Mapping, { stack_id, files, values, pulled }: FileFor): Mapping {
  const mounts = listed(service['volumes']).map((value) => ({ value, mount: mountOf(value) }))
  const deploy = mappingOf(service['deploy'])
  const resources = mappingOf(deploy['resources'])
  const { pids, ...limits } = mappingOf(resources['limits'])
  const paths = mounts
    .flatMap(({ mount }) => (mount?.type === 'bind' && mount.source !== null ? [besides(mount.source)] : []))
    .filter((path) => files.has(path))
  const labels = Object.fromEntries([
    ...keyed(service['labels']),
    [stackLabel, stack_id],
    ...(paths.length > 0 ? [[filesLabel, digest(paths.map((path) => files.get(path) ?? ''))] as const] : []),
  ])
  const inMemory = mounts.flatMap(({ value }) => (isMapping(value) && isMapping(value['tmpfs']) && 'mode' in value['tmpfs'] ? [tmpfsText(value)] : []))
  return {
    ...without(service, 'env_file', 'environment', 'scale', 'volumes', 'tmpfs', 'ports', 'depends_on', 'extra_hosts', 'deploy', 'healthcheck'),
    ...some('environment', environmentOf(service, files, values)),
    labels,
    ...(service['scale'] !== undefined && deploy['replicas'] === undefined && { scale: service['scale'] }),
    ...some(
      'volumes',
      mounts.flatMap(({ value, mount }) =>
        isMapping(value) && isMapping(value['tmpfs']) && 'mode' in value['tmpfs'] ? [] : [mountForNode(value, mount, files)],
      ),
    ),
    ...some('tmpfs', unique([...listed(service['tmpfs']), ...inMemory])),
    ...some('ports', unique(listed(service['ports']).map(portText))),
    ...some('depends_on', dependsForNode(service['depends_on'], services)),
    ...some('extra_hosts', hostsForNode(service['extra_hosts'])),
    ...some('deploy', { ...without(deploy, 'resources'), ...some('resources', { ...without(resources, 'limits'), ...some('limits', limits) }) }),
    ...some('healthcheck', healthForNode(mappingOf(service['healthcheck']))),
    ...(service['pids_limit'] === undefined && pids !== undefined && { pids_limit: pids }),
    ...((service['pull_policy'] === 'missing' || (service['pull_policy'] === 'always' && pulled?.has(String(service['image'])) === true)) && {
      pull_policy: 'if_not_present',
    }),
  }
}

function mountForNode(value: unknown, mount: ReturnType<typeof mountOf>, files: ReadonlyMap<string, string>): unknown {
  // Of what has no name compose keeps what is in it only where it is written so.
  if (mount === null || !mount.plain || mount.source === null) return isMapping(value) ? { type: 'volume', ...value } : value
  const source = mount.type === 'bind' && files.has(besides(mount.source)) ? `./${besides(mount.source)}` : mount.source
  return { type: mount.type, source, target: mount.target, ...(mount.readOnly && { read_only: true }) }
}

/** Options of a file system in memory, as Docker's own way has them. */
function tmpfsText(value: Mapping): string {
  const { size, mode } = mappingOf(value['tmpfs'])
  const octal = typeof mode === 'string' ? mode.replace(/^0o?(?=[0-7])/, '') : '1777'
  return `${String(value['target'])}:${[...(size === undefined ? [] : [`size=${String(size)}`]), `mode=${octal}`].join(',')}`
}

/** What may be missing, and is, is waited for by nobody. */
const dependsForNode = (value: unknown, services: Mapping): Mapping | readonly unknown[] =>
  isMapping(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, how]) =>
          Object.hasOwn(services, name) ? [[name, { condition: mappingOf(how)['condition'] ?? 'service_started' }]] : [],
        ),
      )
    : listed(value)

/** Names and addresses with a colon between, one address each. */
const hostsForNode = (value: unknown): readonly unknown[] =>
  unique(
    isMapping(value)
      ? Object.entries(value).flatMap(([name, addresses]) => listed(addresses).map((address) => `${name}:${String(address)}`))
      : listed(value).map((one) => String(one).replace(/^([^:=]+)=\[?([^\]]*)\]?$/, '$1:$2')),
  )

const healthForNode = (health: Mapping): Mapping => (health['disable'] === true ? { disable: true } : without(health, 'disable'))

const digest = (texts: readonly string[]): string =>
  texts.reduce((hash, text) => hash.update(`${text.length}:`).update(text), createHash('sha256')).digest('hex')
