import { alarmMetrics, isOfNodes, type AlarmRule } from '@zhisuan/contract/omc/alarm'
import { ofOrganisation, organisationLabel, platformOrganisation } from '../query/tenant.ts'
import type { AlarmRow } from './alarm.store.ts'

/** By which an alert says which alarm it is of. */
export const alarmLabel = 'zhisuan_alarm'
export const severityLabel = 'severity'

type Ruled = Pick<AlarmRow, 'id' | 'bp_id' | 'name' | 'rule' | 'for_seconds' | 'no_data' | 'severity'>

/** What is asked, without whose it is. */
function selected(rule: AlarmRule): string {
  if (rule.kind === 'promql') return rule.query
  const nodes = rule.node_ids.length === 0 ? '' : `,node_id=~"${rule.node_ids.join('|')}"`
  return alarmMetrics[rule.metric].expression.replaceAll('SELECTOR', nodes)
}
const narrowed = (query: string, bpId: string | null): string => (bpId === null ? query : ofOrganisation(query, bpId))

/**
 * What of it fires, each series by itself.
 * @throws Refusal where a question of a tenant is none that may be asked
 */
export const firesOf = ({ rule, bp_id }: Pick<Ruled, 'rule' | 'bp_id'>): string =>
  narrowed(rule.kind === 'promql' ? rule.query : `(${selected(rule)}) ${rule.comparison} ${rule.threshold}`, bp_id)

/** What is asked of it, each of which Prometheus has to understand. */
export const questionsOf = (alarm: Pick<Ruled, 'rule' | 'bp_id' | 'no_data'>): string[] => [
  firesOf(alarm),
  ...(alarm.no_data === 'alarm' ? [missing(alarm)] : []),
]

/** That there is nothing to ask of. A question may end with a comment. */
const missing = ({ rule, bp_id }: Pick<Ruled, 'rule' | 'bp_id'>): string => `absent(${narrowed(selected(rule), bp_id)}\n)`

/**
 * What fires, and what goes on of it while its node tells nothing, and is still one of ours (`up` is 0 then): `ALERTS` are
 * Prometheus' own series of what fires. Its value is none then.
 */
const kept = (alarm: Ruled): string => {
  const firing = `ALERTS{alertname="${alarm.id}",alertstate="firing",${alarmLabel}="${alarm.id}"}`
  const silent = `unless on (node_id) (${narrowed(selected(alarm.rule), alarm.bp_id)})`
  const known = `and on (node_id) ${narrowed('up{job="node"}', alarm.bp_id)}`
  return `(${firesOf(alarm)}) or NaN * sum without (alertname, alertstate, ${alarmLabel}, ${severityLabel}) (${firing} ${silent} ${known})`
}

/** Any text as YAML's scalar in double quotes, which is JSON's: lines of it stay lines. */
const quoted = (text: string): string => JSON.stringify(text)
/** What Prometheus would take for a template is none. */
const plain = (text: string): string => text.replaceAll(/[{}]/g, '')

/**
 * The file of rules: a group for each alarm, so that one that takes long keeps no other. An alert has the labels of its
 * series, and by ours it is known which alarm it is of, whatever a series says.
 */
export function rulesFile(alarms: readonly Ruled[]): string {
  const lines = alarms.flatMap((alarm) => {
    const rule = (name: string, expression: string): string[] => [
      `      - alert: ${quoted(name)}`,
      `        expr: ${quoted(expression)}`,
      `        for: ${alarm.for_seconds}s`,
      '        labels:',
      `          ${alarmLabel}: ${quoted(alarm.id)}`,
      `          ${severityLabel}: ${quoted(alarm.severity)}`,
      `          ${organisationLabel}: ${quoted(alarm.bp_id ?? platformOrganisation)}`,
      '        annotations:',
      `          value: '{{ $value }}'`,
      `          name: ${quoted(plain(alarm.name))}`,
    ]
    return [
      `  - name: ${quoted(alarm.id)}`,
      // No limit: beyond one Prometheus tells of none at all, and a large fault is what has to be told.
      '    rules:',
      ...rule(alarm.id, alarm.no_data === 'keep' && isOfNodes(alarm.rule) ? kept(alarm) : firesOf(alarm)),
      ...(alarm.no_data === 'alarm' ? rule(`${alarm.id}-missing`, missing(alarm)) : []),
    ]
  })
  return lines.length === 0 ? 'groups: []\n' : ['groups:', ...lines, ''].join('\n')
}
