import CloseCircleFilled from '@ant-design/icons/es/icons/CloseCircleFilled'
import { useTranslation } from '../i18n.ts'

function ClearIcon() {
  const { t } = useTranslation('kit')
  return <CloseCircleFilled aria-label={t('field.clear')} />
}

/** For the `allowClear` of an input: antd's own button is named after its icon, in English. */
export const clearable = { clearIcon: <ClearIcon /> }
