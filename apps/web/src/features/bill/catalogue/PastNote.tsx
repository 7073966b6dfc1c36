import Alert from 'antd/es/alert'
import { useTranslation } from 'react-i18next'
import './catalogue.css'

/** What everybody who changes a price has to know first. */
export function PastNote() {
  const { t } = useTranslation('catalogue')
  return <Alert className="bc-notice" type="info" showIcon title={t('past')} />
}
