import { useTranslation } from '../i18n.ts'
import { Link } from 'react-router'
import { EmptyState } from './EmptyState.tsx'

export interface GoneProps {
  /** What is not there; the kit's words where it is left out. */
  readonly title?: string
  readonly note?: string
  /** Where the others of its kind are. */
  readonly to: string
  readonly back?: string
}

/** In the place of a page whose thing is not there, or not any more, or belongs to others. */
export function Gone({ title, note, to, back }: GoneProps) {
  const { t } = useTranslation('kit')
  return (
    <div className="zs-card">
      <EmptyState
        title={title ?? t('gone.title')}
        action={
          <Link to={to} className="zs-button zs-button-plain">
            {back ?? t('gone.back')}
          </Link>
        }
      >
        {note ?? t('gone.note')}
      </EmptyState>
    </div>
  )
}
