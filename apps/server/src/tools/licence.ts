import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { issueLicence, licencePayload, makeKeyPair, readLicence, readPublicKey, showLicence, type LicencePayload } from '../modules/sys/licence/licence.file.ts'
import { Failure, onlyArgument, readArguments, required, runCommand, UsageError } from './command.ts'

const usage = `usage:
  scripts/licence keys --out DIR
      makes DIR/private.pem (issues licences: keep it) and DIR/public.pem (for LICENCE_PUBLIC_KEY_FILE)
  scripts/licence issue --key PRIVATE.pem --customer NAME --from DATE --to DATE
                        [--installation UUID] [--nodes N] [--cores N] [--out FILE]
      without --installation it fits every installation, without --nodes or --cores it has no limit
      DATE is a day in China (2026-01-31, --to inclusive) or a moment (2026-01-31T12:00:00Z)
  scripts/licence inspect FILE [--pubkey PUBLIC.pem]
      says what a licence grants; with --pubkey also whether it is genuine`

/** Days of a licence begin and end in China, wherever it is issued. */
const chinaOffset = '+08:00'

/** Unix milliseconds of an option's date: the first moment of a day, or the last. */
function moment(text: string, option: string, edge: 'first' | 'last'): number {
  if (z.iso.date().safeParse(text).success) return Date.parse(`${text}T${edge === 'first' ? '00:00:00.000' : '23:59:59.999'}${chinaOffset}`)
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return Date.parse(text)
  throw new UsageError(`${option} has to be a day (2026-01-31) or a moment with its offset (2026-01-31T12:00:00+08:00), not ${text}`)
}

function limit(text: string | undefined, option: string): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value === 0) throw new UsageError(`${option} has to be a whole number above 0, not ${text}`)
  return value
}

function readText(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Failure(`${option}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Never over a file that is there: a lost private key is lost for good. */
function writeNew(path: string, text: string, mode: number): void {
  try {
    writeFileSync(path, text, { mode, flag: 'wx', flush: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Failure(`--out: ${path} exists, it is not overwritten`, { cause: error })
    throw new Failure(`--out: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function keys(args: readonly string[]): void {
  const { values } = readArguments({ args: [...args], options: { out: { type: 'string' } } })
  const out = required(values.out, '--out')
  const { privateKey, publicKey } = makeKeyPair()
  const [secret, open] = [join(out, 'private.pem'), join(out, 'public.pem')]
  mkdirSync(out, { recursive: true, mode: 0o700 })
  writeNew(secret, privateKey, 0o600)
  try {
    writeNew(open, publicKey, 0o644)
  } catch (error) {
    // A private key whose public half is another's would be worse than none.
    rmSync(secret)
    throw error
  }
  process.stdout.write(`${secret}\n${open}\n`)
}

function issue(args: readonly string[]): void {
  const { values } = readArguments({
    args: [...args],
    options: {
      key: { type: 'string' },
      customer: { type: 'string' },
      installation: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      nodes: { type: 'string' },
      cores: { type: 'string' },
      out: { type: 'string' },
    },
  })
  const key = required(values.key, '--key')
  const granted: LicencePayload = {
    id: randomUUID(),
    customer: required(values.customer, '--customer'),
    installation_id: values.installation ?? null,
    start_timestamp: moment(required(values.from, '--from'), '--from', 'first'),
    end_timestamp: moment(required(values.to, '--to'), '--to', 'last'),
    nodes: limit(values.nodes, '--nodes'),
    cores: limit(values.cores, '--cores'),
  }
  if (granted.end_timestamp <= granted.start_timestamp) throw new UsageError('--to has to be after --from')
  const parsed = licencePayload.safeParse(granted)
  if (!parsed.success) {
    const options: Record<string, string> = {
      customer: '--customer',
      installation_id: '--installation',
      start_timestamp: '--from',
      end_timestamp: '--to',
      nodes: '--nodes',
      cores: '--cores',
    }
    throw new UsageError(parsed.error.issues.map(({ path, message }) => `${options[String(path[0])] ?? String(path[0])}: ${message}`).join('\n'))
  }
  const file = sign(parsed.data, readText(key, '--key'), key)
  if (values.out === undefined) process.stdout.write(file)
  else {
    writeNew(values.out, file, 0o644)
    process.stdout.write(`${values.out}\n`)
  }
}

function sign(granted: LicencePayload, privateKey: string, path: string): string {
  let file: string
  try {
    file = issueLicence(granted, privateKey)
    // Another kind of key signs as well, but no server would take the file.
    readPublicKey(privateKey)
  } catch (error) {
    throw new Failure(`--key: ${path} holds no Ed25519 private key (${error instanceof Error ? error.message : String(error)})`, { cause: error })
  }
  return file
}

function inspect(args: readonly string[]): void {
  const { values, positionals } = readArguments({ args: [...args], options: { pubkey: { type: 'string' } }, allowPositionals: true })
  const path = onlyArgument(positionals, 'FILE')
  const text = readText(path, 'FILE')
  const shown = showLicence(text)
  if (shown === null) throw new Failure(`${path} holds no licence`)
  const day = (at: number) => `${new Date(at + 8 * 3_600_000).toISOString().slice(0, 19)}${chinaOffset}`
  const lines = [
    `id            ${shown.id}`,
    `customer      ${shown.customer}`,
    `installation  ${shown.installation_id ?? 'any'}`,
    `from          ${day(shown.start_timestamp)}`,
    `to            ${day(shown.end_timestamp)}`,
    `nodes         ${shown.nodes ?? 'no limit'}`,
    `cores         ${shown.cores ?? 'no limit'}`,
  ]
  const genuine = values.pubkey === undefined ? null : checks(text, values.pubkey)
  lines.push(`signature     ${genuine === null ? 'not checked (--pubkey)' : genuine ? 'genuine' : 'NOT of this key'}`)
  process.stdout.write(`${lines.join('\n')}\n`)
  if (genuine === false) process.exitCode = 1
}

function checks(text: string, path: string): boolean {
  const pem = readText(path, '--pubkey')
  try {
    return readLicence(text, readPublicKey(pem)).ok
  } catch (error) {
    throw new Failure(`--pubkey: ${path} holds no Ed25519 public key (${error instanceof Error ? error.message : String(error)})`, { cause: error })
  }
}

await runCommand(usage, () => {
  const [name, ...rest] = process.argv.slice(2)
  if (name === 'keys') return keys(rest)
  if (name === 'issue') return issue(rest)
  if (name === 'inspect') return inspect(rest)
  if (name === '--help' || name === '-h') {
    process.stdout.write(`${usage}\n`)
    return undefined
  }
  throw new UsageError(name === undefined ? 'keys, issue or inspect?' : `${name} is not known`)
})
