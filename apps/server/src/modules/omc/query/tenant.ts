import { parser } from '@prometheus-io/lezer-promql'
import { Refusal } from '../../../platform/errors.ts'

/** By which every series says whose it is: discovery writes it, and no target can. */
export const organisationLabel = 'bp_id'
/** What is nobody's. */
export const platformOrganisation = 'platform'

/** What they select is not all in what they are given. */
const refusedFunctions: ReadonlySet<string> = new Set(['info'])
/** A literal as every reader of PromQL ends it where this one does. */
const escapes = String.raw`x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}`
const within = (quote: string): string => String.raw`${quote}(?:[^${quote}\\\n\r]|\\(?:[abfnrtv\\${quote}]|${escapes}))*${quote}`
const wholeLiteral = new RegExp(`^(?:${within('"')}|${within("'")}|\`[^\`\\r]*\`)$`)

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * The same question with each of its selectors, wherever it stands, narrowed to one organisation. It is written on the syntax
 * tree, never on the text: what the grammar does not know is refused, and so is whatever two readers of PromQL could
 * read otherwise (comments are cut, literals have to be whole).
 * @throws Refusal `queryInvalid`, `queryLabelReserved`, `queryFunctionUnknown`
 */
export function ofOrganisation(query: string, bpId: string): string {
  // What it is compared with stands in quotes.
  if (!/^[\w-]+$/.test(bpId)) throw new Error(`no organisation: ${bpId}`)
  const matcher = `${organisationLabel}="${bpId}"`
  const edits: Edit[] = []
  const textOf = (node: { readonly from: number; readonly to: number }): string => query.slice(node.from, node.to)
  const invalid = (reason: string): Refusal => new Refusal('queryInvalid', { field: 'query', values: { reason } })

  refuseUnfit(query)
  parser.parse(query).iterate({
    enter(node) {
      switch (node.name) {
        case 'LineComment':
          edits.push({ from: node.from, to: node.to, text: ' ' })
          return
        case 'StringLiteral':
          if (!wholeLiteral.test(textOf(node))) throw invalid(`bad string at ${node.from + 1}`)
          return
        case 'QuotedLabelMatcher':
        case 'QuotedLabelName':
          throw invalid(`quoted label at ${node.from + 1}`)
        case 'UnquotedLabelMatcher': {
          const label = node.node.firstChild
          if (label !== null && textOf(label) === organisationLabel)
            throw new Refusal('queryLabelReserved', { field: 'query', values: { label: organisationLabel } })
          return
        }
        case 'FunctionIdentifier':
          if (refusedFunctions.has(textOf(node).toLowerCase())) throw new Refusal('queryFunctionUnknown', { field: 'query', values: { name: textOf(node) } })
          return
        case 'VectorSelector': {
          const matchers = node.node.getChild('LabelMatchers')
          if (matchers === null) edits.push({ from: node.to, to: node.to, text: `{${matcher}}` })
          else edits.push({ from: matchers.from + 1, to: matchers.from + 1, text: `${matcher},` })
          return
        }
      }
    },
  })
  let narrowed = ''
  let at = 0
  for (const { from, to, text } of edits.toSorted((one, other) => one.from - other.from)) {
    narrowed += query.slice(at, from) + text
    at = to
  }
  return narrowed + query.slice(at)
}

/** Longer ones take the reader longer than they may. */
const depthMost = 40
/** Each makes its series' labels longer: nested, one short question makes an answer without end. */
const relabellingsMost = 3
const groupsMost = 4
const joinedMost = 8

/**
 * What nobody may ask, whoever they are: what is no PromQL, what two readers could take otherwise, and what is short and makes
 * much of little.
 * @throws Refusal `queryInvalid`, `queryTooHeavy`
 */
export function refuseUnfit(query: string): void {
  const heavy = (): Refusal => new Refusal('queryTooHeavy', { field: 'query' })
  if (/[^\S \t\n]|\u0085|\p{Noncharacter_Code_Point}|\p{Surrogate}/u.test(query)) throw invalidAt(query, 0)
  let depth = 0
  for (const character of query) {
    if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) depth--
    // Before it is read: what reading costs follows from this.
    if (depth > depthMost) throw heavy()
  }
  let relabellings = 0
  parser.parse(query).iterate({
    enter({ type, from, name, node }) {
      if (type.isError) throw invalidAt(query, from)
      if (name !== 'FunctionCall') return
      const called = node.firstChild
      const does = called === null ? '' : query.slice(called.from, called.to)
      if (does !== 'label_replace' && does !== 'label_join') return
      relabellings++
      const body = node.getChild('FunctionCallBody')
      const literals = (body?.getChildren('StringLiteral') ?? []).map((literal) => query.slice(literal.from, literal.to))
      const isLong = does === 'label_replace' ? (literals[1]?.split('$').length ?? 1) - 1 > groupsMost : literals.length > joinedMost + 2
      if (relabellings > relabellingsMost || isLong) throw heavy()
    },
  })
}

const invalidAt = (query: string, from: number): Refusal =>
  new Refusal('queryInvalid', {
    field: 'query',
    values: { reason: `unexpected ${JSON.stringify(query.slice(from, from + 20) || 'end of input')} at ${from + 1}` },
  })
