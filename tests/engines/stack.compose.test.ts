import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileForNode } from '../../apps/server/src/modules/aos/compose/compose.node.ts'
import { checkCompose, judged, prepare } from '../../apps/server/src/modules/aos/compose/compose.ts'
import { file, oldestCompose, type Place } from '../../apps/server/src/modules/aos/compose/compose.places.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'

const isInstalled = spawnSync('docker-compose', ['version', '--short']).status === 0 || process.env['CI'] !== undefined

/** What places hold that take not just anything; the others have a word or a number. */
const examples: Readonly<Record<string, unknown>> = {
  version: '3.9',
  'services.*.image': 'app:1',
  'services.*.restart': 'on-failure:3',
  'services.*.network_mode': 'bridge',
  'services.*.ipc': 'private',
  'services.*.pid': 'host',
  'services.*.pull_policy': 'missing',
  'services.*.security_opt': ['no-new-privileges:true'],
  'services.*.expose': [8_080, '53/udp'],
  'services.*.depends_on': ['other'],
  'services.*.depends_on.*': { condition: 'service_healthy', required: false, restart: true },
  'services.*.links': ['other:o'],
  'services.*.networks': ['front'],
  'services.*.networks.*': { aliases: ['a'], ipv4_address: '10.9.0.2', priority: 1 },
  'services.*.devices': ['/dev/null:/dev/null'],
  'services.*.external_links': ['elsewhere:e'],
  'services.*.volumes_from': ['other'],
  'services.*.extra_hosts': ['a=192.0.2.1', 'b:192.0.2.2'],
  'services.*.env_file': 'app.env',
  'services.*.environment': [],
  'services.*.healthcheck.test': ['CMD', 'true'],
  'services.*.ports': [
    8_080,
    '127.0.0.1:53:53/udp',
    '[::1]:9000-9001:90-91',
    { target: 80, published: '8081', host_ip: '192.0.2.1', mode: 'host', name: 'web' },
  ],
  'services.*.volumes': [
    'data:/data:ro',
    '/cache',
    '/srv/x:/x',
    { type: 'volume', source: 'data', target: '/nocopy', volume: { nocopy: true } },
    { type: 'bind', source: '/srv/y', target: '/y', bind: { propagation: 'rslave', create_host_path: true } },
    { type: 'tmpfs', target: '/memory', tmpfs: { size: '64m', mode: 1_777 } },
    { type: 'tmpfs', target: '/plain', tmpfs: { size: 1_048_576 } },
  ],
  'services.*.tmpfs': ['/run', '/tmp:size=64m'],
  'services.*.ulimits': { nproc: 65_535, nofile: { soft: 20_000, hard: 40_000 } },
  'services.*.blkio_config': { weight: 300, weight_device: [{ path: '/dev/sda', weight: 400 }], device_read_bps: [{ path: '/dev/sda', rate: '12mb' }] },
  'services.*.deploy.resources.reservations.devices': [{ driver: 'nvidia', count: 'all', capabilities: ['gpu'], options: { a: 'b' } }],
  'services.*.deploy.update_config.order': 'start-first',
  'services.*.deploy.rollback_config.order': 'stop-first',
  'volumes.*.external': false,
  'networks.*.external': false,
  'networks.*.ipam.config': [{ subnet: '10.9.0.0/24', gateway: '10.9.0.1', aux_addresses: { a: '10.9.0.3' } }],
}
/** Keys of which not both can be said. */
const apart: Readonly<Record<string, readonly string[]>> = { 'services.*': ['network_mode', 'networks', 'scale', 'container_name', 'pids_limit'] }

function exampleOf(place: Place, path: string): unknown {
  if (path in examples) return examples[path]
  if (place.keys !== undefined)
    return Object.fromEntries(
      Object.entries(place.keys)
        .filter(([key]) => apart[path]?.includes(key) !== true)
        .map(([key, one]) => [key, exampleOf(one, `${path === '' ? '' : `${path}.`}${key}`)]),
    )
  if (place.scalar === 'number') return 2
  if (place.scalar === 'boolean') return true
  if (place.scalar === 'amount') return '64m'
  if (place.scalar === 'duration') return '1m30s'
  if (place.items !== undefined) return [exampleOf(place.items, `${path}[]`)]
  if (place.each !== undefined) return { a: exampleOf(place.each, `${path}.*`) }
  return 'word'
}

/** What the check lets pass, the Compose of a node takes: the one that Debian brings. */
describe.skipIf(!isInstalled)('each key that a compose file may have', () => {
  let folder: TemporaryFolder
  beforeAll(() => {
    folder = temporaryFolder('compose-keys')
  })
  afterAll(() => folder?.remove())

  const service = file.keys?.['services']?.each
  const whole = exampleOf(service ?? {}, 'services.*') as Record<string, unknown>
  const resources = {
    volumes: { data: exampleOf(file.keys?.['volumes']?.each ?? {}, 'volumes.*') },
    networks: { front: exampleOf(file.keys?.['networks']?.each ?? {}, 'networks.*') },
  }
  const other = { image: 'other:1' }
  const configs = [{ path: 'app.env', config_id: 'c' }]
  const files = new Map([['app.env', 'A=1\nB="x ${A}"\n']])

  const config = (text: string, values: Record<string, string> = {}): Record<string, unknown> => {
    const problems = checkCompose(text, judged(configs)).problems.filter(({ severity }) => severity === 'error')
    expect(problems, text).toEqual([])
    const given = new Map(Object.entries(values))
    const written = fileForNode(prepare(text, given, judged(configs)).root, { stack_id: 's', files, values: given })
    const path = join(folder.path, 'docker-compose.yml')
    writeFileSync(path, written)
    const { status, stdout, stderr } = spawnSync('docker-compose', ['-f', path, 'config'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', SECRET: 'of the agent' },
    })
    expect({ status, stderr: status === 0 ? '' : stderr, written: status === 0 ? '' : written }).toEqual({ status: 0, stderr: '', written: '' })
    return { text: stdout }
  }

  it('is taken, all of them in one file', () => {
    config(stringify({ version: '3.9', name: 'shop', services: { web: whole, other }, ...resources }))
  })

  it.each(['network_mode', 'scale', 'container_name', 'pids_limit'])('and those that exclude others, such as %s', (key) => {
    config(stringify({ services: { web: { image: 'app:1', [key]: exampleOf(service?.keys?.[key] ?? {}, `services.*.${key}`) } } }))
  })

  it.each([
    'environment: { DEBUG: true, PORT: 8080, RATIO: 1.10, EMPTY: , NAMED: ~ }',
    'environment: [DEBUG=true, HOME, SECRET]',
    'environment: [A=1, A=1]',
    'logging: { driver: json-file, options: { max-size: 10m, max-file: 3 } }',
    'user: 1000',
    'hostname: 1',
    'command: [sleep, 600, true]',
    'entrypoint: [/run, 1, 1]',
    'labels: { a: true, b: 1.10, c: }',
    'labels: [a, a, b=1]',
    'deploy: { resources: { limits: { pids: 100, cpus: 0.5, memory: 536870912 }, reservations: { memory: 64m } } }',
    'deploy: { replicas: 2 }\nscale: 2',
    'healthcheck: { test: curl, interval: 10s, start_interval: 1s, retries: "3" }',
    'healthcheck: { disable: true, interval: 10s }',
    'depends_on: { other: { condition: service_started, restart: true, required: true } }',
    'depends_on: { missing: { condition: service_started, required: false } }',
    'depends_on: { other: {} }',
    'pull_policy: missing',
    'volumes: [{ type: tmpfs, target: /t, tmpfs: { size: 1g, mode: 0755 } }]',
    'volumes: [{ source: data, target: /d }]',
    'ports: [{ target: 53, published: 53, protocol: udp, host_ip: 127.0.0.1, app_protocol: dns }]',
    'ports: [{ target: 80, published: "8080-8090" }]',
    'extra_hosts: { a: 192.0.2.1, b: [192.0.2.2, "2001:db8::1"] }',
    'networks: { default: , front: { priority: 1 } }',
    'ulimits: { nofile: "1024" }\nmem_limit: 536870912\nmem_reservation: 0.5g\ncpus: "1.5"\nshm_size: 1gb\nstop_grace_period: 90s',
    'read_only: yes\ninit: on\ntty: no',
    'expose: [80, 80, "443"]\ncap_drop: [ALL, ALL]\ndns: [192.0.2.1, 192.0.2.1]',
    'environment:\nports:\nvolumes:\nlabels:\ncommand:\ndeploy:\nhealthcheck:',
    'env_file: [{ path: app.env, required: true }, { path: missing.env, required: false }]',
    'x-note: 1\nhealthcheck: { x-note: 1, test: ["CMD", "true"] }',
    'stop_signal: 9\nworking_dir: /x\ndomainname: a.b\ncpuset: 0\ngroup_add: [1000, 1000]',
  ])('and however it is written: %s', (lines) => {
    const indented = lines.split('\n').map((line) => `    ${line}\n`)
    const { text } = config(`services:\n  web:\n    image: app:1\n${indented.join('')}  other: { image: other:1 }\nvolumes:\n  data:\nnetworks:\n  front:\n`)
    expect(text).not.toContain('of the agent')
    expect(text).not.toMatch(/(HOME|SECRET|NAMED|EMPTY)/)
  })

  it('of the version that people are told of', () => {
    const version = execFileSync('docker-compose', ['version', '--short'], { encoding: 'utf8' })
    expect(oldestCompose).toBe(`docker-compose ${/^\d+\.\d+/.exec(version)?.[0] ?? ''}`)
  })
})
