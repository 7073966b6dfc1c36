import type { Readable } from 'node:stream'

/**
 * Where contents are kept, each under its SHA-256. Whoever changes one holds its lock, so none of these has to think of
 * two at once. What any of them is: conformance.ts.
 */
export interface Contents {
  /** Makes what lies at this path a content, for good before it returns. Nothing where that is there already: its bytes are the same. */
  keep(path: string, sha256: string): Promise<void>
  /** The same of what is at hand. */
  store(sha256: string, content: Buffer): Promise<void>
  /** @throws ContentMissingError */
  read(sha256: string, range?: { start: number; end: number }): Promise<Readable>
  /** Nothing where it is gone. */
  drop(sha256: string): Promise<void>
  /** Makes what it needs to begin. */
  begin(): Promise<void>
}

/** The rows say that it is there, and it is not. */
export class ContentMissingError extends Error {}
