import type { LookupFunction } from 'node:net'

/** What a name in a registry leads to. */
export interface Manifest {
  readonly digest: string
  readonly mediaType: string
  /** As it came: its digest is that of these bytes. */
  readonly bytes: Buffer
}

/** What is to be done in a repository, or with the catalogue: what a token is asked for (token authentication, "scope"). */
export interface RegistryScope {
  readonly type: 'repository' | 'registry'
  readonly name: string
  readonly actions: readonly ('pull' | 'push' | 'delete' | '*')[]
}

/**
 * How a registry lets us in. `account`: by the way that it asks for, Basic or a token that its own service gives for
 * the account. `minted`: by tokens that whoever asks makes.
 */
export type RegistryCredentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'account'; readonly username: string; readonly password: string }
  | { readonly kind: 'minted'; readonly mint: (scopes: readonly RegistryScope[]) => Promise<string> }

export interface RegistryConnection {
  /** `https://host[:port]`, without `/v2`. */
  readonly url: string
  readonly credentials: RegistryCredentials
  /** PEM: of one whose certificate no public authority made. */
  readonly certificateAuthority?: string
  /** How names are resolved, where not every address may be asked. */
  readonly lookup?: LookupFunction
  /** Looks at each address before it is asked, also where the registry sends us for a token. @throws where it may not be */
  readonly mayAsk?: (url: URL) => void
  /** For an answer. Default 30 s. */
  readonly timeoutMs?: number
}

export interface AskOptions {
  readonly signal?: AbortSignal
}

export interface TagsPage {
  readonly items: string[]
  /** More are there than were asked for. */
  readonly more: boolean
}

/**
 * A registry as everybody has it: OCI distribution-spec 1.1, and `_catalog` of the CNCF's distribution. All errors are
 * `EngineError`s; one that asks us to come later (429) is a {@link RegistrySlow}.
 */
export interface Registry {
  /** That it is one, and lets us in. @throws EngineError `unauthorized`; `bad_answer` where it is no registry */
  check(options?: AskOptions): Promise<void>
  /** All names, in pages as they come; `unsupported` or `unauthorized` where it does not tell. */
  repositories(options?: AskOptions): AsyncGenerator<string[], void, void>
  /** None where there is no such repository. @param most how many are wanted */
  tags(repository: string, options?: AskOptions & { readonly most?: number }): Promise<TagsPage>
  /** Null where there is none. @param reference a tag or a digest */
  manifest(repository: string, reference: string, options?: AskOptions): Promise<Manifest | null>
  /** Its digest; null where there is none. */
  head(repository: string, reference: string, options?: AskOptions): Promise<string | null>
  /** @returns its digest */
  putManifest(repository: string, reference: string, manifest: Pick<Manifest, 'mediaType' | 'bytes'>, options?: AskOptions): Promise<string>
  /** With all tags that lead to it. One that is gone is gone. */
  deleteManifest(repository: string, digest: string, options?: AskOptions): Promise<void>
  /** Of a few kilobytes, such as a configuration; null where there is none. */
  blob(repository: string, digest: string, options?: AskOptions & { readonly mostBytes?: number }): Promise<Buffer | null>
  /** How large it is there, whatever a manifest says of it; null where there is none, or that is not told. */
  blobSize(repository: string, digest: string, options?: AskOptions): Promise<number | null>
  putBlob(repository: string, bytes: Buffer, options?: AskOptions): Promise<string>
  close(): Promise<void>
}
