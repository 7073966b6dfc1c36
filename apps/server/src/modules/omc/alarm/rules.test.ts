import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alarmMetricNames, alarmMetrics, comparisons, severities, type AlarmMetric } from '@zhisuan/contract/omc/alarm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf, type Told } from './channels.ts'
import { rulesFile } from './rules.ts'

const promtool = '/usr/bin/promtool'
const isMissing = !existsSync(promtool) && process.env['CI'] === undefined
/** What promtool says of some files, the last of which it is asked about. */
function judged(ask: readonly string[], files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-rules-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return execFileSync(promtool, [...ask, join(folder, Object.keys(files).at(-1) ?? '')]).toString()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
const alarm = fc
  .record({
    id: fc.uuid(),
    bp_id: fc.option(fc.uuid()),
    name: fc.string({ unit: fc.constantFrom('节', '点', "'", '"', '{', '}', '$', 'a', ' ', '\\', ':', '#'), minLength: 1, maxLength: 20 }),
    severity: fc.constantFrom(...severities),
    for_seconds: fc.integer({ min: 0, max: 86_400 }),
    no_data: fc.constantFrom('recover' as const, 'keep' as const, 'alarm' as const),
    rule: fc.oneof(
      fc.record({
        kind: fc.constant('metric' as const),
        metric: fc.constantFrom(...alarmMetricNames),
        comparison: fc.constantFrom(...comparisons),
        threshold: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        node_ids: fc.array(fc.uuid(), { maxLength: 3 }),
      }),
      fc.record({ kind: fc.constant('promql' as const), query: fc.constantFrom('up == 0', "rate(a{b='c'}[5m]) > 1 # x", 'sum by (node) (x)\n> 2') }),
    ),
  })
  // Of a question nobody knows what is missing.
  .map((one) => (one.rule.kind === 'promql' && one.no_data === 'keep' ? { ...one, no_data: 'recover' as const } : one))

/** What a node tells where a metric is at some figure, in the metric's unit. */
const seriesOf: Readonly<Record<AlarmMetric, (figure: number) => [name: string, value: number][]>> = {
  node_down: (figure) => [['up', figure]],
  node_cpu: (figure) => [['zhisuan_node_cpu_ratio', figure / 100]],
  node_memory: (figure) => [
    ['zhisuan_node_memory_used_bytes', figure * 10],
    ['zhisuan_node_memory_total_bytes', 1_000],
  ],
  node_disk: (figure) => [
    ['zhisuan_node_disk_used_bytes', figure * 10],
    ['zhisuan_node_disk_total_bytes', 1_000],
  ],
  node_load: (figure) => [['zhisuan_node_load1', figure]],
  gpu_busy: (figure) => [['zhisuan_gpu_ratio', figure / 100]],
  gpu_idle: (figure) => [['zhisuan_gpu_ratio', figure / 100]],
  gpu_temperature: (figure) => [['zhisuan_gpu_temperature_celsius', figure]],
  gpu_lost: (figure) => [['zhisuan_gpu_lost', figure]],
  gpu_errors: (figure) => [['zhisuan_gpu_uncorrected_errors', figure]],
  instance_down: (figure) => [['zhisuan_instance_running', figure]],
  instance_memory: (figure) => [
    ['zhisuan_instance_memory_used_bytes', figure * 10],
    ['zhisuan_instance_memory_total_bytes', 1_000],
  ],
  balance_low: (figure) => [['zhisuan_account_balance_yuan', figure]],
}
/** An alarm of an organisation of its own, and how its node is, or that nothing is heard of it. Figures that a division does not bend. */
const watched = fc.record({
  shown: fc.boolean(),
  figure: fc.constantFrom(0, 1, 25, 50, 75, 100),
  alarm: fc.record({
    id: fc.uuid(),
    bp_id: fc.uuid(),
    name: fc.constantFrom('节点{一}', 'a "b"', "c'd: #"),
    severity: fc.constantFrom(...severities),
    no_data: fc.constantFrom('recover' as const, 'alarm' as const),
    rule: fc.record({
      kind: fc.constant('metric' as const),
      metric: fc.constantFrom(...alarmMetricNames),
      comparison: fc.constantFrom(...comparisons),
      threshold: fc.constantFrom(0, 1, 25, 50.5, 75, 100),
      node_ids: fc.array(fc.uuid(), { maxLength: 2 }),
    }),
    for_seconds: fc.constantFrom(0, 60, 120, 300, 600),
  }),
})
const compared = (figure: number, by: (typeof comparisons)[number], threshold: number): boolean =>
  by === '>' ? figure > threshold : by === '>=' ? figure >= threshold : by === '<' ? figure < threshold : figure <= threshold

describe('rules of alarms', () => {
  it.skipIf(isMissing)('are what Prometheus takes, whatever the form says', () => {
    // A thousand in one file: one that is refused refuses it.
    const all = fc.sample(fc.uniqueArray(alarm, { minLength: 1_000, maxLength: 1_000, selector: ({ id }) => id }), 1)[0] ?? []
    expect(judged(['check', 'rules'], { 'rules.yml': rulesFile(all) })).toMatch(/SUCCESS: \d{4} rules found/)
    expect(rulesFile([])).toBe('groups: []\n')
  })

  it.skipIf(isMissing)('fire as the form says, by what Prometheus makes of them', () => {
    const cases = fc.sample(watched, 100)
    expect(cases.some(({ shown, figure, alarm: { rule } }) => shown && compared(figure, rule.comparison, rule.threshold))).toBe(true)
    const series = cases.flatMap(({ alarm: { rule, bp_id, id }, figure, shown }) =>
      shown
        ? seriesOf[rule.metric](figure).map(([name, value]) => ({
            series: `${name}{job="${alarmMetrics[rule.metric].of}",bp_id="${bp_id}",node_id="${rule.node_ids[0] ?? id}",node="n"}`,
            values: `${value}x20`,
          }))
        : [],
    )
    const tests = cases.flatMap(({ alarm: { id, bp_id, name, rule, severity, no_data, for_seconds }, figure, shown }) => {
      const ours = { zhisuan_alarm: id, severity, bp_id }
      const annotations = (value: string) => ({ value, name: name.replaceAll(/[{}]/g, '') })
      const isBad = shown && compared(figure, rule.comparison, rule.threshold)
      const fires = {
        exp_labels: { ...ours, job: alarmMetrics[rule.metric].of, node_id: rule.node_ids[0] ?? id, node: 'n' },
        exp_annotations: annotations(String(figure)),
      }
      // Of what is computed nobody knows what is missing.
      const isPlain = !alarmMetrics[rule.metric].expression.startsWith('100')
      const misses = { exp_labels: { ...ours, ...(isPlain && { job: alarmMetrics[rule.metric].of }) }, exp_annotations: annotations('1') }
      return [
        { eval_time: '15m', alertname: id, exp_alerts: isBad ? [fires] : [] },
        { eval_time: '15m', alertname: `${id}-missing`, exp_alerts: !shown && no_data === 'alarm' ? [misses] : [] },
        // Not before it was so for as long as it has to be.
        { eval_time: '2m', alertname: id, exp_alerts: isBad && for_seconds <= 120 ? [fires] : [] },
      ]
    })
    const file = { rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [{ interval: '1m', input_series: series, alert_rule_test: tests }] }
    const rules = rulesFile(cases.map((one) => one.alarm))
    // JSON is YAML.
    expect(judged(['test', 'rules'], { 'rules.yml': rules, 'tests.yml': JSON.stringify(file) })).toContain('SUCCESS')
  })

  it.skipIf(isMissing)('go on of what tells nothing any more where that is wished, until it tells something else', () => {
    const one = (no_data: 'keep' | 'recover') => ({
      id: no_data,
      bp_id: '0198c7a4-0000-7000-8000-000000000001',
      name: no_data,
      severity: 'info' as const,
      for_seconds: 60,
      no_data,
      rule: { kind: 'metric' as const, metric: 'node_memory' as const, comparison: '>' as const, threshold: 90, node_ids: [] },
    })
    const of = '{job="node",bp_id="0198c7a4-0000-7000-8000-000000000001",node_id="n"}'
    const gone = of.replace('node_id="n"', 'node_id="gone"')
    const input_series = [
      { series: `zhisuan_node_memory_used_bytes${of}`, values: '950x5 _x20 100x10' },
      { series: `zhisuan_node_memory_total_bytes${of}`, values: '1000x5 _x20 1000x10' },
      { series: `up${of}`, values: '1x5 0x20 1x10' },
      // Another, that is one of ours no more after a while.
      { series: `zhisuan_node_memory_used_bytes${gone}`, values: '950x5' },
      { series: `zhisuan_node_memory_total_bytes${gone}`, values: '1000x5' },
      { series: `up${gone}`, values: '1x5 0x5 stale' },
    ]
    const fires = (id: string, value: string, ...nodes: string[]) =>
      nodes.map((node_id) => ({
        exp_labels: { job: 'node', bp_id: '0198c7a4-0000-7000-8000-000000000001', node_id, zhisuan_alarm: id, severity: 'info' },
        exp_annotations: { value, name: id },
      }))
    const alert_rule_test = [
      { eval_time: '3m', alertname: 'keep', exp_alerts: fires('keep', '95', 'n', 'gone') },
      { eval_time: '3m', alertname: 'recover', exp_alerts: fires('recover', '95', 'n', 'gone') },
      { eval_time: '20m', alertname: 'keep', exp_alerts: fires('keep', 'NaN', 'n') },
      { eval_time: '20m', alertname: 'recover', exp_alerts: [] },
      { eval_time: '30m', alertname: 'keep', exp_alerts: [] },
    ]
    const file = { rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [{ interval: '1m', input_series, alert_rule_test }] }
    const rules = rulesFile([one('keep'), one('recover')])
    expect(judged(['test', 'rules'], { 'rules.yml': rules, 'tests.yml': JSON.stringify(file) })).toContain('SUCCESS')
  })

  it('name whose they are in each selector', () => {
    const bp_id = '0198c7a4-0000-7000-8000-000000000001'
    const text = rulesFile([
      {
        id: 'a',
        bp_id,
        name: 'x',
        severity: 'info',
        for_seconds: 60,
        no_data: 'alarm',
        rule: { kind: 'metric', metric: 'node_memory', comparison: '>', threshold: 90, node_ids: [] },
      },
    ])
    expect(text.match(/bp_id=\\"0198c7a4/g)).toHaveLength(4)
  })
})

describe('a message of many', () => {
  const told = (count: number): Told[] =>
    Array.from({ length: count }, (_, index) => ({
      id: String(index),
      what: 'firing',
      severity: 'critical',
      summary: `内存告警 内存使用率 节点-${index} 当前值 95.2%`,
    }))

  it('has all of them as long as that fits, each made short before any is left out', () => {
    expect(digestOf(told(1), 4_000, 'http://x')).toBe('[严重] 告警：内存告警 内存使用率 节点-0 当前值 95.2%')
    const text = digestOf(told(60), 18_000, 'http://x')
    expect(text.split('\n')).toHaveLength(61)
    expect(text.startsWith('共60条\n')).toBe(true)
  })

  it('names each to a robot of 企业微信, however long its rule is called', () => {
    const storm: Told[] = Array.from({ length: 31 }, (_, index) => ({
      id: String(index),
      what: 'firing',
      severity: 'critical',
      summary: `节点-${index} ${'很长的规则名称'.repeat(9)} 内存使用率 当前值 95.2%`,
    }))
    const text = digestOf(storm, 3_800, 'http://x')
    expect(new Set(text.match(/节点-\d+/g)).size).toBe(31)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3_800)
  })

  it('says how many are left out where even that does not fit', () => {
    const text = digestOf(told(2_000), 3_800, 'http://console')
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3_800)
    expect(text).toMatch(/……另有\d+条，请到平台查看：http:\/\/console$/)
  })
})
