import { consoleLines, findInLines } from '../../kit/logText.ts'
import { linesKept, type LogLine } from './logFollow.ts'

/** A line as it is drawn; its number stays while others before it are let go. */
export interface ShownLine extends LogLine {
  readonly number: number
}

/** How lines are drawn, whichever way they were found. */
export interface LogLook {
  readonly wrap: boolean
  readonly times: boolean
}

/** With new lines at the end, as a person would read them; the oldest are let go. */
export function withLines(former: readonly ShownLine[], lines: readonly LogLine[]): readonly ShownLine[] {
  // More than is kept came at once: the rest would be let go right away.
  const kept = lines.slice(-linesKept)
  const first = (former.at(-1)?.number ?? 0) + 1 + lines.length - kept.length
  return [...former, ...kept.map((line, index) => ({ ...line, text: plain(line.text), number: first + index }))].slice(-linesKept)
}

/** Without colours and what was written over. */
const plain = (text: string): string => consoleLines(text).join('\n')

/** The numbers of the lines in which a text occurs, without regard to upper and lower case. */
export const findLines = (lines: readonly ShownLine[], text: string): readonly number[] =>
  findInLines(
    lines.map((line) => line.text),
    text,
  ).flatMap((index) => lines[index]?.number ?? [])
