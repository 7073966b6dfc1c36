/** The end and the step of a value axis that begins at 0: round numbers of the unit that is shown. */
export interface Scale {
  readonly max: number
  readonly step: number
}

export type Base = 1000 | 1024 | 'whole'
const steps = { 1000: [1, 2, 2.5, 5, 10], whole: [1, 2, 5, 10], 1024: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] } as const

/**
 * @param highest of all values; 0 or less gives one unit
 * @param base 1024 for bytes, so that ticks read 256 MB and not 238.4 MB; `whole` for what is counted, of which there is no quarter
 * @param parts about how many steps there are
 */
export function scaleTo(highest: number, base: Base = 1000, parts = 4): Scale {
  if (!Number.isFinite(highest) || highest <= 0) return { max: 1, step: 1 }
  const rough = highest / parts
  // Bytes have no halves; other numbers go below one by tens.
  const decimals = Math.floor(Math.log10(rough))
  const unit =
    base === 1024 ? 1024 ** Math.max(0, Math.floor(Math.log(Math.max(1, rough)) / Math.log(1024))) : 10 ** (base === 'whole' ? Math.max(0, decimals) : decimals)
  const candidates = steps[base]
  const step = (candidates.find((candidate) => candidate * unit >= rough * 0.999_999) ?? candidates[candidates.length - 1] ?? 1) * unit
  return { max: step * Math.max(1, Math.ceil((highest / step) * 0.999_999)), step }
}
