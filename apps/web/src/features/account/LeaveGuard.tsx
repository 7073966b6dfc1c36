import Modal from 'antd/es/modal'
import { useEffect } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useBlocker } from '../../kit/navigation.ts'

/** Asks before the page is left while some of its forms hold what was not submitted. */
export function LeaveGuard({ sections }: { readonly sections: readonly string[] }) {
  const { t } = useTranslation('account')
  const dirty = sections.length > 0
  const blocker = useBlocker(({ currentLocation, nextLocation }) => dirty && currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    if (!dirty) return undefined
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [dirty])
  return (
    <Modal
      open={blocker.state === 'blocked'}
      title={t('leaveTitle')}
      okText={t('leave')}
      cancelText={t('stay')}
      onOk={() => blocker.proceed()}
      onCancel={() => blocker.reset()}
    >
      {t('leaveText', { sections: sections.join('”“') })}
    </Modal>
  )
}
