import { volumeContents, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useId } from 'react'
import { useTranslation } from '../../../i18n.ts'
import type { Controlled } from '../../../kit/fields.tsx'
import '../nextstack.css'

/** The two kinds of contents, and what each is for. Real radio buttons below. */
export function ContentCards({ id, value, onChange, disabled = false }: Controlled<Volume['content'], { disabled?: boolean }>) {
  const { t } = useTranslation('storage')
  const group = useId()
  return (
    <div id={id} role="radiogroup" aria-label={t('field.content')} className="ns-cards">
      {volumeContents.map((content) => (
        <label key={content} className="ns-card">
          <input type="radio" name={group} value={content} checked={value === content} disabled={disabled} onChange={() => onChange?.(content)} />
          <span className="ns-card-title">{t(`content.${content}`)}</span>
          <span className="ns-card-note">{t(`contentNote.${content}`)}</span>
        </label>
      ))}
    </div>
  )
}
