import dayjs from 'dayjs'
import { useId } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { DayInput } from '../../../kit/dates.tsx'
import './fund.css'

export interface Period {
  readonly from: string
  readonly to: string
  readonly set: (end: 'from' | 'to', day: string) => void
  readonly query: { readonly from?: string; readonly to?: string }
}

/** Days that the address names, both of them too, as the moments that a list is asked for. */
export function usePeriod(): Period {
  const [search, setSearch] = useSearchParams()
  const [from, to] = [search.get('from') ?? '', search.get('to') ?? '']
  const isDay = (text: string): boolean => dayjs(text, 'YYYY-MM-DD').isValid() && text !== ''
  return {
    from,
    to,
    set: (end, day) =>
      setSearch(
        (now) => {
          const next = new URLSearchParams(now)
          if (day === '') next.delete(end)
          else next.set(end, day)
          return next
        },
        { replace: true },
      ),
    query: { ...(isDay(from) && { from: dayjs(from).toISOString() }), ...(isDay(to) && { to: dayjs(to).add(1, 'day').toISOString() }) },
  }
}

export function PeriodFilter({ from, to, set }: Period) {
  const { t } = useTranslation('fund')
  const [fromId, toId] = [useId(), useId()]
  return (
    <div className="bf-period">
      <span className="zs-labelled">
        <label htmlFor={fromId}>{t('period.from')}</label>
        <DayInput id={fromId} value={from} onChange={(day) => set('from', day)} />
      </span>
      <span className="zs-labelled">
        <label htmlFor={toId}>{t('period.to')}</label>
        <DayInput id={toId} value={to} onChange={(day) => set('to', day)} />
      </span>
    </div>
  )
}
