import { parser } from '@prometheus-io/lezer-promql'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ofOrganisation } from './tenant.ts'
import { arbitraryQuery, selectorsOf } from './tenant.testing.ts'

const bpId = '0198c7a4-0000-7000-8000-000000000001'
const own = `bp_id="${bpId}"`

describe('a question of a tenant', () => {
  it.each([
    ['up', `up{${own}}`],
    ['up{}', `up{${own},}`],
    ['{job="x"}', `{${own},job="x"}`],
    ['{__name__=~".+"}', `{${own},__name__=~".+"}`],
    ['rate(a[5m] offset 1h)', `rate(a{${own}}[5m] offset 1h)`],
    ['max_over_time(sum by (job) (a{x!~"b"} @ end())[1h:5m])', `max_over_time(sum by (job) (a{${own},x!~"b"} @ end())[1h:5m])`],
    ['a / on (node_id) group_left (name) b', `a{${own}} / on (node_id) group_left (name) b{${own}}`],
    ['label_replace(a, "bp_id", "$1", "job", "(.*)")', `label_replace(a{${own}}, "bp_id", "$1", "job", "(.*)")`],
    ['absent(a{b="}\\"{"})', `absent(a{${own},b="}\\"{"})`],
    ['sum # {\n(a)', `sum  \n(a{${own}})`],
    ['avg + max', `avg{${own}} + max{${own}}`],
    ['1 + vector(2)', '1 + vector(2)'],
  ])('%s is about its own series', (asked, narrowed) => {
    expect(ofOrganisation(asked, bpId)).toBe(narrowed)
  })

  it.each([
    ['up{bp_id="other"}', 98609],
    ['up{bp_id=~".*"}', 98609],
    ['sum(up{job="a",bp_id!="x"})', 98609],
    ['{"bp_id"="other"}', 98608],
    ['{"up"}', 98608],
    ['info(up)', 98612],
    ['up{', 98608],
    ['up)', 98608],
    ['up or', 98608],
    ['{a="b" or bp_id="c"}', 98608],
    ['a{b="c', 98608],
    ['a # \rb', 98608],
    ['vector(1)\u00a0+ a', 98608],
    ['WITH (x = up) x', 98608],
    ['', 98608],
  ])('%s is refused', (asked) => {
    expect(() => ofOrganisation(asked, bpId)).toThrow(/查询语句|标签|函数/)
  })

  it('names its organisation in each selector, whatever it is', () => {
    fc.assert(
      fc.property(arbitraryQuery, (query) => {
        const selectors = selectorsOf(ofOrganisation(query, bpId))
        expect(selectors).toHaveLength(selectorsOf(query).length)
        for (const selector of selectors) expect(selector).toContain(`{${own}`)
      }),
      { numRuns: 500 },
    )
  })

  it('says the same of what it has said already, but for the name', () => {
    const tree = parser.parse(ofOrganisation('sum(rate(a{b="c"}[5m])) by (d) > 0', bpId)).toString()
    expect(tree).not.toContain('⚠')
  })
})
