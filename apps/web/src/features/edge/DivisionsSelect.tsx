import Select from 'antd/es/select'
import { lookups } from '@zhisuan/contract/ecrm/region'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import './edge.css'

const levels = ['province', 'city', 'county'] as const

/** Province, city and county, as far as they are known; a control of a form. */
export function DivisionsSelect({
  id,
  nation,
  value = [],
  onChange,
}: {
  readonly id?: string
  /** Of the region; only the divisions of some are known. */
  readonly nation: string | undefined
  readonly value?: readonly string[]
  readonly onChange?: (codes: string[]) => void
}) {
  return (
    <div className="ed-divisions">
      {levels.map((level, at) => (
        <Level
          key={level}
          {...(at === 0 && id !== undefined && { id })}
          at={at}
          level={level}
          nation={nation}
          above={at === 0 ? '0' : value[at - 1]}
          value={value[at]}
          onChange={(code) => onChange?.([...value.slice(0, at), ...(code === undefined ? [] : [code])])}
        />
      ))}
    </div>
  )
}

function Level({
  id,
  at,
  level,
  nation,
  above,
  value,
  onChange,
}: {
  readonly id?: string
  readonly at: number
  readonly level: (typeof levels)[number]
  readonly nation: string | undefined
  readonly above: string | undefined
  readonly value: string | undefined
  readonly onChange: (code: string | undefined) => void
}) {
  const { t } = useTranslation('edge')
  const enabled = nation !== undefined && above !== undefined
  const { data, isFetching } = useCall(lookups.divisions, { params: { a: nation ?? '', b: above ?? '0' } }, { enabled })
  const options = enabled ? (data?.items ?? []) : []
  // There is a choice only below what has been chosen, and not below every city.
  if (at > 0 && options.length === 0) return null
  return (
    <Select<string>
      {...(id !== undefined && { id })}
      {...(value !== undefined && { value })}
      allowClear
      showSearch={{ optionFilterProp: 'label' }}
      aria-label={t(`site.level.${level}`)}
      placeholder={t(`site.level.${level}`)}
      loading={enabled && isFetching}
      disabled={!enabled || (options.length === 0 && !isFetching)}
      options={options.map(({ code, name }) => ({ value: code, label: name }))}
      onChange={(code: string | undefined) => onChange(code)}
    />
  )
}
