import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import { useTranslation } from '../../../i18n.ts'
import './image.css'

/** While a file is read through for its checksum, which takes as long as the disk does. @param share 0 to 1 */
export function ChecksumProgress({ share, onSkip }: { readonly share: number; readonly onSkip: () => void }) {
  const { t } = useTranslation('image')
  return (
    <div className="im-hash" role="status">
      <span>{t('checksum.making')}</span>
      <Progress percent={Math.floor(share * 100)} aria-label={t('checksum.making')} />
      <Button size="small" onClick={onSkip}>
        {t('checksum.skip')}
      </Button>
    </div>
  )
}
