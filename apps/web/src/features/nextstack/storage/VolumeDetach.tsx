import { useQueryClient } from '@tanstack/react-query'
import Form from 'antd/es/form'
import { errors } from '@zhisuan/contract/errors'
import { volumes, type Volume } from '@zhisuan/contract/nextstack/volume'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { request, toApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { pause } from '../../../api/pause.ts'
import { errorText } from '../../../api/toasts.ts'
import { CheckField } from '../../../kit/fields.tsx'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { invalidatedByVolume } from './storageRules.ts'
import './storage.css'

/**
 * Takes a volume from its instance. It waits for how that ends: a volume that a process uses stays,
 * and the person is offered to take it by force, knowing what that may cost.
 */
export function VolumeDetach({ volume, onClose }: { readonly volume: Volume; readonly onClose: () => void }) {
  const { t } = useTranslation('storage')
  const client = useQueryClient()
  const params = { id: volume.id }
  const [form] = Form.useForm<{ force: boolean }>()
  const force = Form.useWatch('force', form) ?? false
  const [waiting, setWaiting] = useState(false)
  const [busy, setBusy] = useState(false)
  const left = useRef(new AbortController())
  const detach = useChange(volumes.detach, { invalidates: invalidatedByVolume, silent: true })
  const { name: vm, path } = { name: volume.attached_to?.vm.name ?? '', path: volume.attached_to?.path ?? null }
  useEffect(() => {
    left.current = new AbortController()
    return () => left.current.abort()
  }, [])

  const ended = async (now: Volume): Promise<Volume> => {
    client.setQueryData([volumes.get.id, { params }], now)
    if (now.status !== 'detaching' || left.current.signal.aborted) return now
    await pause(1_000, left.current.signal)
    const next = await request(volumes.get, { params }).catch((thrown: unknown) => {
      const { status } = toApiError(thrown)
      // No answer says nothing of how it ends.
      if (status >= 400 && status < 500) throw thrown
      return now
    })
    return ended(next)
  }
  const go = async (values: { readonly force: boolean }): Promise<void> => {
    try {
      const begun = await detach.mutateAsync({ params, body: { force: values.force } })
      setWaiting(true)
      const now = await ended(begun)
      if (now.attached_to !== null) throw new Error(now.error ?? '')
    } catch (thrown) {
      setBusy(errorText(toApiError(thrown)) === errors.volumeBusy.text)
      throw thrown
    } finally {
      setWaiting(false)
    }
  }

  return (
    <FormDialog
      danger
      form={form}
      title={t('detach.title', { name: volume.name })}
      okText={force ? t('detach.force') : t('action.detach')}
      okDisabled={busy && !force}
      initialValues={{ force: false }}
      onSubmit={go}
      doneText={t('done.detached', { name: volume.name, vm })}
      refusal={(reason) =>
        reason === errors.volumeBusy.text
          ? { title: t('detach.busy', { vm }), description: path === null ? t('detach.busyBlock') : t('detach.busyNote', { path }) }
          : { title: reason }
      }
      onClose={onClose}
    >
      <p>{path === null ? t('detach.bodyBlock', { vm }) : t('detach.body', { vm, path })}</p>
      <div aria-live="polite">{waiting && <p className="zs-soft">{t('detach.waiting')}</p>}</div>
      {busy && (
        <div className="st-force">
          <CheckField noStyle name="force" text={t('detach.force')} />
          <p className="zs-bad">{t('detach.forceNote')}</p>
        </div>
      )}
    </FormDialog>
  )
}
