import InputNumber from 'antd/es/input-number'
import { useTranslation } from 'react-i18next'
import { gib } from './instanceForm.ts'

/** A disk's size. Its value is bytes, whole GB. */
export function GibInput({ id, value, onChange, leastBytes, label }: {
  readonly id?: string
  readonly value?: number | null
  readonly onChange?: (bytes: number | null) => void
  readonly leastBytes: number
  readonly label: string
}) {
  const { t } = useTranslation('computeInstance')
  return (
    <InputNumber<number>
      {...(id !== undefined && { id })}
      aria-label={label}
      style={{ width: '100%' }}
      min={Math.ceil(leastBytes / gib)}
      precision={0}
      suffix={t('add.gib')}
      value={value === undefined || value === null ? null : value / gib}
      onChange={(next) => onChange?.(next === null ? null : next * gib)}
    />
  )
}
