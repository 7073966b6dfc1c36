import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { vmTypes, type VmType } from '@zhisuan/contract/nextstack/vm'
import { useId } from 'react'
import { useTranslation } from '../../../i18n.ts'
import '../nextstack.css'

/** The two kinds of instances, what each is good for, and why one cannot be had here. Real radio buttons below. */
export function TypeCards({
  id,
  value,
  onChange,
  types,
}: {
  readonly id?: string
  readonly value?: VmType
  readonly onChange?: (type: VmType) => void
  /** Undefined while no cloud is chosen. */
  readonly types: CloudBasic['instance_types'] | undefined
}) {
  const { t } = useTranslation('nextstack')
  const group = useId()
  return (
    <div id={id} role="radiogroup" aria-label={t('field.type')} className="ns-cards">
      {vmTypes.map((type) => {
        const off = types !== undefined && !types[type].available
        const reason = types?.[type].reason ?? null
        return (
          <label key={type} className="ns-card">
            <input type="radio" name={group} value={type} checked={value === type} disabled={off} onChange={() => onChange?.(type)} />
            <span className="ns-card-title">{t(`type.${type}`)}</span>
            <span className="ns-card-note">{t(`add.typeNote.${type}`)}</span>
            {off && <span className="ns-card-off">{reason === null ? t('add.unavailableUnknown') : t('add.unavailable', { reason })}</span>}
          </label>
        )
      })}
    </div>
  )
}
