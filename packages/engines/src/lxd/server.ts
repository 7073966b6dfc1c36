import type { CallOptions } from '../compute.ts'

/** What the parts of the client want to know of the server that they talk to. */
export interface Server {
  /** Throws `unsupported` with the API extensions that the server lacks. */
  needs(extensions: readonly string[], options: CallOptions): Promise<void>
  /** Names of the cluster's members; one that is null where there is no cluster. */
  members(options: CallOptions): Promise<readonly (string | null)[]>
}

/** The query that asks one member of a cluster. */
export const onMember = (member: string | null): Record<string, string> => (member === null ? {} : { target: member })
