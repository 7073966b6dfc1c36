import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import type { Registry } from '@zhisuan/contract/ims/registry'
import { useTranslation } from '../../i18n.ts'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { CodeLines } from './CodeLines.tsx'
import { certificateFile, notificationLines, tokenLines } from './setupLines.ts'
import './registry.css'

/** What a registry has to be told by whoever runs it: lines of its own configuration. The secret is in them once, when it was made. */
export default function RegistrySetup({ registry, onClose }: Dialog<{ registry: Registry }>) {
  const { t } = useTranslation('mirror')
  const { token_service: service, notifications } = registry
  const secret = notifications?.secret ?? null
  const once = notifications !== null && secret !== null
  return (
    <Drawer
      open
      size={760}
      title={t('registry.setupTitle', { name: registry.name })}
      // What is told once goes only by the button that says so.
      {...(once && { closable: false, keyboard: false, mask: { closable: false } })}
      onClose={onClose}
      footer={
        <Button type="primary" onClick={onClose}>
          {t(once ? 'registry.setupClose' : 'close')}
        </Button>
      }
    >
      {service === null && notifications === null ? <p>{t('registry.setupReady')}</p> : <p>{t('registry.setupIntro')}</p>}
      {notifications !== null && (
        <Alert className="zs-above" type={once ? 'warning' : 'info'} showIcon title={t(once ? 'registry.secretOnce' : 'registry.secretGone')} />
      )}
      {service !== null && (
        <>
          <h3 className="rg-part">{t('registry.setupCertificate')}</h3>
          <p className="zs-soft">{t('registry.setupCertificateNote', { file: certificateFile })}</p>
          <CodeLines text={service.certificate.trim()} />
          <h3 className="rg-part">{t('registry.setupAuth')}</h3>
          <CodeLines text={tokenLines(service)} />
        </>
      )}
      {notifications !== null && (
        <>
          <h3 className="rg-part">{t('registry.setupNotifications')}</h3>
          <p className="zs-soft">{t('registry.setupNotificationsNote')}</p>
          <CodeLines text={notificationLines(notifications.url, secret ?? t('registry.secretPlaceholder'))} />
        </>
      )}
    </Drawer>
  )
}
