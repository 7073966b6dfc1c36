import { expect, it } from 'vitest'

const sources: Readonly<Record<string, string>> = import.meta.glob(['../**/*.tsx', '!../**/*.test.tsx'], { query: '?raw', import: 'default', eager: true })

/** Lists that are not read again every 5,000 ms, as section 9 of the specification has it, and why. */
const reasons: Readonly<Record<string, string>> = {
  '../features/bill/report/MonthOverview.tsx': 'adds up all usage of a month, which is metered by the hour',
  '../features/bill/catalogue/UnpricedUsage.tsx': 'goes through all usage that has no price; nobody waits there for more of it',
  '../features/settings/SettingList.tsx': 'what the server was started with stays so until it is started again',
  '../features/split/SoldLines.tsx': 'explains a figure by the hours behind it, which are over',
  '../features/iam/WhoTool.tsx': 'answers a question that somebody asked, and judges everybody for it',
}

/** Asks more often while something goes on, and otherwise as always. */
const isAsAlways = (pace: string): boolean => /whilePassing\(|: 5_000\)$/.test(pace)

/** What tables are told of how often to read; their elements only, as what is no list has a pace of its own. */
const others = Object.entries(sources).flatMap(([file, source]) =>
  [...source.matchAll(/^\s+refreshMs=\{(.*)\}$/gm)].flatMap(([, pace = '']) => (isAsAlways(pace) ? [] : [file])),
)

it('a list that is read less often than all others has its reason', () => {
  expect(others.toSorted()).toEqual(Object.keys(reasons).toSorted())
})
