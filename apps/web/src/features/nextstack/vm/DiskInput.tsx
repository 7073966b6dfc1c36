import Slider from 'antd/es/slider'
import { useTranslation } from '../../../i18n.ts'
import { GibInput } from '../../../kit/GibInput.tsx'
import { sizeUnits } from '../../../kit/sizes.ts'
import type { Controlled } from '../../../kit/fields.tsx'
import '../nextstack.css'

const gib = sizeUnits.GB

/** Where the slider ends; more can be typed. */
const sliderMaxGib = 500

/** A disk's size: dragged for the usual, typed for the exact. Its value is bytes, whole GB. */
export function DiskInput({ id, value, onChange, minBytes, disabled = false }: Controlled<number | null, { minBytes: number; disabled?: boolean }>) {
  const { t } = useTranslation('nextstack')
  const min = Math.ceil(minBytes / gib)
  const size = value === undefined || value === null ? null : value / gib
  const max = Math.max(sliderMaxGib, min * 2)
  return (
    <div className="ns-disk">
      <Slider
        min={min}
        max={max}
        value={Math.min(max, size ?? min)}
        disabled={disabled}
        onChange={(next: number) => onChange?.(next * gib)}
        tooltip={{ formatter: (next) => `${next} ${t('add.diskUnit')}` }}
        ariaLabelForHandle={t('field.disk')}
      />
      <GibInput {...(id !== undefined && { id })} value={value ?? null} disabled={disabled} wide onChange={(bytes) => onChange?.(bytes)} />
    </div>
  )
}
