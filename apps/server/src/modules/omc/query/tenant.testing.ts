import { parser } from '@prometheus-io/lezer-promql'
import fc from 'fast-check'
import { refuseUnfit } from './tenant.ts'

/** The texts of all selectors of a question. @throws Error where it is none */
export function selectorsOf(query: string): string[] {
  const found: string[] = []
  parser.parse(query).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${query}`)
      if (node.name === 'VectorSelector') found.push(query.slice(node.from, node.to))
    },
  })
  return found
}

const name = fc.constantFrom('up', 'a', 'node_load1', 'job:rate:5m', 'avg', 'by', 'offset_x', 'count', 'or_', 'start')
const label = fc.constantFrom('job', 'instance', 'le', 'bp', 'bp_ids', 'on', 'by', 'offset', 'without')
const text = fc.oneof(
  fc.constantFrom('"x"', "'}'", '`{bp_id="other"}`', '"\\"}{"', '"#"', '".+"', '"a|b"', '""', "'\\''"),
  fc.stringMatching(/^[a-z{}(),#=~ ]{0,8}$/).map((inner) => JSON.stringify(inner)),
)
const matcher = fc.tuple(label, fc.constantFrom('=', '!=', '=~', '!~'), text).map((parts) => parts.join(''))
const matchers = fc.array(matcher, { maxLength: 3 }).map((all) => `{${all.join(', ')}}`)
const named = fc.constantFrom('{__name__=~".+"}', '{__name__="up", job!=""}', '{job=~".*",}')
const duration = fc.constantFrom('5m', '1h', '30s', '1d', '1h30m')
const labels = fc.array(label, { minLength: 1, maxLength: 2 }).map((all) => all.join(', '))

const anyQuery: fc.Arbitrary<string> = fc.letrec<{ query: string; selector: string }>((tie) => {
  const query = tie('query')
  const selector = tie('selector')
  return {
    selector: fc
      .tuple(
        fc.oneof(
          name,
          fc.tuple(name, matchers).map((parts) => parts.join('')),
          named,
        ),
        fc.constantFrom('', ' offset 5m', ' @ 1609746000', ' @ end()', ' offset -1h @ start()'),
      )
      .map((parts) => parts.join('')),
    query: fc.oneof(
      { maxDepth: 5, depthIdentifier: 'query' },
      selector,
      fc.constantFrom('1', 'vector(1)', 'time()', '0x1F', 'NaN', '-Inf'),
      fc.tuple(fc.constantFrom('rate', 'increase', 'max_over_time', 'count_over_time'), fc.oneof(name, named), duration).map(([f, s, d]) => `${f}(${s}[${d}])`),
      fc.tuple(fc.constantFrom('sum', 'avg', 'max', 'count', 'group'), query, labels).map(([f, q, l]) => `${f} by (${l}) (${q})`),
      fc.tuple(fc.constantFrom('sum', 'min'), query, labels).map(([f, q, l]) => `${f}(${q}) without (${l})`),
      fc.tuple(query).map(([q]) => `topk(3, ${q})`),
      fc.tuple(query, duration).map(([q, d]) => `max_over_time((${q})[${d}:1m] offset 1h)`),
      fc
        .tuple(
          query,
          fc.constantFrom('+', '-', '/', '*', '>', '== bool', 'and', 'or', 'unless', '/ on (job) group_left ()', 'and ignoring (le)', '^', 'atan2'),
          query,
        )
        .map(([a, o, b]) => `(${a}) ${o} (${b})`),
      fc.tuple(query, label, text).map(([q, l, t]) => `label_replace(${q}, "${l}", ${t}, "job", "(.*)")`),
      fc.tuple(query).map(([q]) => `-(${q})`),
      fc.tuple(query).map(([q]) => `(${q}) # {bp_id="other"}\n + 0`),
    ),
  }
}).query

/** Questions as people and programs write them, nested: those that may be asked. */
export const arbitraryQuery = anyQuery.filter((query) => {
  try {
    refuseUnfit(query)
    return true
  } catch {
    return false
  }
})
