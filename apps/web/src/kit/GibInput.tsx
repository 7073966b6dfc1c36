import { NumberInput } from './NumberInput.tsx'
import { sizeUnits } from './sizes.ts'

const gib = sizeUnits.GB

/** A disk's size in bytes, typed in GB. A control of a form, whose rules refuse what it cannot be. */
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
    <NumberInput
      {...(id !== undefined && { id })}
      {...(label !== undefined && { 'aria-label': label })}
      style={{ width: wide ? '100%' : 160 }}
      disabled={disabled}
      suffix="GB"
      value={value === undefined || value === null ? null : value / gib}
      onChange={(next) => onChange?.(next === null ? null : Math.round(next * gib))}
    />
  )
}
