import { imageName } from '@zhisuan/contract/cis/container'
import { isMapping, type Mapping, type Path, type Report } from './compose.parse.ts'
import { besides, keyed, listed, mountOf, portsOf, replicasOf } from './compose.service.ts'

export interface RuleParts {
  readonly report: Report
  /** Whether whoever asks may have a service do on the node what it likes. */
  readonly free: boolean
  /** What of a node may be mounted; `own` where that depends on which node it will be. */
  readonly bind: (path: string) => 'foreign' | 'system' | 'own' | null
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

const rootKeys = new Set(['version', 'name', 'services', 'volumes', 'networks'])
/** What only changes the container itself. Whatever is not here is not passed on to a node. */
const serviceKeys = new Set(
  `
    cap_drop command container_name cpu_count cpu_percent cpu_period cpu_quota cpu_shares cpus cpuset depends_on deploy dns dns_opt dns_search
    domainname entrypoint env_file environment expose extra_hosts group_add healthcheck hostname image init labels links logging mac_address
    mem_limit mem_reservation mem_swappiness memswap_limit network_mode networks pids_limit platform ports pull_policy read_only restart runtime
    scale security_opt shm_size stdin_open stop_grace_period stop_signal tmpfs tty ulimits user volumes working_dir
  `
    .trim()
    .split(/\s+/),
)
/** What reaches beyond the container: into the node, its devices or what others run there. */
const platformKeys = new Set(
  `
    annotations blkio_config cap_add cgroup cgroup_parent cpu_rt_period cpu_rt_runtime device_cgroup_rules devices external_links ipc
    oom_kill_disable oom_score_adj pid privileged sysctls userns_mode uts volumes_from
  `
    .trim()
    .split(/\s+/),
)
const deployKeys = new Set('mode replicas resources restart_policy labels placement update_config rollback_config endpoint_mode'.split(' '))
const healthKeys = new Set('test interval timeout retries start_period start_interval disable'.split(' '))
const volumeKeys = new Set('driver labels'.split(' '))
const networkKeys = new Set('driver internal ipam attachable enable_ipv6 labels'.split(' '))
const platformResourceKeys = new Set('driver_opts external name'.split(' '))

/** Structure, and what may be asked of a node. What is left, compose on the node says. */
export function judge(root: Mapping, parts: RuleParts): void {
  const { report, free, bind, files, filled } = parts
  const open = (value: unknown): boolean => !filled && typeof value === 'string' && value.includes('$')
  const mappingAt = (value: unknown, path: Path): Mapping | null => {
    if (isMapping(value)) return value
    if (value !== null && value !== undefined) report(path, 'mapping', { key: String(path.at(-1)) })
    return null
  }
  const onlyKeys = (value: Mapping, path: Path, known: ReadonlySet<string>, platform: ReadonlySet<string> = new Set()): void => {
    for (const name of Object.keys(value)) {
      if (known.has(name) || name.startsWith('x-')) continue
      if (!platform.has(name)) report([...path, name], 'unknownKey', { key: name })
      else if (!free) report([...path, name], 'forbidden', { key: name })
    }
  }
  const onlyValues = (value: unknown, path: Path, allowed: RegExp): void => {
    if (value === undefined || value === null || free || open(value) || (typeof value === 'string' && allowed.test(value))) return
    report(path, 'forbiddenValue', { key: String(path.at(-1)), value: String(value) })
  }
  const labels = (value: unknown, path: Path): void => {
    for (const [name] of keyed(value)) if (reserved.test(name)) report(path, 'reservedLabel', { value: name })
  }

  onlyKeys(root, [], rootKeys)
  if ('version' in root) report(['version'], 'versionUnused', {}, 'warning')
  const volumes = mappingAt(root['volumes'], ['volumes']) ?? {}
  const networks = mappingAt(root['networks'], ['networks']) ?? {}
  for (const [kind, all, known, driver] of [
    ['volumes', volumes, volumeKeys, /^local$/],
    ['networks', networks, networkKeys, /^bridge$/],
  ] as const) {
    for (const [name, value] of Object.entries(all)) {
      if (!key.test(name)) report([kind, name], 'unknownKey', { key: name })
      const one = mappingAt(value, [kind, name])
      if (one === null) continue
      onlyKeys(one, [kind, name], known, platformResourceKeys)
      onlyValues(one['driver'], [kind, name, 'driver'], driver)
      labels(one['labels'], [kind, name, 'labels'])
    }
  }

  const services = mappingAt(root['services'], ['services'])
  const names = Object.keys(services ?? {})
  if (services === null || names.length === 0) return report(['services'], 'noServices')
  if (names.length > servicesMax) return report(['services'], 'tooManyServices', { limit: servicesMax })
  const taken = new Set<string>()

  const judgeService = (serviceName: string, service: Mapping, path: Path): void => {
    onlyKeys(service, path, serviceKeys, platformKeys)
    const { image, restart } = service
    if ('build' in service) report([...path, 'build'], 'noBuild')
    if (image === undefined || image === null) report(path, 'needsImage', { service: serviceName })
    else if (!open(image) && !imageName.safeParse(image).success) report([...path, 'image'], 'image', { value: String(image) })
    if (restart !== undefined && !open(restart) && !restarts.test(String(restart))) report([...path, 'restart'], 'restart', { value: String(restart) })
    for (const name of ['ports', 'volumes', 'expose', 'cap_drop', 'security_opt', 'group_add'] as const)
      if (service[name] !== undefined && service[name] !== null && !Array.isArray(service[name])) report([...path, name], 'list', { key: name })

    const deploy = mappingAt(service['deploy'], [...path, 'deploy'])
    if (deploy !== null) onlyKeys(deploy, [...path, 'deploy'], deployKeys)
    const health = mappingAt(service['healthcheck'], [...path, 'healthcheck'])
    if (health !== null) onlyKeys(health, [...path, 'healthcheck'], healthKeys)
    const replicas = replicasOf(service)
    const said = deploy?.['replicas'] ?? service['scale']
    if (replicas === null && !open(said)) report([...path, deploy?.['replicas'] === undefined ? 'scale' : 'deploy'], 'replicas')
    if ('container_name' in service && (replicas ?? 1) > 1) report([...path, 'container_name'], 'fixedName')

    labels(service['labels'], [...path, 'labels'])
    onlyValues(service['network_mode'], [...path, 'network_mode'], /^(bridge|none|default|service:.+)$/)
    onlyValues(service['runtime'], [...path, 'runtime'], /^(runc|nvidia)$/)
    listed(service['security_opt']).forEach((option, index) => onlyValues(option, [...path, 'security_opt', index], /^no-new-privileges([:=]true)?$/))
    const logging = mappingAt(service['logging'], [...path, 'logging'])
    onlyValues(logging?.['driver'], [...path, 'logging', 'driver'], /^(json-file|local|none)$/)

    for (const [index, value] of listed(service['ports']).entries()) {
      const at = [...path, 'ports', index]
      if (open(value) || (isMapping(value) && Object.values(value).some(open))) continue
      const ports = portsOf(value)
      const shown = isMapping(value) ? String(value['target'] ?? '') : String(value)
      if (ports === null) report(at, 'port', { value: shown })
      for (const { host_port, protocol } of ports ?? []) {
        if (host_port === null) report(at, 'hostPort', { value: shown }, 'warning')
        else if (taken.has(`${host_port}/${protocol}`)) report(at, 'portTwice', { port: host_port })
        taken.add(`${host_port ?? ''}/${protocol}`)
      }
    }
    for (const [index, value] of listed(service['volumes']).entries()) {
      const at = [...path, 'volumes', index]
      if (open(value) || (isMapping(value) && Object.values(value).some(open))) continue
      const mount = mountOf(value)
      // How it is bound, such as to which side of it what is mounted later goes.
      if (!free && isMapping(value) && 'bind' in value) report(at, 'forbidden', { key: 'bind' })
      if (mount === null) report(at, 'volume', { value: isMapping(value) ? String(value['target'] ?? '') : String(value) })
      else if (mount.type === 'bind' && mount.source !== null && !files.has(besides(mount.source))) {
        const refusal = bind(mount.source)
        if (refusal === 'own') report(at, 'bindOwnNodes', { value: mount.source }, 'warning')
        else if (refusal !== null) report(at, refusal === 'system' ? 'bindSystem' : 'bindForbidden', { value: mount.source })
      } else if (mount.type === 'volume' && mount.source !== null && !Object.hasOwn(volumes, mount.source)) report(at, 'volumeUnknown', { value: mount.source })
    }
    // What an agent can read of its node is not for a service to have.
    for (const value of listed(service['env_file']))
      if (!open(value) && (typeof value !== 'string' || !files.has(besides(value))))
        report([...path, 'env_file'], 'fileForbidden', { value: isMapping(value) ? String(value['path'] ?? '') : String(value) })

    for (const value of namesIn(service['networks']))
      if (value !== 'default' && !open(value) && !Object.hasOwn(networks, value)) report([...path, 'networks'], 'networkUnknown', { value })
    for (const value of namesIn(service['depends_on']))
      if (!open(value) && !Object.hasOwn(services, value)) report([...path, 'depends_on'], 'dependsUnknown', { value })
  }
  for (const [name, value] of Object.entries(services)) {
    if (!key.test(name)) report(['services', name], 'serviceName', { key: name })
    const service = mappingAt(value, ['services', name])
    if (service === null) report(['services', name], 'needsImage', { service: name })
    else judgeService(name, service, ['services', name])
  }
}

const namesIn = (value: unknown): string[] => (isMapping(value) ? Object.keys(value) : listed(value).map(String))
