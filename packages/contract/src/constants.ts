/** The business constants and limits of the specification's section 9 (and the thresholds of 4), in one place; docs/specification.md says what became of each. */
export const constants = {
  /** The cloud list is fetched whole. */
  cloudListPageSize: 99_999,
  cloudListPageNum: 1,
  recentSearchesMax: 20,
  defaultPageSize: 10,
  pageSizes: [5, 10, 20, 30, 40, 50, 100],
  listRefreshMs: 5_000,
  /** Between two samples of what an instance uses. */
  timeIntervalMs: 5_000,
  requestTimeoutMs: 60_000,
  errorToastMs: 5_000,
  illegalOperationSuppressMs: 2_000,
  licenceToastMs: 10_000,
  licenceWarningMs: 5_184_000_000,
  copyToastMs: 2_500,
  cloudLabelsShown: 3,
  nameMaxLength: 64,
  freezeMs: 5 * 60_000,
  consoleMinWidthPx: 1_200,
  mobileBelowPx: 992,
  ipSegmentMax: 255,
} as const

/** Load of a cloud by its usage (0 to 1): section 4. Exactly 0.9 shows no label, as specified. */
export type CloudLoad = 'idle' | 'busy' | 'tight' | 'full'
export function cloudLoad(usage: number): CloudLoad | null {
  if (usage < 0.5) return 'idle'
  if (usage < 0.9) return 'busy'
  if (usage > 0.9 && usage < 1) return 'tight'
  if (usage === 1) return 'full'
  return null
}
