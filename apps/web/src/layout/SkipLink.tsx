import { useTranslation } from '../i18n.ts'
import './frame.css'

/** For the keyboard: past everything that is on every page. */
export function SkipLink() {
  const { t } = useTranslation()
  return (
    <a
      className="frame-skip"
      href="#main"
      onClick={(event) => {
        event.preventDefault()
        document.querySelector<HTMLElement>('#main')?.focus()
      }}
    >
      {t('nav.skip')}
    </a>
  )
}
