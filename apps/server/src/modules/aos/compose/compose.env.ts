import { named, envFilesOf } from './compose.service.ts'
import type { Mapping } from './compose.parse.ts'
import { fill } from './compose.variables.ts'

export interface EnvFileRead {
  /** Null of what is only named. */
  readonly values: ReadonlyMap<string, string | null>
  /** The first line that says nothing; null where there is none. */
  readonly wrongLine: number | null
}

/** A name, then its value in double quotes, in single ones, or bare up to the end of the line or a comment. */
const entry =
  /^[^\S\n]*(?:export[^\S\n]+)?([^\s=#"']+)(?:[^\S\n]*(?:=|:[^\S\n])[^\S\n]*(?:"((?:[^"\\]|\\[^])*)"|'([^']*)'|([^\n]*?))?)?[^\S\n]*(?:(?<=[\s"'])#[^\n]*)?$/my
const blank = /^[^\S\n]*(?:#[^\n]*)?$/my
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/**
 * A file of variables, as Compose reads one: `NAME=value`, quoted or not, with comments; `${NAME}` is one of its lines before or
 * what was given. Nothing else stands in for a variable.
 */
export function readEnvFile(text: string, given: ReadonlyMap<string, string>, raw = false): EnvFileRead {
  const whole = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const values = new Map<string, string | null>()
  const known = new Map(given)
  const filled = (value: string): string => value.replace(/\$\{[^}]*\}/g, (hole) => fill(hole, known, () => undefined))
  let wrongLine: number | null = null
  let index = 0
  while (index < whole.length) {
    blank.lastIndex = index
    entry.lastIndex = index
    const empty = blank.exec(whole)
    const found = empty === null ? entry.exec(whole) : null
    const end = whole.indexOf('\n', index)
    const line = whole.slice(index, end < 0 ? whole.length : end)
    if (empty === null) {
      if (found === null) wrongLine ??= whole.slice(0, index).split('\n').length
      else if (raw) keep(...split(line))
      else {
        const [, name = '', double, single, bare] = found
        if (double !== undefined) keep(name, filled(double.replace(/\\([^])/g, (_, one: string) => escapes[one] ?? one)))
        else if (single !== undefined) keep(name, single)
        else keep(name, bare === undefined && !/[=:]/.test(found[0]) ? null : filled((bare ?? '').replace(/(^|\s)#.*$/, '').trimEnd()))
      }
    }
    index += (raw || (empty ?? found) === null ? line : ((empty ?? found)?.[0] ?? line)).length + 1
  }
  return { values, wrongLine }

  function keep(name: string, value: string | null): void {
    values.set(name, value)
    if (value !== null) known.set(name, value)
  }
}

const split = (line: string): [string, string | null] => {
  const border = line.indexOf('=')
  return border < 0 ? [line.trim(), null] : [line.slice(0, border).trim(), line.slice(border + 1)]
}

/**
 * What a service has for an environment: of its files, then what it says itself. What is only named has the value that was
 * given, and is left out where none was: nothing of whoever runs Compose stands in for it.
 * @param files what lies beside the compose file, by path
 */
export function environmentOf(service: Mapping, files: ReadonlyMap<string, string>, given: ReadonlyMap<string, string>): Record<string, string> {
  const all = new Map<string, string>()
  const add = (name: string, value: string | null): void => {
    const said = value ?? given.get(name)
    if (said !== undefined) all.set(name, said)
  }
  for (const file of envFilesOf(service)) {
    const text = file === null ? undefined : files.get(file.path)
    if (text !== undefined) for (const [name, value] of readEnvFile(text, given, file?.raw).values) add(name, value)
  }
  for (const [name, value] of named(service['environment'])) add(name, value)
  return Object.fromEntries(all)
}
