import { statSync } from 'node:fs'
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** What the caller did wrong: told in one line, without a stack. */
export class UsageError extends Error {}
/** What the world has against it: told in one line as well. */
export class Failure extends Error {}

/** Arguments of a tool, strictly. @throws UsageError that names the option */
export function readArguments<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** The only argument, a file. @throws UsageError */
export function onlyArgument(positionals: readonly string[], what: string): string {
  const [value] = positionals
  if (value === undefined || value === '') throw new UsageError(`${what} is missing`)
  if (positionals.length > 1) throw new UsageError(`one ${what} is wanted, not ${positionals.length}: ${positionals.join(' ')}`)
  return value
}

/** @throws UsageError */
export function required(value: string | undefined, option: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`${option} is missing`)
  return value.trim()
}

type ErrorClass = abstract new (...args: never[]) => Error

/**
 * Runs a tool to its exit status: 0 done, 1 failed, 2 asked wrongly. Messages go to standard
 * error, so that standard output holds nothing but what was asked for.
 * @param expected further errors that are told by their message alone
 */
export async function runCommand(usage: string, body: () => Promise<void> | void, expected: readonly ErrorClass[] = []): Promise<void> {
  try {
    await body()
  } catch (error) {
    const wrong = error instanceof UsageError
    const plain = error instanceof Error && (wrong || isRefusalOfSystem(error) || [Failure, ...expected].some((kind) => error instanceof kind))
    const text = error instanceof Error ? (plain ? error.message : (error.stack ?? error.message)) : String(error)
    process.stderr.write(`${text}\n${wrong ? `${usage}\n` : ''}`)
    process.exitCode = wrong ? 2 : 1
  }
}

/** What the operating system refuses names the file already; a stack would only hide it. */
const isRefusalOfSystem = (error: Error): boolean => 'code' in error && typeof error.code === 'string' && 'syscall' in error

/** Gives `body` a signal to end by, tidily, when the process is told to. @throws Failure then */
export async function endedBySignals(body: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const stop = (name: string) => controller.abort(new Failure(`Interrupted by ${name}; nothing was changed.`))
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of names) process.on(name, stop)
  try {
    await body(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    for (const name of names) process.off(name, stop)
  }
}

/**
 * Files made by another user than the server's would keep the server out.
 * @throws Failure where the directory is not of who runs this
 */
export function assertOwned(directory: string, uid = process.getuid?.()): void {
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid
  if (owner !== undefined && uid !== undefined && owner !== uid) {
    throw new Failure(`${directory} belongs to the user with id ${owner}: run this as that user, as the server is (sudo -u '#${owner}' …).`)
  }
}
