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

/**
 * Runs a tool to its exit status: 0 done, 1 failed, 2 asked wrongly. Messages go to standard
 * error, so that standard output holds nothing but what was asked for.
 */
export async function runCommand(usage: string, body: () => Promise<void> | void): Promise<void> {
  try {
    await body()
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n${usage}\n`)
      process.exitCode = 2
    } else {
      process.stderr.write(`${error instanceof Error ? (isExpected(error) ? error.message : (error.stack ?? error.message)) : String(error)}\n`)
      process.exitCode = 1
    }
  }
}

/** What the operating system refuses names the file already; a stack would only hide it. */
const isExpected = (error: Error): boolean => error instanceof Failure || ('code' in error && typeof error.code === 'string' && 'syscall' in error)
