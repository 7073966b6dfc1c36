import Alert from 'antd/es/alert'
import { useTranslation } from '../../../i18n.ts'

/** What everybody who changes a price has to know first. */
export function PastNote() {
  const { t } = useTranslation('catalogue')
  return <Alert className="zs-above" type="info" showIcon title={t('past')} />
}
