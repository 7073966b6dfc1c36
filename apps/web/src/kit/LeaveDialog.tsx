import Modal from 'antd/es/modal'
import { useTranslation } from '../i18n.ts'

/** Asks before what was typed and not sent is lost. */
export function LeaveDialog({ open, onLeave, onStay }: { readonly open: boolean; readonly onLeave: () => void; readonly onStay: () => void }) {
  const { t } = useTranslation('kit')
  return (
    <Modal open={open} title={t('form.leaveTitle')} okText={t('form.leave')} cancelText={t('form.stay')} onOk={onLeave} onCancel={onStay}>
      {t('form.leaveBody')}
    </Modal>
  )
}
