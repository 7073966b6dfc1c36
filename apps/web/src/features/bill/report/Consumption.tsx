import Button from 'antd/es/button'
import Select from 'antd/es/select'
import Tag from 'antd/es/tag'
import { consumes } from '@zhisuan/contract/bill/consume'
import { isMeter, meterNames } from '@zhisuan/contract/bill/meter'
import { useId } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { DayInput } from '../../../kit/dates.tsx'
import { saveFrom } from '../../../kit/save.ts'
import { daysOf } from './months.ts'
import { SaveButtons } from '../../../kit/SaveButtons.tsx'
import { UsageTable } from './UsageTable.tsx'
import { useBillQuery } from './useBillQuery.tsx'
import { useNames } from './useNames.ts'
import './report.css'

const keys = ['day', 'resource_id', 'product_id', 'project_id'] as const

/** Every line of a month, to the single hour, with how its amount was made. */
export default function Consumption() {
  const { t } = useTranslation('report')
  const { meterName } = useNames()
  const { month, organisation, controls, set } = useBillQuery()
  const [search] = useSearchParams()
  const summary = useCall(consumes.summary, { query: { month, ...(organisation !== undefined && { bp_id: organisation }) } }, { silent: true })
  const save = useChange(consumes.export, { onDone: ({ path }) => saveFrom(path) })
  const given: Partial<Record<(typeof keys)[number], string>> = {}
  for (const key of keys) {
    const value = search.get(key)
    if (value !== null && value !== '') given[key] = value
  }
  const asked = search.get('meter') ?? ''
  // What is in the address is judged by the server.
  const query = { month, ...given, ...(isMeter(asked) && { meter: asked }), ...(organisation !== undefined && { bp_id: organisation }) }
  const filtered = Object.keys(given).length > 0 || isMeter(asked)
  const { data: resource } = useCall(
    consumes.resource,
    { params: { id: given.resource_id ?? '' }, query: { month } },
    { silent: true, enabled: given.resource_id !== undefined },
  )
  const days = daysOf(month)
  const dayId = useId()
  return (
    <>
      {controls}
      <div className="zs-card">
        <div className="br-filters">
          <span className="zs-labelled">
            <label htmlFor={dayId}>{t('lines.filter.day')}</label>
            <DayInput id={dayId} min={days[0]} max={days.at(-1)} value={given.day ?? ''} onChange={(day) => set({ day })} />
          </span>
          <Select
            aria-label={t('lines.filter.product')}
            placeholder={t('lines.filter.product')}
            allowClear
            value={given.product_id ?? null}
            options={summary.data?.products.map(({ id, name }) => ({ value: id, label: name })) ?? []}
            onChange={(value: string | null | undefined) => set({ product_id: value ?? undefined })}
          />
          <Select
            aria-label={t('lines.filter.project')}
            placeholder={t('lines.filter.project')}
            allowClear
            showSearch={{ optionFilterProp: 'label' }}
            value={given.project_id ?? null}
            options={summary.data?.projects.map(({ id, name }) => ({ value: id ?? 'none', label: id === null ? t('lines.filter.noProject') : name })) ?? []}
            onChange={(value: string | null | undefined) => set({ project_id: value ?? undefined })}
          />
          <Select
            aria-label={t('lines.filter.meter')}
            placeholder={t('lines.filter.meter')}
            allowClear
            value={isMeter(asked) ? asked : null}
            options={meterNames.map((value) => ({ value, label: meterName(value) }))}
            onChange={(value: string | null | undefined) => set({ meter: value ?? undefined })}
          />
          {given.resource_id !== undefined && (
            <Tag closable onClose={() => set({ resource_id: undefined })}>
              {t('lines.filter.onlyResource', { name: resource?.resource.name ?? given.resource_id })}
            </Tag>
          )}
          {filtered && (
            <Button
              type="link"
              size="small"
              onClick={() => set({ day: undefined, resource_id: undefined, product_id: undefined, project_id: undefined, meter: undefined })}
            >
              {t('lines.clear')}
            </Button>
          )}
          <SaveButtons pending={save.isPending} save={(format) => save.mutate({ body: { format, ...query } })} />
        </div>
        <UsageTable query={query} />
      </div>
    </>
  )
}
