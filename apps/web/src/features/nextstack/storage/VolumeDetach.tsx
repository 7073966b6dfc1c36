import { useQueryClient } from '@tanstack/react-query'
import Alert from 'antd/es/alert'
import Checkbox from 'antd/es/checkbox'
import Modal from 'antd/es/modal'
import { errors } from '@zhisuan/contract/errors'
import { volumes, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { toApiError } from '../../../api/client.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { useReturnFocus } from '../../../kit/focus.ts'
import { invalidatedByVolume } from './storageRules.ts'
import './storage.css'

/**
 * Takes a volume from its instance. It waits for how that ends: a volume that a process uses stays,
 * and the person is offered to take it by force, knowing what that may cost.
 */
export function VolumeDetach({ volume, onClose }: { readonly volume: Volume; readonly onClose: () => void }) {
  const { t } = useTranslation('storage')
  useReturnFocus()
  const client = useQueryClient()
  const input = { params: { id: volume.id } }
  const [waiting, setWaiting] = useState(false)
  const [refused, setRefused] = useState<string | null>(null)
  const [force, setForce] = useState(false)
  const detach = useChange(volumes.detach, { invalidates: invalidatedByVolume, silent: true })
  const { data: now } = useCall(volumes.get, input, { enabled: waiting, silent: true, refreshMs: 1_000 })
  const busy = refused === errors.volumeBusy.text
  const { name: vm, path } = { name: volume.attached_to?.vm.name ?? '', path: volume.attached_to?.path ?? null }

  useEffect(() => {
    if (!waiting || now === undefined || now.status === 'detaching') return
    setWaiting(false)
    if (now.attached_to === null) {
      notify('success', t('done.detached', { name: volume.name, vm }))
      onClose()
    } else if (now.error !== null) setRefused(now.error)
  }, [waiting, now, t, volume.name, vm, onClose])

  const go = async (): Promise<void> => {
    setRefused(null)
    try {
      const answer = await detach.mutateAsync({ ...input, body: { force } })
      // What was read before the request tells nothing of how it ends.
      client.setQueryData([volumes.get.id, input], answer)
      setWaiting(true)
    } catch (thrown) {
      setRefused(errorText(toApiError(thrown)))
    }
  }

  return (
    <Modal
      open
      title={t('detach.title', { name: volume.name })}
      okText={force ? t('detach.force') : t('action.detach')}
      okButtonProps={{ danger: true, disabled: busy && !force }}
      confirmLoading={detach.isPending || waiting}
      onOk={go}
      onCancel={onClose}
      mask={{ closable: false }}
      width={520}
    >
      <p>{path === null ? t('detach.bodyBlock', { vm }) : t('detach.body', { vm, path })}</p>
      <div aria-live="polite">
        {waiting && <p className="zs-soft">{t('detach.waiting')}</p>}
        {refused !== null && (
          <Alert
            type="error"
            showIcon
            title={busy ? t('detach.busy', { vm }) : refused}
            {...(busy && { description: path === null ? t('detach.busyBlock') : t('detach.busyNote', { path }) })}
          />
        )}
      </div>
      {busy && (
        <div className="st-force">
          <Checkbox checked={force} onChange={(event) => setForce(event.target.checked)}>
            {t('detach.force')}
          </Checkbox>
          <p className="zs-bad">{t('detach.forceNote')}</p>
        </div>
      )}
    </Modal>
  )
}
