import { useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { MomentInput } from '../../kit/dates.tsx'
import '../../kit/table.css'
import './operations.css'

const ends = ['from', 'to'] as const

/** From when to when, as the address says. */
export function useTimeFilters() {
  const [search, setSearch] = useSearchParams()
  const given: Record<string, string> = {}
  for (const end of ends) {
    const value = search.get(end)
    if (value !== null && value !== '') given[end] = value
  }
  const set = (end: (typeof ends)[number], value: string): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        if (value === '') next.delete(end)
        else next.set(end, value)
        return next
      },
      { replace: true },
    )
  return { given, set }
}

/** Above a list: from when to when. */
export function TimeFilters({ times: { given, set } }: { readonly times: ReturnType<typeof useTimeFilters> }) {
  const { t } = useTranslation('operations')
  return (
    <div className="zs-bar">
      {ends.map((end) => (
        <span className="zs-labelled" key={end}>
          <label htmlFor={`om-${end}`}>{t(`range.${end}`)}</label>
          <MomentInput id={`om-${end}`} value={given[end] ?? ''} onChange={(moment) => set(end, moment)} />
        </span>
      ))}
    </div>
  )
}
