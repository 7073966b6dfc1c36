/**
 * What stands where in a file of Compose, as far as it is for a node: what a scalar is there, and which keys there are. From
 * it follows how a scalar is read (`PIN: 0042` is a text, `retries: 3` a number), what the check refuses, and how a node gets it.
 */
export interface Place {
  /** What a single value is: `amount` is a number of bytes with or without a unit, `duration` such as `1m30s`. */
  readonly scalar?: 'text' | 'number' | 'boolean' | 'amount' | 'duration'
  /** A word that may stand for a number. */
  readonly word?: string
  readonly items?: Place
  /** The items are each another one. */
  readonly unique?: boolean
  readonly keys?: Readonly<Record<string, Place>>
  /** Of a key that has none of its own. */
  readonly each?: Place
  /** Keys that reach beyond the container: into the node, its devices or what others run there. */
  readonly platform?: ReadonlySet<string>
  /** Keys of the Compose Specification that the oldest Compose of a node does not know: what they mean would be lost. */
  readonly unknown?: ReadonlySet<string>
  /** Keys that it does not know either, without which the same comes about: left out, and told. */
  readonly ignored?: ReadonlySet<string>
  /** Keys that are left out without a word: they say how it is anyway, or are written in another way. */
  readonly silent?: ReadonlySet<string>
}

/** What Debian brings, and so the oldest that a node may have: what it does not take is written as it does, or told. */
export const oldestCompose = 'docker-compose 1.29'

const set = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/))
const all = (names: string, place: Place): Readonly<Record<string, Place>> => Object.fromEntries([...set(names)].map((name) => [name, place]))

const text: Place = { scalar: 'text' }
const number: Place = { scalar: 'number' }
const boolean: Place = { scalar: 'boolean' }
const amount: Place = { scalar: 'amount' }
const duration: Place = { scalar: 'duration' }
const texts: Place = { items: text, unique: true }
const textOrTexts: Place = { scalar: 'text', items: text, unique: true }
/** Each word counts, also one that is there already. */
const words: Place = { scalar: 'text', items: text }
const keyed: Place = { items: text, each: text, unique: true }
const rate: Place = { items: { keys: { path: text, rate: amount } } }

const rollout: Place = {
  keys: { ...all('parallelism max_failure_ratio', number), ...all('delay monitor', duration), ...all('failure_action order', text) },
}
const deploy: Place = {
  keys: {
    ...all('mode endpoint_mode', text),
    replicas: number,
    labels: keyed,
    update_config: rollout,
    rollback_config: rollout,
    resources: {
      keys: {
        limits: { keys: { cpus: number, memory: amount, pids: number } },
        reservations: {
          keys: {
            cpus: number,
            memory: amount,
            generic_resources: { items: { keys: { discrete_resource_spec: { keys: { kind: text, value: number } } } } },
            devices: { items: { keys: { capabilities: texts, count: { scalar: 'number', word: 'all' }, device_ids: texts, driver: text, options: keyed } } },
          },
        },
      },
    },
    restart_policy: { keys: { condition: text, ...all('delay window', duration), max_attempts: number } },
    placement: { keys: { constraints: { items: text }, preferences: { items: { keys: { spread: text } } }, max_replicas_per_node: number } },
  },
}
const healthcheck: Place = {
  keys: { test: words, ...all('interval timeout start_period', duration), retries: number, disable: boolean },
  ignored: set('start_interval'),
}
const mount: Place = {
  scalar: 'text',
  keys: {
    ...all('type source target consistency', text),
    read_only: boolean,
    bind: { keys: { propagation: text }, silent: set('create_host_path'), unknown: set('selinux recursive') },
    volume: { keys: { nocopy: boolean }, unknown: set('subpath labels') },
    tmpfs: { keys: { size: amount, mode: text } },
  },
}
const port: Place = {
  scalar: 'text',
  keys: all('target published protocol host_ip mode', text),
  silent: set('name app_protocol'),
}

const service: Place = {
  keys: {
    ...all(
      `
        container_name cpuset domainname hostname image mac_address network_mode platform pull_policy restart runtime stop_signal user working_dir
        cgroup_parent ipc pid userns_mode
      `,
      text,
    ),
    ...all('init read_only stdin_open tty privileged oom_kill_disable', boolean),
    ...all('cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus mem_swappiness oom_score_adj pids_limit scale', number),
    ...all('mem_limit mem_reservation memswap_limit shm_size', amount),
    stop_grace_period: duration,
    ...all('cap_add cap_drop device_cgroup_rules devices dns_opt expose external_links group_add links security_opt volumes_from', texts),
    ...all('dns dns_search tmpfs', textOrTexts),
    ...all('command entrypoint', words),
    ...all('environment labels sysctls', keyed),
    // Of one name there may be many addresses.
    extra_hosts: { items: text, each: textOrTexts, unique: true },
    env_file: { scalar: 'text', items: { scalar: 'text', keys: { path: text, required: boolean, format: text } }, keys: { path: text, required: boolean } },
    depends_on: { items: text, unique: true, each: { keys: { condition: text, required: boolean }, ignored: set('restart') } },
    networks: {
      items: text,
      unique: true,
      each: {
        keys: { ...all('ipv4_address ipv6_address', text), ...all('aliases link_local_ips', texts), priority: number },
        unknown: set('mac_address driver_opts gw_priority interface_name'),
      },
    },
    deploy,
    healthcheck,
    logging: { keys: { driver: text, options: { each: text } } },
    ports: { items: port, unique: true },
    ulimits: { each: { scalar: 'number', keys: all('soft hard', number) } },
    volumes: { items: mount, unique: true },
    blkio_config: {
      keys: {
        ...all('device_read_bps device_read_iops device_write_bps device_write_iops', rate),
        weight: number,
        weight_device: { items: { keys: { path: text, weight: number } } },
      },
    },
  },
  platform: set(`
    blkio_config cap_add cgroup_parent cpu_rt_period cpu_rt_runtime device_cgroup_rules devices external_links ipc oom_kill_disable oom_score_adj pid
    privileged sysctls userns_mode volumes_from
  `),
  unknown: set('annotations attach cgroup credential_spec develop gpus label_file models post_start pre_stop provider storage_opt use_api_socket uts'),
}

const external: Place = { scalar: 'boolean', keys: { name: text } }
const options: Place = { each: text }

/** A whole file. */
export const file: Place = {
  keys: {
    version: text,
    name: text,
    services: { each: service },
    volumes: { each: { keys: { driver: text, labels: keyed, driver_opts: options, external, name: text }, platform: set('driver_opts external name') } },
    networks: {
      each: {
        keys: {
          driver: text,
          labels: keyed,
          driver_opts: options,
          external,
          name: text,
          ...all('internal attachable enable_ipv6', boolean),
          ipam: {
            keys: {
              driver: text,
              options,
              config: { items: { keys: { ...all('subnet ip_range gateway', text), aux_addresses: { each: text } } } },
            },
          },
        },
        platform: set('driver_opts external name'),
        unknown: set('enable_ipv4'),
      },
    },
  },
}

/** What stands below a key or at an index; undefined where nothing is known of it. */
export const inside = (place: Place | undefined, key: string | number): Place | undefined =>
  typeof key === 'number' ? place?.items : place?.keys !== undefined && Object.hasOwn(place.keys, key) ? place.keys[key] : place?.each

const yes = /^(y|yes|true|on)$/i
const no = /^(n|no|false|off)$/i
const numeric = /^-?\d{1,15}(\.\d{1,9})?$/

/** A text as what its place wants; as it is, where it cannot be that. */
export function typed(value: string, place: Place | undefined): string | number | boolean {
  if (place?.scalar === 'number' && numeric.test(value)) return Number(value)
  if (place?.scalar === 'boolean') return yes.test(value) ? true : no.test(value) ? false : value
  return value
}
