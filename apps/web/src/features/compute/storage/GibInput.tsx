import InputNumber from 'antd/es/input-number'
import { useTranslation } from 'react-i18next'
import { gib } from './storageRules.ts'

/** A size in bytes, typed in whole GiB, as block storage comes. A control of a form. */
export function GibInput({ id, value, onChange }: { readonly id?: string; readonly value?: number | null; readonly onChange?: (bytes: number | null) => void }) {
  const { t } = useTranslation('computeStorage')
  return (
    <InputNumber<number>
      {...(id !== undefined && { id })}
      className="co-size"
      value={value === null || value === undefined ? null : value / gib}
      min={1}
      precision={0}
      suffix={t('add.sizeUnit')}
      onChange={(typed) => onChange?.(typed === null ? null : typed * gib)}
    />
  )
}
