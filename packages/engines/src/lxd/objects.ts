import type { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { isEngineError } from '../errors.ts'
import { parse } from './parse.ts'
import type { Transport } from './transport.ts'

/** An object as it was read. A change that names its etag fails where another changed it since. */
export interface Found<T> {
  raw: T
  etag: string | null
}

/** Null when there is none. */
export async function find<T extends z.ZodType>(
  transport: Transport,
  path: string,
  schema: T,
  what: string,
  options: CallOptions,
  query: Readonly<Record<string, string>> = {},
): Promise<Found<z.output<T>> | null> {
  try {
    const { metadata, etag } = await transport.ask(path, { query, signal: options.signal })
    return { raw: parse(schema, metadata, what), etag }
  } catch (error) {
    if (isEngineError(error, 'not_found')) return null
    throw error
  }
}

/** What another makes or changes between our reading and our writing is read again. */
export async function undisturbed(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      // What the engine itself refused has a status; what we refuse is final.
      const disturbed = isEngineError(error, 'conflict', 'busy') && error.status !== undefined
      if (!disturbed || tries >= 4) throw error
    }
  }
}
