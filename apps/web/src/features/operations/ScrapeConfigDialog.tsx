import Modal from 'antd/es/modal'
import { useTranslation } from '../../i18n.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import { ScrapeConfig } from './ScrapeConfig.tsx'

/** Shown once, after one was registered. */
export default function ScrapeConfigDialog({ name, text, onClose }: { readonly name: string; readonly text: string; readonly onClose: () => void }) {
  const { t } = useTranslation('operations')
  useReturnFocus()
  return (
    <Modal
      open
      width={720}
      title={t('prometheus.configTitle', { name })}
      onCancel={onClose}
      cancelText={t('close')}
      okButtonProps={{ style: { display: 'none' } }}
    >
      <ScrapeConfig text={text} withToken />
    </Modal>
  )
}
