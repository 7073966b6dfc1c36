import { imageName } from '@zhisuan/contract/cis/container'
import { clash, type PortOfNode } from '@zhisuan/contract/cis/ports'
import { isMapping, type Mapping, type Path, type Report } from './compose.parse.ts'
import { file, inside, oldestCompose, type Place } from './compose.places.ts'
import { besides, envFilesOf, isPortFault, keyed, limitsOf, listed, mountOf, portsMax, portsOf, replicasOf, wantsGpu } from './compose.service.ts'

export interface RuleParts {
  readonly report: Report
  /** Whether whoever asks may have a service do on the node what it likes. */
  readonly free: boolean
  /** What of a node may be mounted; `own` where that depends on which node it will be. */
  readonly bind: (path: string) => 'foreign' | 'system' | 'own' | null
  /** Whether it is to run beside what is of other organisations. */
  readonly shared: boolean
  /** Paths of the configs beside the file. */
  readonly files: { has: (path: string) => boolean }
  /** Whether variables are filled in: before, what has one is not judged. */
  readonly filled: boolean
}

const servicesMax = 50
const key = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/
/** What Compose and we know containers by. */
const reserved = /^(com\.docker\.|zhisuan\.)/
const restarts = /^(no|always|unless-stopped|on-failure(:\d{1,5})?)$/

/** As Docker takes them. */
const amount = /^(-1|\d+(\.\d+)?\s?(b|[kmgtp]b?)?)$/i
const duration = /^(?=\S)((\d+(\.\d+)?)h)?((\d+(\.\d+)?)m)?((\d+(\.\d+)?)s)?((\d+(\.\d+)?)ms)?((\d+(\.\d+)?)(us|µs))?((\d+(\.\d+)?)ns)?$/
const exposed = /^\d{1,5}(-\d{1,5})?(\/[A-Za-z]+)?$/
const subnet = /^[0-9A-Fa-f.:]+\/\d{1,3}$/
/** What of the Compose Specification each Compose knows. */
const pulls = /^(always|never|missing|if_not_present)$/
const conditions = /^(service_started|service_healthy|service_completed_successfully)$/

/** Structure, and what may be asked of a node: what passes, the Compose of every node takes. */
export function judge(root: Mapping, parts: RuleParts): void {
  const { report, free, bind, shared, files, filled } = parts
  const open = (value: unknown): boolean => !filled && typeof value === 'string' && value.includes('$')
  const version = oldestCompose
  const mappingAt = (value: unknown): Mapping | null => (isMapping(value) ? value : null)

  /** Whether each thing is what its place wants. */
  const fit = (value: unknown, place: Place, path: Path): void => {
    if (value === null || value === undefined || open(value)) return
    const key = String(path.findLast((part) => typeof part === 'string') ?? '')
    if (Array.isArray(value)) {
      if (place.items === undefined) return report(path, place.scalar === undefined ? 'mapping' : 'text', { key })
      const { items } = place
      return value.forEach((item: unknown, index) => (item === null ? report([...path, index], 'itemEmpty', { key }) : fit(item, items, [...path, index])))
    }
    if (isMapping(value)) {
      if (place.keys === undefined && place.each === undefined) return report(path, place.items === undefined ? 'text' : 'list', { key })
      return Object.entries(value).forEach(([name, one]) => fitKey(name, one, place, [...path, name]))
    }
    if (place.scalar === undefined) return report(path, place.keys === undefined && place.each === undefined ? 'list' : 'mapping', { key })
    const text = String(value)
    if (place.scalar === 'number' && typeof value !== 'number' && text !== place.word) report(path, 'number', { key })
    else if (place.scalar === 'boolean' && typeof value !== 'boolean') report(path, 'boolean', { key })
    else if (place.scalar === 'amount' && !amount.test(text)) report(path, 'amount', { key })
    else if (place.scalar === 'duration' && !duration.test(text)) report(path, 'duration', { key })
  }
  const fitKey = (name: string, value: unknown, place: Place, path: Path): void => {
    if (place.platform?.has(name) === true && !free) report(path, 'forbidden', { key: name })
    const one = inside(place, name)
    if (one !== undefined) fit(value, one, path)
    else if (place.ignored?.has(name) === true) report(path, 'nodeIgnored', { key: name, version }, 'warning')
    else if (place.unknown?.has(name) === true) report(path, 'nodeUnknown', { key: name, version })
    else if (place.silent?.has(name) !== true && name !== 'build' && !name.startsWith('x-')) report(path, 'unknownKey', { key: name })
  }
  const onlyValues = (value: unknown, path: Path, allowed: RegExp): void => {
    if (value === undefined || value === null || free || open(value) || (typeof value === 'string' && allowed.test(value))) return
    report(path, 'forbiddenValue', { key: String(path.findLast((part) => typeof part === 'string')), value: String(value) })
  }
  /** Of what the Specification knows more than the Compose of a node. */
  const nodeValues = (value: unknown, path: Path, known: RegExp): void => {
    if (typeof value === 'string' && !open(value) && !known.test(value))
      report(path, 'nodeValue', { key: String(path.findLast((part) => typeof part === 'string')), value, version })
  }
  const labels = (value: unknown, path: Path): void => {
    for (const [name] of keyed(value)) if (reserved.test(name)) report(path, 'reservedLabel', { value: name })
  }

  fit(root, file, [])
  if ('version' in root) report(['version'], 'versionUnused', {}, 'warning')
  const volumes = mappingAt(root['volumes']) ?? {}
  const networks = mappingAt(root['networks']) ?? {}
  for (const [kind, all, driver] of [
    ['volumes', volumes, /^local$/],
    ['networks', networks, /^bridge$/],
  ] as const) {
    for (const [name, value] of Object.entries(all)) {
      if (!key.test(name)) report([kind, name], 'unknownKey', { key: name })
      const one = mappingAt(value)
      if (one === null) continue
      onlyValues(one['driver'], [kind, name, 'driver'], driver)
      labels(one['labels'], [kind, name, 'labels'])
      for (const [index, range] of listed(mappingAt(one['ipam'])?.['config']).entries()) {
        const said = mappingAt(range)?.['subnet']
        if (typeof said === 'string' && !open(said) && !subnet.test(said)) report([kind, name, 'ipam', 'config', index, 'subnet'], 'subnet', { value: said })
      }
    }
  }

  const services = mappingAt(root['services'])
  const names = Object.keys(services ?? {})
  if (services === null || names.length === 0) return report(['services'], 'noServices')
  if (names.length > servicesMax) return report(['services'], 'tooManyServices', { limit: servicesMax })
  const taken: PortOfNode[] = []

  const judgePorts = (service: Mapping, path: Path): void => {
    for (const [index, value] of listed(service['ports']).entries()) {
      const at = [...path, 'ports', index]
      if (value === null || open(value) || (isMapping(value) && Object.values(value).some(open))) continue
      const ports = portsOf(value)
      const shown = isMapping(value) ? String(value['target'] ?? '') : String(value)
      if (isPortFault(ports)) {
        report(at, ports, { value: shown, limit: portsMax })
        continue
      }
      for (const { host_port, protocol, address } of ports) {
        if (host_port === null) {
          report(at, 'hostPort', { value: shown }, 'warning')
          continue
        }
        const port = { host_port, protocol, ...(address !== undefined && { address }) }
        if (taken.some((other) => clash(other, port))) report(at, 'portTwice', { port: host_port })
        taken.push(port)
      }
    }
  }
  const judgeMounts = (service: Mapping, path: Path): void => {
    const targets = new Set<string>()
    for (const [index, value] of listed(service['volumes']).entries()) {
      const at = [...path, 'volumes', index]
      if (value === null || open(value) || (isMapping(value) && Object.values(value).some(open))) continue
      const mount = mountOf(value)
      // How it is bound, such as to which side of it what is mounted later goes.
      if (!free && isMapping(value) && 'bind' in value) report(at, 'forbidden', { key: 'bind' })
      if (mount === null) {
        report(at, 'volume', { value: isMapping(value) ? String(value['target'] ?? '') : String(value) })
        continue
      }
      const target = mount.target.replace(/\/+$/, '')
      if (targets.has(target)) report(at, 'mountTwice', { value: target })
      targets.add(target)
      if (mount.type === 'bind' && mount.source !== null && !files.has(besides(mount.source))) {
        const refusal = bind(mount.source)
        if (refusal === 'own') report(at, 'bindOwnNodes', { value: mount.source }, 'warning')
        else if (refusal !== null) report(at, refusal === 'system' ? 'bindSystem' : 'bindForbidden', { value: mount.source })
      } else if (mount.type === 'volume' && mount.source !== null && !Object.hasOwn(volumes, mount.source)) report(at, 'volumeUnknown', { value: mount.source })
      const mode = isMapping(value) ? mappingAt(value['tmpfs'])?.['mode'] : undefined
      if (typeof mode === 'string' && !/^(0o?)?[0-7]{3,4}$/.test(mode)) report([...at, 'tmpfs', 'mode'], 'number', { key: 'mode' })
    }
  }
  /** On a node that others share: what keeps them apart, and what they are counted by. */
  const judgeShare = (name: string, service: Mapping, path: Path): void => {
    if (!shared || !filled) return
    const { cpu_limit, memory_limit_bytes } = limitsOf(service)
    if (cpu_limit === null || memory_limit_bytes === null) report(path, 'sharedLimits', { service: name })
    if (wantsGpu(service)) report(path, 'sharedGpu', { service: name })
    for (const key of alone) if (key in service) report([...path, key], 'sharedKey', { key })
    if (/^(bridge|default)$/.test(String(service['network_mode']))) report([...path, 'network_mode'], 'sharedKey', { key: 'network_mode' })
  }
  /** What else Compose says no to. */
  const judgeSense = (service: Mapping, path: Path): void => {
    const deploy = mappingAt(service['deploy'])
    const health = mappingAt(service['healthcheck'])
    const [first] = listed(health?.['test'])
    if (Array.isArray(health?.['test']) && !open(first) && !/^(NONE|CMD|CMD-SHELL)$/.test(String(first))) report([...path, 'healthcheck', 'test'], 'healthTest')
    listed(service['security_opt']).forEach((value, index) => nodeValues(value, [...path, 'security_opt', index], /^no-new-privileges$|^[^=:]+[=:]./))
    nodeValues(service['pull_policy'], [...path, 'pull_policy'], pulls)
    listed(service['expose']).forEach((value, index) => {
      if (value !== null && !open(value) && !exposed.test(String(value))) report([...path, 'expose', index], 'expose', { value: String(value) })
    })
    for (const [name, value] of Object.entries(mappingAt(service['ulimits']) ?? {})) {
      const { soft, hard } = mappingAt(value) ?? {}
      if (isMapping(value) && (soft ?? hard) === undefined) report([...path, 'ulimits', name], 'number', { key: name })
      if (typeof soft === 'number' && typeof hard === 'number' && soft > hard && hard !== -1) report([...path, 'ulimits', name], 'softAboveHard', { key: name })
    }
    const pids = mappingAt(mappingAt(deploy?.['resources'])?.['limits'])?.['pids']
    if (pids !== undefined && service['pids_limit'] !== undefined && pids !== service['pids_limit']) report([...path, 'pids_limit'], 'pidsTwice')
    if (typeof service['network_mode'] === 'string' && listedOrKeyed(service['networks']).length > 0) report([...path, 'network_mode'], 'networkModeTwice')
    for (const [name, value] of Object.entries(mappingAt(service['depends_on']) ?? {})) {
      const at = [...path, 'depends_on', name]
      nodeValues(mappingAt(value)?.['condition'], [...at, 'condition'], conditions)
      if (mappingAt(value)?.['required'] === false && Object.hasOwn(services, name))
        report([...at, 'required'], 'nodeIgnored', { key: 'required', version }, 'warning')
    }
  }

  const judgeService = (serviceName: string, service: Mapping, path: Path): void => {
    const { image, restart } = service
    if ('build' in service) report([...path, 'build'], 'noBuild')
    if (image === undefined || image === null) report(path, 'needsImage', { service: serviceName })
    else if (!open(image) && !imageName.safeParse(image).success) report([...path, 'image'], 'image', { value: String(image) })
    if (restart !== undefined && restart !== null && !open(restart) && !restarts.test(String(restart)))
      report([...path, 'restart'], 'restart', { value: String(restart) })

    const deploy = mappingAt(service['deploy'])
    const replicas = replicasOf(service)
    const said = deploy?.['replicas'] ?? service['scale']
    if (replicas === null && !open(said)) report([...path, deploy?.['replicas'] === undefined ? 'scale' : 'deploy'], 'replicas')
    if ('container_name' in service && (replicas ?? 1) > 1) report([...path, 'container_name'], 'fixedName')

    labels(service['labels'], [...path, 'labels'])
    labels(deploy?.['labels'], [...path, 'deploy', 'labels'])
    onlyValues(service['network_mode'], [...path, 'network_mode'], /^(bridge|none|default|service:.+)$/)
    onlyValues(service['runtime'], [...path, 'runtime'], /^(runc|nvidia)$/)
    listed(service['security_opt']).forEach((option, index) => onlyValues(option, [...path, 'security_opt', index], /^no-new-privileges([:=]true)?$/))
    onlyValues(mappingAt(service['logging'])?.['driver'], [...path, 'logging', 'driver'], /^(json-file|local|none)$/)

    judgePorts(service, path)
    judgeMounts(service, path)
    judgeSense(service, path)
    judgeShare(serviceName, service, path)
    // What an agent can read of its node is not for a service to have.
    for (const one of envFilesOf(service))
      if (one === null || (!open(one.path) && one.required && !files.has(one.path))) report([...path, 'env_file'], 'fileForbidden', { value: one?.path ?? '' })

    for (const value of listedOrKeyed(service['networks']))
      if (value !== 'default' && !open(value) && !Object.hasOwn(networks, value)) report([...path, 'networks'], 'networkUnknown', { value })
    for (const value of needed(service)) if (!open(value) && !Object.hasOwn(services, value)) report([...path, 'depends_on'], 'dependsUnknown', { value })
  }
  for (const [name, value] of Object.entries(services)) {
    if (!key.test(name)) report(['services', name], 'serviceName', { key: name })
    const service = mappingAt(value)
    if (service === null) report(['services', name], 'needsImage', { service: name })
    else judgeService(name, service, ['services', name])
  }
  const circle = circleOf(new Map(Object.entries(services).flatMap(([name, service]) => (isMapping(service) ? [[name, needed(service)] as const] : []))))
  if (circle !== null) report(['services', circle[0] ?? ''], 'dependsCircle', { value: circle.join(' → ') })
}

/** Names and measures that count for the whole node, and limits that others undo. */
const alone = ['container_name', 'mac_address', 'memswap_limit', 'cpu_quota', 'cpu_period', 'cpu_count', 'cpu_percent', 'cpuset', 'external_links']

const listedOrKeyed = (value: unknown): string[] => (isMapping(value) ? Object.keys(value) : listed(value).map(String))

/** Services that have to be there before one. */
function needed(service: Mapping): string[] {
  const { depends_on: depends, links, network_mode: network } = service
  const named = isMapping(depends)
    ? Object.entries(depends).flatMap(([name, how]) => (isMapping(how) && how['required'] === false ? [] : [name]))
    : listed(depends).map(String)
  const linked = listed(links).map((link) => String(link).split(':')[0] ?? '')
  return [...new Set([...named, ...linked, ...(typeof network === 'string' && network.startsWith('service:') ? [network.slice('service:'.length)] : [])])]
}

/** The names of a circle, the first once more at its end; null where there is none. */
function circleOf(after: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>()
  const visit = (name: string, path: readonly string[]): string[] | null => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
    if (done.has(name)) return null
    for (const next of after.get(name) ?? []) {
      const found = visit(next, [...path, name])
      if (found !== null) return found
    }
    done.add(name)
    return null
  }
  for (const name of after.keys()) {
    const found = visit(name, [])
    if (found !== null) return found
  }
  return null
}
