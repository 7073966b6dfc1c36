import { constants } from '@zhisuan/contract/constants'

/** Newest first, no duplicates, at most twenty. */
const withSearch = (searches: readonly string[], search: string): string[] => {
  const text = search.trim()
  if (text === '') return [...searches]
  return [text, ...searches.filter((one) => one !== text)].slice(0, constants.recentSearchesMax)
}

const keyOf = (list: string): string => `zhisuan.searches.${list}`

/** @param list what is searched: each has its own history. */
export function readSearches(list: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(list)) ?? '[]')
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string').slice(0, constants.recentSearchesMax) : []
  } catch {
    return []
  }
}

export function rememberSearch(list: string, search: string): string[] {
  const next = withSearch(readSearches(list), search)
  keep(list, next)
  return next
}

export const forgetSearches = (list: string): void => keep(list, [])

function keep(list: string, searches: readonly string[]): void {
  try {
    localStorage.setItem(keyOf(list), JSON.stringify(searches))
  } catch {
    // A full or forbidden store costs only the convenience.
  }
}
