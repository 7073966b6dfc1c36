import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { paths } from '../paths.ts'

export function Brand() {
  const { t } = useTranslation()
  return (
    <Link to={paths.welcome()} className="zs-brand">
      <img src="/favicon.svg" alt="" width="28" height="28" />
      <span>{t('brand')}</span>
    </Link>
  )
}
