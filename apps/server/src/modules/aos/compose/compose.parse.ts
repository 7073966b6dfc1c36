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
/** So many problems of a severity help nobody more. */
const problemsMax = 50
/**
 * Lines, entries and whatever else makes a parser stop and look: what a file costs follows from these more than from its
 * length. A file of Compose that is as long as it may be has fewer.
 */
const marksMax = 30_000
/** Values that there are once aliases stand for what they name. */
const valuesMax = 50_000

export const isMapping = (value: unknown): value is Mapping => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A compose file as data, with the places of its parts. */
export function parseCompose(text: string): ParsedCompose {
  const problems: Problem[] = []
  const lines = new LineCounter()
  // Each kind for itself: many warnings hide no error. And where something is takes a search, so what is not told is not looked for.
  const isFull = (of: Problem['severity']): boolean => problems.filter(({ severity }) => severity === of).length >= problemsMax
  const say = (offset: number, message: string, severity: Problem['severity'] = 'error', undeclared?: string): void => {
    if (isFull(severity)) return
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
  const report: Report = (path, key, values = {}, severity = 'error', undeclared) => {
    if (!isFull(severity)) say(document === null ? 0 : offsetOf(document, path), fillText(composeTexts[key], values), severity, undeclared)
  }
  if (hasTooMany(text)) {
    report([], 'tooMany', { limit: marksMax })
    return { root: null, problems, report }
  }
  try {
    // It would compare each key with each other one.
    const parsed = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false, uniqueKeys: false })
    // What is nested deeper than the parser can follow is to it an error like any other.
    if (parsed.errors.some(({ message }) => message.includes('call stack'))) throw new RangeError('nested without end')
    for (const { code, message, pos } of parsed.errors)
      say(pos[0], code === 'MULTIPLE_DOCS' ? composeTexts.oneDocument : fillText(composeTexts.syntax, { reason: message.split('\n')[0] ?? '' }))
    if (parsed.errors.length === 0) keysTwice(parsed.contents, (key, offset) => say(offset, fillText(composeTexts.keyTwice, { key })))
    if (parsed.errors.length === 0 && problems.length === 0) {
      const read: unknown = parsed.toJS({ maxAliasCount: aliasesMax })
      if (valuesIn(read) > valuesMax) say(0, composeTexts.tooLong)
      else {
        root = read
        document = parsed
        if (!isMapping(root)) say(0, composeTexts.root)
      }
    }
  } catch {
    // Aliases of aliases or within themselves, or brackets without end.
    say(0, fillText(composeTexts.tooDeep, { limit: deepest }))
  }
  return { root: isMapping(root) ? root : null, problems, report }
}

function hasTooMany(text: string): boolean {
  let count = 0
  for (const _ of text.matchAll(/[\n\r,[\]{}\\]|[-?:](?=\s)/g)) if (++count > marksMax) return true
  return false
}

/** Keys that a mapping has already, each with where it stands. */
function keysTwice(contents: unknown, found: (key: string, offset: number) => void): void {
  const left = [contents]
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (isSeq(node)) left.push(...node.items)
    if (!isMap(node)) continue
    const seen = new Set<string>()
    for (const { key, value } of node.items) {
      left.push(key, value)
      // What is merged may be so in several parts.
      if (!isScalar(key) || typeof key.value === 'symbol') continue
      const name = String(key.value)
      if (seen.has(name)) found(name, startOf(key) ?? 0)
      seen.add(name)
    }
  }
}

/**
 * How many values there are, each as often as it is named; no more are counted than there may be.
 * @throws RangeError where it is nested deeper than anything is: an alias may contain itself, and whoever walks through it never comes to an end
 */
function valuesIn(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null) return 1
  if (depth >= deepest) throw new RangeError('nested without end')
  let count = 1
  for (const one of Object.values(value)) {
    count += valuesIn(one, depth + 1)
    if (count > valuesMax) break
  }
  return count
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
