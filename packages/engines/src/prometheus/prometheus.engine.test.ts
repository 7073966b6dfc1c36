import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createPrometheus } from './client.ts'
import { prometheusIsThere, startPrometheus, type RunningPrometheus } from './testing.ts'
import type { Prometheus } from './types.ts'

const config = `
global: {scrape_interval: 1s, evaluation_interval: 1s}
scrape_configs:
  - job_name: self
    static_configs: [{targets: ['@SELF@'], labels: {bp_id: one}}]
  - job_name: nobody
    static_configs: [{targets: ['127.0.0.1:1']}]
`

describe.skipIf(!prometheusIsThere)('a Prometheus', () => {
  let running: RunningPrometheus
  let prometheus: Prometheus
  beforeAll(async () => {
    running = await startPrometheus(config)
    prometheus = createPrometheus({ url: running.url, credentials: { kind: 'none' } })
  })
  afterAll(async () => {
    await prometheus.close()
    await running.stop()
  })

  it('is one, and what is not says so', async () => {
    expect(await prometheus.check()).toMatchObject({ version: expect.stringMatching(/^\d/) as string })
    const nobody = createPrometheus({ url: 'http://127.0.0.1:1', credentials: { kind: 'none' } })
    await expect(nobody.check()).rejects.toMatchObject({ kind: 'unreachable' })
  })

  it('tells what it scrapes, and how that went', async () => {
    await vi.waitFor(async () => {
      const targets = await prometheus.targets()
      expect(targets).toHaveLength(2)
      expect(targets.find(({ job }) => job === 'self')).toMatchObject({ health: 'up', error: null, scrapedAt: expect.any(Date) as Date })
      expect(targets.find(({ job }) => job === 'nobody')).toMatchObject({ health: 'down', error: expect.stringContaining('refused') as string })
    })
    expect(await prometheus.rules()).toEqual([])
    await prometheus.reload()
  })

  it('answers for a moment and for a time, also by a stream of ours', async () => {
    await vi.waitFor(async () =>
      expect(await prometheus.query('up{job="self"}')).toMatchObject({
        type: 'vector',
        series: [{ labels: { bp_id: 'one' }, points: [[expect.any(Number), '1']] }],
      }),
    )
    const now = Date.now() / 1_000
    const over = createPrometheus({ url: 'http://prometheus', credentials: { kind: 'none' }, connect: async () => connect(Number(new URL(running.url).port)) })
    const range = await over.queryRange('up{job="self"}', { start: now - 10, end: now, step: 1 })
    expect(range).toMatchObject({ type: 'matrix', series: [{ labels: { job: 'self' } }] })
    expect(await over.query('1 + 1')).toMatchObject({ type: 'scalar', series: [{ points: [[expect.any(Number), '2']] }] })
    await over.close()
  })

  it('says what is wrong with a question, and stops where one takes too long or tells too much', async () => {
    await expect(prometheus.query('up{')).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('parse error') as string })
    await expect(prometheus.query('{__name__=~".+"}', { mostBytes: 1_000 })).rejects.toMatchObject({ kind: 'exhausted' })
    const bomb = 'count_over_time((count_over_time(vector(1)[365d:1s]))[365d:1s])'
    const since = Date.now()
    await expect(prometheus.query(bomb, { timeoutMs: 500 })).rejects.toMatchObject({ kind: 'exhausted' })
    expect(Date.now() - since).toBeLessThan(2_000)
    const { signal } = Object.assign(new AbortController(), {})
    await expect(prometheus.query('up', { signal: AbortSignal.abort(signal.reason) })).rejects.toMatchObject({ kind: 'cancelled' })
  })
})
