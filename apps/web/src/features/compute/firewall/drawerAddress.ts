import { useSearchParams } from 'react-router'
import { withQuery } from '../../../paths.ts'

/** The address of a list's page with one of it open beside. */
export const openAt = (list: string, id: string): string => withQuery(list, { open: id })

/** Which row of a list is open in a drawer: the address remembers it, beside the filters. */
export function useOpened() {
  const [search, setSearch] = useSearchParams()
  const change = (id: string | null): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        if (id === null) next.delete('open')
        else next.set('open', id)
        return next
      },
      { replace: id === null },
    )
  return {
    opened: search.get('open'),
    hrefOf(id: string): string {
      const next = new URLSearchParams(search)
      next.set('open', id)
      return `?${next.toString()}`
    },
    close: () => change(null),
  }
}
