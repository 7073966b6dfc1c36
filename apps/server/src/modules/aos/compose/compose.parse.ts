import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, parseDocument, Scalar, type Document, type Node } from 'yaml'
import type { ComposeProblem as Problem } from '@zhisuan/contract/aos/stack'
import { fillText } from '@zhisuan/contract/errors'
import { composeTexts } from '@zhisuan/contract/texts'
import { file, inside, typed, type Place } from './compose.places.ts'

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
/** And characters of these. */
const charactersMax = 1_000_000

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
    const stray = severity === 'error' ? strayIn(text, lines, line) : null
    // Of an empty file there is no line.
    problems.push({
      line: stray?.line ?? Math.max(1, line),
      column: stray?.column ?? Math.max(1, col),
      message: stray === null ? message.slice(0, 500) : fillText(composeTexts.stray, { column: stray.column, code: stray.code }),
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
    if (parsed.errors.length === 0) {
      const anchored = lookThrough(parsed.contents, (key, offset) => say(offset, fillText(composeTexts.keyTwice, { key })))
      if (problems.length === 0) {
        root = createReading(anchored).read(parsed.contents, file)
        document = parsed
        if (!isMapping(root)) say(0, composeTexts.root)
      }
    }
  } catch (error) {
    // Brackets without end, which the parser follows no further than it can.
    if (error instanceof Unending) say(error.offset, fillText(composeTexts[error.text], error.values))
    else if (error instanceof RangeError) say(0, fillText(composeTexts.tooDeep, { limit: deepest }))
    else throw error
  }
  return { root: isMapping(root) ? root : null, problems, report }
}

/** Blanks that are none to YAML, and full-width marks, where an indent, a colon or a dash is meant. */
const stray = /^[ -]*[\u00A0\u2000-\u200B\u202F\u205F\u3000]|[:-][\u00A0\u2000-\u200B\u202F\u205F\u3000]|^[ -]*[\w.-]+：/u

/** What nobody sees is behind many an error: in its line, or in the one after, which then belongs to it. */
function strayIn(text: string, lines: LineCounter, line: number): { line: number; column: number; code: string } | null {
  for (const at of [line, line + 1]) {
    const start = lines.lineStarts[at - 1]
    if (start === undefined) continue
    const found = stray.exec(text.slice(start, lines.lineStarts[at] ?? text.length).slice(0, 1_000))
    if (found === null) continue
    const character = [...found[0]].at(-1) ?? ''
    const code = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
    return { line: at, column: found.index + found[0].length, code }
  }
  return null
}

function hasTooMany(text: string): boolean {
  let count = 0
  for (const _ of text.matchAll(/[\n\r,[\]{}\\]|[-?:](?=\s)/g)) if (++count > marksMax) return true
  return false
}

/**
 * Goes once through the file, in its order.
 * @param twice is told keys that a mapping has already, each with where it stands
 * @returns what each alias stands for: the last of its name before it
 */
function lookThrough(contents: unknown, twice: (key: string, offset: number) => void): ReadonlyMap<unknown, Node> {
  const anchors = new Map<string, Node>()
  const stands = new Map<unknown, Node>()
  const left = [contents]
  while (left.length > 0) {
    const node = left.pop()
    if (isAlias(node)) {
      const anchored = anchors.get(node.source)
      if (anchored !== undefined) stands.set(node, anchored)
      continue
    }
    if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) anchors.set(node.anchor, node)
    if (isSeq(node)) left.push(...node.items.toReversed())
    if (!isMap(node)) continue
    const seen = new Set<string>()
    for (const { key } of node.items) {
      // What is merged may be so in several parts.
      if (!isScalar(key) || isMerge(key)) continue
      const name = nameOf(key)
      if (seen.has(name)) twice(name, startOf(key) ?? 0)
      seen.add(name)
    }
    for (const { key, value } of node.items.toReversed()) left.push(value, key)
  }
  return stands
}

/** What is nested or repeated without end, by what of the file. */
class Unending extends Error {
  readonly text: keyof typeof composeTexts
  readonly values: Record<string, string | number>
  readonly offset: number
  constructor(text: keyof typeof composeTexts, values: Record<string, string | number>, offset: number) {
    super(text)
    this.text = text
    this.values = values
    this.offset = offset
  }
}

/**
 * Makes data of what was parsed, each scalar as its place wants it. What is limited is what comes out: how often something is
 * named costs nobody anything.
 */
function createReading(stands: ReadonlyMap<unknown, Node>): { read: (node: unknown, place: Place | undefined) => unknown } {
  let values = 0
  let characters = 0
  /** Anchors that are being read, one within the other: what is named by one of them lies in itself. */
  const within = new Set<Node>()
  /** The outermost alias that is being read. */
  let alias: { readonly name: string; readonly offset: number } | null = null

  const count = (text: string | null, node: unknown): void => {
    values++
    characters += text?.length ?? 0
    if (values <= valuesMax && characters <= charactersMax) return
    throw alias === null
      ? new Unending('tooLong', {}, startOf(node) ?? 0)
      : new Unending('anchorTooLong', { anchor: alias.name, limit: valuesMax }, alias.offset)
  }
  const scalar = (node: Scalar, place: Place | undefined): unknown => {
    const { value, source } = node
    if (value === null) {
      count(null, node)
      return null
    }
    const text = typeof value === 'string' ? value : (source ?? String(value))
    count(text, node)
    if (typeof value === 'string') return typed(value, place)
    if (place?.scalar === undefined) return place === undefined ? value : text
    if (place.scalar === 'number') return typeof value === 'number' ? value : text
    if (place.scalar === 'boolean') return typeof value === 'boolean' ? value : text
    // Of an amount only the number counts, however it was written.
    return place.scalar === 'amount' && typeof value === 'number' && !/^\d+(\.\d+)?$/.test(text) ? String(value) : text
  }
  const read = (node: unknown, place: Place | undefined, depth = 0): unknown => {
    if (depth > deepest) throw new Unending('tooDeep', { limit: deepest }, startOf(node) ?? 0)
    if (isAlias(node)) {
      const anchored = stands.get(node)
      const at = { name: node.source, offset: startOf(node) ?? 0 }
      if (anchored === undefined || within.has(anchored)) throw new Unending('anchorWithin', { anchor: at.name }, at.offset)
      const before = alias
      alias ??= at
      const value = read(anchored, place, depth)
      alias = before
      return value
    }
    if (isScalar(node)) return scalar(node, place)
    count(null, node)
    if (!isCollection(node)) return null
    within.add(node)
    const value = isSeq(node) ? node.items.map((item) => read(item, inside(place, 0), depth + 1)) : isMap(node) ? mapping(node.items, place, depth) : null
    within.delete(node)
    return value
  }
  const mapping = (pairs: readonly { key: unknown; value: unknown }[], place: Place | undefined, depth: number): Mapping => {
    const own = new Set(pairs.flatMap(({ key }) => (isScalar(key) && !isMerge(key) ? [nameOf(key)] : [])))
    const entries = new Map<string, unknown>()
    for (const { key, value } of pairs) {
      if (!isScalar(key)) {
        const name = isAlias(key) ? stands.get(key) : key
        if (!isScalar(name)) throw new Unending('keyNotText', {}, startOf(key) ?? 0)
        entries.set(nameOf(name), read(value, inside(place, nameOf(name)), depth + 1))
      } else if (isMerge(key)) {
        const merged = read(value, { ...place, items: place ?? {} }, depth + 1)
        for (const one of Array.isArray(merged) ? merged : [merged]) {
          if (!isMapping(one)) throw new Unending('mergeNotMapping', {}, startOf(value) ?? startOf(key) ?? 0)
          for (const [name, part] of Object.entries(one)) if (!own.has(name) && !entries.has(name)) entries.set(name, part)
        }
      } else entries.set(nameOf(key), read(value, inside(place, nameOf(key)), depth + 1))
    }
    return Object.fromEntries(entries)
  }
  return { read }
}

const isMerge = (key: Scalar): boolean => key.type === Scalar.PLAIN && key.source === '<<'
const nameOf = ({ value, source }: Scalar): string => (typeof value === 'string' ? value : (source ?? String(value)))

/** Where a path is; of what comes by a merge or an alias, where that is named. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = 0
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && nameOf(item.key) === String(key))
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
