import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useBlocker } from '../../../kit/navigation.ts'
import { notify } from '../../../api/notify.ts'
import { copyText } from '../../../kit/copy.ts'
import type { MadeKeyPair } from './KeyPairDialog.tsx'
import { downloadText } from '../../../kit/save.ts'
import '../compute.css'

/** Shows a private key, this once: whoever leaves without it is asked first. */
export function PrivateKeyDialog({ made, onClose }: { readonly made: MadeKeyPair; readonly onClose: () => void }) {
  const { t } = useTranslation('nextstackCompute')
  const [shown, setShown] = useState(false)
  const [saved, setSaved] = useState(false)
  const [leaving, setLeaving] = useState(false)
  const secret = made.private_key ?? ''
  const file = `${made.name}.pem`

  const blocker = useBlocker(({ currentLocation, nextLocation }) => !saved && currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    if (saved) return undefined
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [saved])

  const download = (): void => {
    downloadText(file, secret)
    setSaved(true)
    notify('success', t('keyPair.done.download'))
  }
  const copy = (): void => {
    void copyText(secret)
    setSaved(true)
  }

  return (
    <Modal
      open
      title={t('keyPair.secret.title', { name: made.name })}
      width={640}
      mask={{ closable: false }}
      onCancel={() => (saved ? onClose() : setLeaving(true))}
      footer={
        <Button type={saved ? 'primary' : 'default'} onClick={() => (saved ? onClose() : setLeaving(true))}>
          {t('keyPair.secret.close')}
        </Button>
      }
    >
      <Alert className="zs-above" type="warning" showIcon title={t('keyPair.secret.once')} description={t('keyPair.secret.onceNote')} />
      <p className="zs-buttons">
        <Button type="primary" autoFocus onClick={download}>
          {t('keyPair.secret.download', { name: made.name })}
        </Button>
        <Button onClick={copy}>{t('keyPair.secret.copy')}</Button>
        <Button type="text" aria-expanded={shown} onClick={() => setShown(!shown)}>
          {shown ? t('keyPair.secret.hide') : t('keyPair.secret.show')}
        </Button>
      </p>
      {shown && (
        <pre className="nc-code" tabIndex={0} role="region" aria-label={t('keyPair.secret.label')}>
          {secret}
        </pre>
      )}
      <p className="zs-soft">{t('keyPair.secret.use')}</p>
      <pre className="nc-code" tabIndex={0} role="region" aria-label={t('keyPair.secret.use')}>{`chmod 600 ${file}\nssh -i ${file} root@…`}</pre>
      <Modal
        open={leaving || blocker.state === 'blocked'}
        title={t('keyPair.secret.leaveTitle')}
        okText={t('keyPair.secret.leave')}
        okButtonProps={{ danger: true }}
        cancelText={t('keyPair.secret.stay')}
        onOk={() => {
          setLeaving(false)
          if (blocker.state === 'blocked') blocker.proceed()
          else onClose()
        }}
        onCancel={() => {
          setLeaving(false)
          blocker.reset()
        }}
      >
        {t('keyPair.secret.leaveNote')}
      </Modal>
    </Modal>
  )
}
