import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import type { ComposeProblem as Problem } from '@zhisuan/contract/aos/stack'
import { fillText } from '@zhisuan/contract/errors'
import { composeTexts } from '@zhisuan/contract/texts'

export type Path = readonly (string | number)[]
export type Mapping = Readonly<Record<string, unknown>>
export type Report = (
  path: Path,
  text: keyof typeof composeTexts,
  values?: Record<string, string | number>,
  severity?: Problem['severity'],
  undeclared?: string,
) => void

export interface ParsedCompose {
  /** Null where it is no mapping. */
  readonly root: Mapping | null
  readonly problems: Problem[]
  /** Adds a problem at the line of what the path leads to, or as near as the file says. */
  readonly report: Report
}

const aliasesMax = 100
/** Deeper than any file of Compose, and less than what a walk can follow. */
const deepest = 64
/** So many problems help nobody more. */
const problemsMax = 50

export const isMapping = (value: unknown): value is Mapping => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A compose file as data, with the places of its parts. */
export function parseCompose(text: string): ParsedCompose {
  const problems: Problem[] = []
  const lines = new LineCounter()
  const say = (offset: number, message: string, severity: Problem['severity'] = 'error', undeclared?: string): void => {
    if (problems.length >= problemsMax) return
    const { line, col } = lines.linePos(offset)
    // Of an empty file there is no line.
    problems.push({
      line: Math.max(1, line),
      column: Math.max(1, col),
      message: message.slice(0, 500),
      severity,
      ...(undeclared !== undefined && { undeclared }),
    })
  }
  let document: Document.Parsed | null = null
  let root: unknown = null
  try {
    const parsed = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false, uniqueKeys: true })
    for (const { code, message, pos } of parsed.errors)
      say(pos[0], code === 'MULTIPLE_DOCS' ? composeTexts.oneDocument : fillText(composeTexts.syntax, { reason: message.split('\n')[0] ?? '' }))
    if (parsed.errors.length === 0) {
      const read: unknown = parsed.toJS({ maxAliasCount: aliasesMax })
      refuseEndless(read)
      root = read
      document = parsed
      if (!isMapping(root)) say(0, composeTexts.root)
    }
  } catch {
    // Aliases of aliases or within themselves, or brackets without end.
    say(0, composeTexts.tooDeep)
  }
  const report: Report = (path, key, values = {}, severity = 'error', undeclared) =>
    say(document === null ? 0 : offsetOf(document, path), fillText(composeTexts[key], values), severity, undeclared)
  return { root: isMapping(root) ? root : null, problems, report }
}

/** An alias may contain itself: whoever walks through it never comes to an end. */
function refuseEndless(value: unknown, around: readonly unknown[] = []): void {
  if (typeof value !== 'object' || value === null) return
  if (around.length >= deepest || around.includes(value)) throw new RangeError('nested without end')
  for (const one of Object.values(value)) refuseEndless(one, [...around, value])
}

/** Where a path is; of what comes by a merge or an alias, where that is named. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = 0
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find((item) => (isScalar(item.key) ? String(item.key.value) : String(item.key)) === String(key))
      if (pair === undefined) return offset
      offset = startOf(pair.key) ?? offset
      node = pair.value
    } else if (isSeq(node) && typeof key === 'number') {
      node = node.items[key]
      offset = startOf(node) ?? offset
    } else return offset
  }
  return offset
}

// Every node that was parsed has its range.
const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0]
