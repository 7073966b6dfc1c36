import type { KeptWanted } from '@zhisuan/contract/agent/kept'
import type { PrometheusSettings } from '@zhisuan/contract/omc/monitor'
import { scrapePath } from '../scrape/paths.ts'

/** Among its files: what it evaluates. */
export const rulesPath = 'rules.yml'
const noRules = 'groups: []\n'
const loopback = '127.0.0.1'
/** So much it may look at for one question. */
const samplesMost = 5_000_000

/** What one target may tell: more of it is none. */
const bounds = ['    sample_limit: 100000', '    label_limit: 64', '    label_value_length_limit: 2048']

/** Any text as YAML's quoted scalar. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** From whom a Prometheus learns what there is to scrape, and through whom it scrapes what it does not reach itself. */
export interface ScrapeSource {
  readonly id: string
  /** Where it reaches us. */
  readonly base: string
}

/**
 * Its jobs, as lines of YAML. Who is scraped by our address is sent the token; whoever else is not. Neither may say whose
 * it is: `honor_labels` stays off, so that a label of discovery wins over one that a target tells.
 * @param token how the token is given: `credentials: …` or `credentials_file: …`
 * @param direct whether it also scrapes what its own node has at its loopback address
 */
export function scrapeConfigs({ id, base }: ScrapeSource, token: string, direct: boolean): string[] {
  const discovery = (through: 'server' | 'node'): string[] => [
    '    http_sd_configs:',
    `      - url: ${quoted(new URL(`${scrapePath(id)}/targets?through=${through}`, base).href)}`,
    '        refresh_interval: 10s',
    `        authorization: {type: Bearer, ${token}}`,
  ]
  return [
    'scrape_configs:',
    '  - job_name: zhisuan',
    '    honor_labels: false',
    ...bounds,
    ...discovery('server'),
    `    authorization: {type: Bearer, ${token}}`,
    ...(direct ? ['  - job_name: zhisuan-node', '    honor_labels: false', ...bounds, ...discovery('node')] : []),
  ]
}

/** A Prometheus as its node keeps it: at its loopback address, which the platform reaches through the tunnel. */
export function wantedPrometheus(source: ScrapeSource, { port, secret, settings }: { port: number; secret: string; settings: PrometheusSettings }): KeptWanted {
  const base = new URL(source.base)
  const token = "credentials_file: '${KEPT_FILES}/token'"
  const config = [
    'global:',
    `  scrape_interval: ${settings.scrape_interval_seconds}s`,
    `  scrape_timeout: ${Math.min(10, settings.scrape_interval_seconds)}s`,
    `  evaluation_interval: ${settings.scrape_interval_seconds}s`,
    `rule_files: ['\${KEPT_FILES}/${rulesPath}']`,
    'alerting:',
    '  alertmanagers:',
    `    - scheme: ${base.protocol.slice(0, -1)}`,
    `      path_prefix: ${quoted(scrapePath(source.id))}`,
    '      api_version: v2',
    `      authorization: {type: Bearer, ${token}}`,
    `      static_configs: [{targets: [${quoted(base.host)}]}]`,
    ...scrapeConfigs(source, token, true),
    '',
  ].join('\n')
  return {
    name: 'prometheus',
    program: { kind: 'path', name: 'prometheus', version_arguments: ['--version'] },
    arguments: [
      '--config.file=${KEPT_FILES}/prometheus.yml',
      '--storage.tsdb.path=${KEPT_DATA}',
      `--storage.tsdb.retention.time=${settings.retention_days}d`,
      ...(settings.retention_gb === null ? [] : [`--storage.tsdb.retention.size=${settings.retention_gb}GB`]),
      `--web.listen-address=${loopback}:${port}`,
      `--query.max-samples=${samplesMost}`,
      '--query.timeout=30s',
      // What we did not take is told again so soon.
      '--rules.alert.resend-delay=15s',
      // What went on when it was started anew goes on, and does not begin again.
      '--rules.alert.for-grace-period=0s',
      '--log.level=warn',
    ],
    files: [
      { path: 'prometheus.yml', text: config },
      { path: rulesPath, text: noRules },
      { path: 'token', text: secret, secret: true, mode: 0o600 },
    ],
    ports: [{ port, address: loopback }],
    data: {},
    health: { kind: 'http', port, path: '/-/ready' },
    health_times: { every_ms: 2_000 },
    stop: { timeout_ms: 60_000 },
    // It goes on with what it had where it does not understand what is new, and says that it is well: so it is started anew.
    reload_signal: null,
  }
}

/** The same with these rules. */
export const withRules = <W extends Pick<KeptWanted, 'files'>>(wanted: W, text: string): W => ({
  ...wanted,
  files: (wanted.files ?? []).map((file) => (file.path === rulesPath ? { ...file, text } : file)),
})

/** What tells of the node that it runs on, to whoever asks at its loopback address. */
export const wantedNodeExporter = (port: number): KeptWanted => ({
  name: 'node-exporter',
  program: { kind: 'path', name: 'prometheus-node-exporter', version_arguments: ['--version'] },
  arguments: [`--web.listen-address=${loopback}:${port}`, '--log.level=warn'],
  ports: [{ port, address: loopback }],
  health: { kind: 'http', port, path: '/' },
  health_times: { every_ms: 2_000 },
})
