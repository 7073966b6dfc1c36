import InputNumber from 'antd/es/input-number'
import { useTranslation } from 'react-i18next'

const gib = 2 ** 30

/** A disk's size in bytes, typed in whole GB. A control of a form. */
export function GibInput({
  id,
  value,
  onChange,
  leastBytes = gib,
  label,
  wide = false,
}: {
  readonly id?: string
  readonly value?: number | null
  readonly onChange?: (bytes: number | null) => void
  readonly leastBytes?: number
  /** Where no label of a form names it. */
  readonly label?: string
  /** As wide as what it stands in. */
  readonly wide?: boolean
}) {
  const { t } = useTranslation('compute')
  return (
    <InputNumber<number>
      {...(id !== undefined && { id })}
      {...(label !== undefined && { 'aria-label': label })}
      style={{ width: wide ? '100%' : 160 }}
      min={Math.ceil(leastBytes / gib)}
      precision={0}
      suffix={t('gib')}
      value={value === undefined || value === null ? null : value / gib}
      onChange={(next) => onChange?.(next === null ? null : next * gib)}
    />
  )
}
