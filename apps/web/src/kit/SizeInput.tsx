import Select from 'antd/es/select'
import Space from 'antd/es/space'
import { useState } from 'react'
import { useTranslation } from '../i18n.ts'
import { NumberInput } from './NumberInput.tsx'
import { bytesOf, sizeUnits, unitOf, type SizeUnit } from './sizes.ts'

/** A size in bytes, typed in the unit that suits it. */
export function SizeInput({
  id,
  value,
  onChange,
  label,
  disabled = false,
}: {
  readonly id?: string
  readonly value?: number | null
  readonly onChange?: (bytes: number | null) => void
  /** What it is the size of, said to screen readers where no form does. */
  readonly label?: string
  readonly disabled?: boolean
}) {
  const { t } = useTranslation('kit')
  const [unit, setUnit] = useState<SizeUnit>(() => unitOf(value))
  return (
    <Space.Compact>
      <NumberInput
        {...(id !== undefined && { id })}
        {...(label !== undefined && { 'aria-label': label })}
        value={value === null || value === undefined ? null : value / sizeUnits[unit]}
        min={0}
        disabled={disabled}
        onChange={(typed) => onChange?.(bytesOf(typed, unit))}
      />
      <Select<SizeUnit>
        aria-label={`${label ?? ''}${t('form.unit')}`}
        value={unit}
        disabled={disabled}
        options={(Object.keys(sizeUnits) as SizeUnit[]).map((one) => ({ value: one, label: one }))}
        // The number stays as it was typed: who wants other units means another size.
        onChange={(next) => {
          setUnit(next)
          if (value !== null && value !== undefined) onChange?.(bytesOf(value / sizeUnits[unit], next))
        }}
      />
    </Space.Compact>
  )
}
