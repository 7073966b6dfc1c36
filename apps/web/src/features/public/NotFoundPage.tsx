import { useTranslation } from '../../i18n.ts'
import { Astray } from '../../kit/Astray.tsx'

/** At an address that no page has. */
export default function NotFoundPage() {
  const { t } = useTranslation('public')
  return <Astray title={t('notFound.title')} text={t('notFound.text')} />
}
