/** What is looked back at to tell how fast an upload is. */
const lookedBackMs = 8_000

export interface Sample {
  readonly atMs: number
  readonly bytes: number
}

/** With one more sample, and without those that are too old; always with two to compare. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const recent = samples.filter(({ atMs }) => sample.atMs - atMs <= lookedBackMs)
  return [...(recent.length > 0 ? recent : samples.slice(-1)), sample]
}

/** Null while nothing can be said. */
export function paceOf(samples: readonly Sample[], totalBytes: number): { readonly bytesPerSecond: number; readonly leftMs: number | null } | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return null
  const bytesPerSecond = ((last.bytes - first.bytes) / (last.atMs - first.atMs)) * 1000
  return { bytesPerSecond, leftMs: bytesPerSecond <= 0 ? null : ((totalBytes - last.bytes) / bytesPerSecond) * 1000 }
}
