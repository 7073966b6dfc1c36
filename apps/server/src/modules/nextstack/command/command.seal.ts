import { sql } from 'kysely'
import { z } from 'zod'
import { layOutAnew, rewriteRows } from '../../../platform/db/rewriting.ts'
import type { Migrations } from '../../../platform/db/database.ts'
import type { Secrets } from '../../../platform/secrets.ts'
import type { RunKey } from './command.store.ts'

/** What a run printed, of each stream. */
export interface Streams {
  readonly stdout: string
  readonly stderr: string
}
const streams = z.object({ stdout: z.string(), stderr: z.string() })
const tail = streams.extend({ more: z.boolean() })

/** Of an output, on a page that shows fifty of them. */
const tailShown = 8_192

const placeOfScript = (id: string): string => `commands.script:${id}`
const placeOf = (column: 'output' | 'tail', { command_id, vm_id }: RunKey): string => `command_results.${column}:${command_id}:${vm_id}`

/** Scripts name passwords and keys. */
export const sealScript = (secrets: Secrets, id: string, script: string): string => secrets.seal(script, placeOfScript(id))
export const openScript = (secrets: Secrets, row: { readonly id: string; readonly script: string }): string => secrets.open(row.script, placeOfScript(row.id))

/** What was printed, and beside it the end of it, so that a page of many runs does not open all of it. Null where nothing was printed. */
export function sealOutput(secrets: Secrets, key: RunKey, { stdout, stderr }: Streams): { output: string | null; tail: string | null } {
  if (stdout === '' && stderr === '') return { output: null, tail: null }
  const ends = { stdout: last(stdout, tailShown), stderr: last(stderr, tailShown) }
  const more = ends.stdout.length < stdout.length || ends.stderr.length < stderr.length
  return {
    output: secrets.seal(JSON.stringify({ stdout, stderr }), placeOf('output', key)),
    tail: secrets.seal(JSON.stringify({ ...ends, more }), placeOf('tail', key)),
  }
}
export const openOutput = (secrets: Secrets, { output, ...key }: RunKey & { readonly output: string | null }): Streams =>
  output === null ? { stdout: '', stderr: '' } : streams.parse(JSON.parse(secrets.open(output, placeOf('output', key))))
/** The end of it, and whether there is more. */
export const openTail = (secrets: Secrets, { tail: sealed, ...key }: RunKey & { readonly tail: string | null }): Streams & { more: boolean } =>
  sealed === null ? { stdout: '', stderr: '', more: false } : tail.parse(JSON.parse(secrets.open(sealed, placeOf('tail', key))))

/** So many characters of its beginning; none is cut in half. */
export const first = (text: string, count: number): string =>
  Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('')
const last = (text: string, count: number): string =>
  Array.from(text.slice(-2 * count))
    .slice(-count)
    .join('')

/** What a command is called that nobody named: the first line that says something, as far as a name is long. */
export function nameOf(script: string): string {
  const lines = script.split('\n').map((line) => line.trim().replaceAll('\t', ' '))
  const said = lines.find((line) => line !== '' && !line.startsWith('#!')) ?? lines.find((line) => line !== '') ?? '#'
  return first(said, 64)
}

/** What it is found and sorted by: the program that it begins with, as the rest of that line may be a password. Empty where it begins with something else. */
export function programOf(script: string): string {
  const line = script.split('\n').find((one) => one.trim() !== '' && !one.trim().startsWith('#')) ?? ''
  return /^\s*([\w./-]{1,64})(?=\s|;|$)/.exec(line)?.[1] ?? ''
}

/** Seals what lay in clear. */
export const sealedCommandMigrations = (secrets: Secrets): Migrations => ({
  '20261126_70_commands_sealed': async (tx) => {
    await sql`alter table commands add column named boolean not null default true`.execute(tx)
    await sql`alter table command_results add column output text, add column tail text`.execute(tx)
    await rewriteRows(tx, 'commands', sql<{ id: string; name: string; script: string }>`select id, name, script from commands`, ({ id, name, script }) => {
      const named = name !== nameOf(script)
      return sql`
        update commands set script = ${sealScript(secrets, id, script)}, named = ${named}, name = ${named ? name : programOf(script)} where id = ${id}
      `
    })
    await rewriteRows(
      tx,
      'command_results',
      sql<RunKey & Streams>`select command_id, vm_id, stdout, stderr from command_results where stdout <> '' or stderr <> ''`,
      ({ command_id, vm_id, ...printed }) => {
        const { output, tail: end } = sealOutput(secrets, { command_id, vm_id }, printed)
        return sql`update command_results set output = ${output}, tail = ${end} where command_id = ${command_id} and vm_id = ${vm_id}`
      },
    )
    await sql`alter table command_results drop column stdout, drop column stderr`.execute(tx)
    await layOutAnew(tx, 'commands', 'script')
    await layOutAnew(tx, 'command_results', 'output')
  },
})
