import InputNumber from 'antd/es/input-number'
import { sizeUnits } from './sizes.ts'

const gib = sizeUnits.GB

/** A disk's size in bytes, typed in whole GB. A control of a form, whose rules refuse what is too small: an end of antd's own would be set instead of it. */
export function GibInput({
  id,
  value,
  onChange,
  label,
  disabled = false,
  wide = false,
}: {
  readonly id?: string
  readonly value?: number | null
  readonly onChange?: (bytes: number | null) => void
  /** Where no label of a form names it. */
  readonly label?: string
  readonly disabled?: boolean
  /** As wide as what it stands in. */
  readonly wide?: boolean
}) {
  return (
    <InputNumber<number>
      {...(id !== undefined && { id })}
      {...(label !== undefined && { 'aria-label': label })}
      style={{ width: wide ? '100%' : 160 }}
      disabled={disabled}
      precision={0}
      suffix="GB"
      value={value === undefined || value === null ? null : value / gib}
      onChange={(next) => onChange?.(next === null ? null : next * gib)}
    />
  )
}
