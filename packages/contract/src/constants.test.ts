import { describe, expect, it } from 'vitest'
import { cloudLoad, constants } from './constants.ts'

it('constants are those of section 9', () => {
  expect(constants).toMatchObject({
    cloudListPageSize: 99_999,
    cloudListPageNum: 1,
    recentSearchesMax: 20,
    defaultPageSize: 10,
    pageSizes: [5, 10, 20, 30, 40, 50, 100],
    listRefreshMs: 5_000,
    requestTimeoutMs: 60_000,
    errorToastMs: 5_000,
    illegalOperationSuppressMs: 2_000,
    licenceToastMs: 10_000,
    licenceWarningMs: 60 * 24 * 3_600_000,
    copyToastMs: 2_500,
    cloudLabelsShown: 3,
    nameMaxLength: 64,
    freezeMs: 300_000,
    consoleMinWidthPx: 1_200,
    mobileBelowPx: 992,
  })
})

describe('the load of a cloud', () => {
  it.each([
    [0, 'idle'],
    [0.499_999, 'idle'],
    [0.5, 'busy'],
    [0.899_999, 'busy'],
    [0.9, null],
    [0.900_001, 'tight'],
    [0.999_999, 'tight'],
    [1, 'full'],
    [1.000_001, null],
  ] as const)('of %d is %s', (usage, load) => expect(cloudLoad(usage)).toBe(load))
})
