import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alarmMetricNames, comparisons, severities } from '@zhisuan/contract/omc/alarm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf, type Told } from './channels.ts'
import { rulesFile } from './rules.ts'

const promtool = '/usr/bin/promtool'
const alarm = fc.record({
  id: fc.uuid(),
  bp_id: fc.option(fc.uuid()),
  name: fc.string({ unit: fc.constantFrom('节', '点', "'", '"', '{', '}', '$', 'a', ' ', '\\', ':', '#'), minLength: 1, maxLength: 20 }),
  severity: fc.constantFrom(...severities),
  for_seconds: fc.integer({ min: 0, max: 86_400 }),
  no_data: fc.constantFrom('recover' as const, 'alarm' as const),
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

describe('rules of alarms', () => {
  it.skipIf(!existsSync(promtool) && process.env['CI'] === undefined)('are what Prometheus takes, whatever the form says', () => {
    const folder = mkdtempSync(join(tmpdir(), 'zhisuan-rules-'))
    try {
      const file = join(folder, 'rules.yml')
      // A thousand in one file: one that is refused refuses it.
      writeFileSync(file, rulesFile(fc.sample(fc.uniqueArray(alarm, { minLength: 1_000, maxLength: 1_000, selector: ({ id }) => id }), 1)[0] ?? []))
      expect(execFileSync(promtool, ['check', 'rules', file]).toString()).toMatch(/SUCCESS: \d{4} rules found/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    expect(rulesFile([])).toBe('groups: []\n')
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

  it('says how many are left out where even that does not fit', () => {
    const text = digestOf(told(2_000), 3_800, 'http://console')
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3_800)
    expect(text).toMatch(/……另有\d+条，请到平台查看：http:\/\/console$/)
  })
})
