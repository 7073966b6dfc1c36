/** Of one series: a moment in seconds since 1970, and its value as Prometheus writes it (`NaN`, `+Inf`). */
export type PrometheusPoint = readonly [at: number, value: string]

export interface PrometheusSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly points: readonly PrometheusPoint[]
}

export interface PrometheusResult {
  readonly type: 'vector' | 'matrix' | 'scalar' | 'string'
  readonly series: readonly PrometheusSeries[]
  readonly warnings: readonly string[]
}

export interface PrometheusTarget {
  readonly job: string
  readonly url: string
  readonly labels: Readonly<Record<string, string>>
  readonly health: 'up' | 'down' | 'unknown'
  readonly error: string | null
  readonly scrapedAt: Date | null
  readonly seconds: number
}

export interface PrometheusRule {
  readonly group: string
  readonly file: string
  readonly name: string
  readonly query: string
  readonly labels: Readonly<Record<string, string>>
  readonly health: string
  readonly error: string | null
  /** `firing`, `pending`, `inactive`; null of one that records. */
  readonly state: string | null
}

export interface PrometheusOptions {
  readonly signal?: AbortSignal
}

export interface QueryOptions extends PrometheusOptions {
  /** It stops there by itself; default: its own limit. */
  readonly timeoutMs?: number
  /** A longer answer is none. */
  readonly mostBytes?: number
}

/** A Prometheus, or whatever speaks its HTTP API, such as VictoriaMetrics. @throws EngineError */
export interface Prometheus {
  /** Whether it is one and is ready. */
  check(options?: PrometheusOptions): Promise<{ readonly version: string | null }>
  /** @param at seconds since 1970; left out: now */
  query(query: string, options?: QueryOptions & { readonly at?: number }): Promise<PrometheusResult>
  /** All in seconds. */
  queryRange(query: string, range: { readonly start: number; readonly end: number; readonly step: number }, options?: QueryOptions): Promise<PrometheusResult>
  targets(options?: PrometheusOptions): Promise<PrometheusTarget[]>
  rules(options?: PrometheusOptions): Promise<PrometheusRule[]>
  /** Reads its files anew, where it was started so that it lets others ask for that. */
  reload(options?: PrometheusOptions): Promise<void>
  close(): Promise<void>
}

export interface PrometheusConnection {
  /** With whatever stands before `/api/v1`. */
  readonly url: string
  readonly certificateAuthority?: string
  readonly credentials:
    | { readonly kind: 'none' }
    | { readonly kind: 'basic'; readonly username: string; readonly password: string }
    | { readonly kind: 'bearer'; readonly token: string }
  readonly timeoutMs?: number
  /** Another way than its address: a stream to it for each question. */
  readonly connect?: (signal: AbortSignal) => Promise<import('node:stream').Duplex>
}
