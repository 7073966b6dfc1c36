import LeftOutlined from '@ant-design/icons/es/icons/LeftOutlined'
import RightOutlined from '@ant-design/icons/es/icons/RightOutlined'
import Button from 'antd/es/button'
import Select from 'antd/es/select'
import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useIsPlatform } from '../../../session/user.ts'
import { OrganisationSelect } from '../../../kit/OrganisationSelect.tsx'
import { useNamedOrganisation } from '../../../kit/useOrganisationFilter.tsx'
import { billMonthOf, isMonth, monthPlus } from './months.ts'
import './report.css'

const monthsBack = 24

export const monthName = (t: TFunction<'report'>, month: string): string => t('month.name', { year: month.slice(0, 4), month: Number(month.slice(5)) })

/** Month and organisation that the address names, and the controls that name them there; whatever else stands in it begins anew. */
export function useBillQuery(): {
  readonly month: string
  readonly organisation: string | undefined
  readonly controls: ReactNode
  readonly set: (values: Readonly<Record<string, string | undefined>>) => void
} {
  const { t } = useTranslation('report')
  const [search, setSearch] = useSearchParams()
  const platform = useIsPlatform()
  const { id, known } = useNamedOrganisation()
  const current = billMonthOf(Date.now())
  const asked = search.get('month')
  const month = isMonth(asked) ? asked : current
  const set = (values: Readonly<Record<string, string | undefined>>): void =>
    setSearch(
      (now) => {
        const next = new URLSearchParams(now)
        next.delete('page')
        next.delete('after')
        for (const [key, value] of Object.entries(values)) {
          if (value === undefined || value === '') next.delete(key)
          else next.set(key, value)
        }
        return next
      },
      { replace: true },
    )
  // A day is one of its month.
  const choose = (next: string): void => set({ month: next === current ? undefined : next, day: undefined })
  const months = Array.from({ length: monthsBack }, (_, index) => monthPlus(current, -index))
  const offered = months.includes(month) ? months : [...months, month].toSorted().toReversed()
  const controls = (
    <div className="br-controls">
      <span className="br-month">
        <Button icon={<LeftOutlined />} aria-label={t('month.earlier')} title={t('month.earlier')} onClick={() => choose(monthPlus(month, -1))} />
        <Select
          aria-label={t('month.label')}
          className="br-month-select"
          value={month}
          options={offered.map((value) => ({ value, label: monthName(t, value) }))}
          onChange={choose}
        />
        <Button
          icon={<RightOutlined />}
          aria-label={t('month.later')}
          title={t('month.later')}
          disabled={month >= current}
          onClick={() => choose(monthPlus(month, 1))}
        />
      </span>
      {platform && (
        <span className="br-organisation">
          <OrganisationSelect label={t('organisation')} value={id} known={known} onChange={(next) => set({ bp_id: next })} />
        </span>
      )}
    </div>
  )
  return { month, organisation: platform ? id : undefined, controls, set }
}
