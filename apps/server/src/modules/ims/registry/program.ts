import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import type { ServerCertificate } from './authority.ts'

/** Debian's package: lies on the node, or the preflight says that it is missing. */
const program: KeptWanted['program'] = { kind: 'path', name: 'docker-registry', version_arguments: ['--version'] }
/** Its data are its own: the collector is the same user. */
const user = 'zs-registry'
const stopMs = 20_000

/** So long a collection may take on its node, which ends it then whoever is away. */
export const collectSeconds = 45

export interface RegistryProgram {
  readonly host: string
  readonly port: number
  readonly certificate: ServerCertificate
  /** `auth.token` of its configuration. */
  readonly tokens: { readonly realm: string; readonly service: string; readonly issuer: string; readonly certificate: string }
  /** `notifications` of its configuration. */
  readonly notifications: { readonly url: string; readonly secret: string }
}

/** Any text as YAML's quoted scalar. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const isLoopback = (host: string): boolean => host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'))

/** Where the configuration has its data. No cache of what is there: the collector takes away what it would remember. */
const storage = [
  'version: 0.1',
  'log: {level: warn, accesslog: {disabled: true}}',
  'storage:',
  "  filesystem: {rootdirectory: '${KEPT_DATA}'}",
  '  delete: {enabled: true}',
]

/** A registry as its node keeps it: CNCF distribution with TLS, our tokens, and telling us of pushes and pulls. */
export function wantedRegistry({ host, port, certificate, tokens, notifications }: RegistryProgram): KeptWanted {
  const local = isLoopback(host)
  const config = [
    ...storage,
    '  maintenance: {uploadpurging: {enabled: true, age: 48h, interval: 6h, dryrun: false}}',
    'http:',
    `  addr: '${local ? '127.0.0.1' : ''}:${port}'`,
    `  secret: ${quoted(randomBytes(32).toString('base64url'))}`,
    '  relativeurls: true',
    '  tls:',
    "    certificate: '${KEPT_FILES}/tls.crt'",
    "    key: '${KEPT_FILES}/tls.key'",
    '  headers: {X-Content-Type-Options: [nosniff]}',
    'auth:',
    '  token:',
    `    realm: ${quoted(tokens.realm)}`,
    `    service: ${quoted(tokens.service)}`,
    `    issuer: ${quoted(tokens.issuer)}`,
    "    rootcertbundle: '${KEPT_FILES}/tokens.crt'",
    'notifications:',
    '  endpoints:',
    '    - name: zhisuan',
    `      url: ${quoted(notifications.url)}`,
    '      headers:',
    `        Authorization: [${quoted(`Bearer ${notifications.secret}`)}]`,
    '      timeout: 2s',
    '      threshold: 5',
    '      backoff: 1s',
    '',
  ].join('\n')
  return {
    name: 'registry',
    program,
    user,
    arguments: ['serve', '${KEPT_FILES}/config.yml'],
    files: [
      { path: 'config.yml', text: config, secret: true, mode: 0o600 },
      { path: 'tls.crt', text: certificate.certificate },
      { path: 'tls.key', text: certificate.key, secret: true, mode: 0o600 },
      { path: 'tokens.crt', text: tokens.certificate },
    ],
    ports: [{ port, address: local ? '127.0.0.1' : '0.0.0.0' }],
    data: {},
    health: { kind: 'http', scheme: 'https', port, path: '/' },
    health_times: { every_ms: 2_000 },
    stop: { timeout_ms: stopMs },
  }
}

/** The same with another certificate. */
export function withCertificate(wanted: KeptWanted, { certificate, key }: ServerCertificate): KeptWanted {
  const texts: Readonly<Record<string, string>> = { 'tls.crt': certificate, 'tls.key': key }
  return { ...wanted, files: (wanted.files ?? []).map((file) => ({ ...file, text: texts[file.path] ?? file.text })) }
}

/** Its garbage collection (`docker-registry garbage-collect`): what no manifest leads to goes. Manifests without a name stay: the bin has them. */
export const wantedCollector = (dataPath: string): KeptWanted => ({
  name: 'registry-collect',
  program: { kind: 'path', name: 'timeout', version_arguments: null },
  user,
  arguments: ['--signal=KILL', String(collectSeconds), 'docker-registry', 'garbage-collect', '${KEPT_FILES}/config.yml'],
  files: [{ path: 'config.yml', text: [...storage, ''].join('\n') }],
  data: { path: dataPath, adopt: true },
  restart: { policy: 'never' },
})
