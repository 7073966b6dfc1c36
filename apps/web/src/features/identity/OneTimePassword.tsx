import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import { useTranslation } from '../../i18n.ts'
import { copyText } from '../../kit/copy.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import './identity.css'

/** A password that is told once; closed only by who says that they have kept it. */
export function OneTimePassword({ name, password, onClose }: { readonly name: string; readonly password: string; readonly onClose: () => void }) {
  const { t } = useTranslation('identity')
  useReturnFocus()
  return (
    <Modal
      open
      title={t('user.oneTime.title')}
      closable={false}
      keyboard={false}
      mask={{ closable: false }}
      onCancel={onClose}
      width={480}
      footer={[
        <Button key="copy" onClick={() => void copyText(t('user.oneTime.copied', { name, password }))}>
          {t('user.oneTime.copy')}
        </Button>,
        <Button key="close" type="primary" onClick={onClose}>
          {t('user.oneTime.close')}
        </Button>,
      ]}
    >
      <p>{t('user.oneTime.note')}</p>
      <dl className="identity-secret">
        <dt>{t('user.oneTime.username')}</dt>
        <dd>{name}</dd>
        <dt>{t('user.oneTime.password')}</dt>
        <dd>
          <code>{password}</code>
        </dd>
      </dl>
    </Modal>
  )
}
