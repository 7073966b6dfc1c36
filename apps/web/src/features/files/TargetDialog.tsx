import Alert from 'antd/es/alert'
import Modal from 'antd/es/modal'
import Radio from 'antd/es/radio'
import { fileEntries, fileSpaces, type ConflictWay, type FileEntry, type FileSpace } from '@zhisuan/contract/files/file'
import { errors } from '@zhisuan/contract/errors'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { toApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { errorText } from '../../api/toasts.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByFiles } from './invalidated.ts'
import { SpaceBrowser, type SpacePlace } from './SpaceBrowser.tsx'
import './files.css'

/** Chooses the folder that something is put or copied into; folders are gone through one by one. */
export default function TargetDialog({
  how,
  space,
  entries,
  onClose,
}: Dialog<{ how: 'move' | 'copy' | 'publish'; space: FileSpace; entries: readonly FileEntry[] }>) {
  const { t } = useTranslation('files')
  useReturnFocus()
  const all = useCall(fileSpaces.list, {})
  const possible = (all.data?.items ?? []).filter((one) => (how === 'publish' ? one.kind === 'public' : how === 'move' ? one.id === space.id : one.writable))
  const [chosen, setChosen] = useState<string | null>(null)
  const to = possible.find(({ id }) => id === (chosen ?? space.id)) ?? possible[0]
  const [path, setPath] = useState<SpacePlace['path']>([])
  const parent_id = path.at(-1)?.id ?? null
  const [conflict, setConflict] = useState<ConflictWay | null>(null)
  const [refused, setRefused] = useState<string | null>(null)
  const [saving, setSaving] = useState(false)
  const own = new Set(entries.map(({ id }) => id))
  const options = { invalidates: invalidatedByFiles, silent: true } as const
  const move = useChange(fileEntries.move, options)
  const copy = useChange(fileEntries.copy, options)
  const publish = useChange(fileEntries.publish, options)

  const submit = async (): Promise<void> => {
    if (to === undefined) return
    setSaving(true)
    setRefused(null)
    const body = { ids: entries.map(({ id }) => id), parent_id, ...(conflict !== null && { conflict }) }
    try {
      if (how === 'move') await move.mutateAsync({ body })
      else if (how === 'publish') await publish.mutateAsync({ body })
      else await copy.mutateAsync({ body: { ...body, space_id: to.id } })
      notify('success', t(`target.${how}Done`, { count: entries.length }))
      onClose()
    } catch (thrown) {
      const error = toApiError(thrown)
      // Now that it is known, what then is asked.
      if (error.code === errors.fileNameTaken.code && conflict === null) setConflict('keep_both')
      setRefused(errorText(error))
    } finally {
      setSaving(false)
    }
  }

  const [first] = entries
  return (
    <Modal
      open
      title={t(`target.${how}`, { name: first?.name ?? '', count: entries.length })}
      okText={t(`target.${how}Here`)}
      cancelText={t('cancel')}
      confirmLoading={saving}
      okButtonProps={{ disabled: to === undefined }}
      onOk={() => void submit()}
      onCancel={onClose}
      mask={{ closable: false }}
      width={560}
    >
      {refused !== null && <Alert className="zs-above" type="error" showIcon title={refused} />}
      {how === 'publish' && <p className="zs-soft">{t('target.publishNote')}</p>}
      {to !== undefined && (
        <SpaceBrowser
          spaces={possible}
          at={{ space: to, path }}
          hidden={how === 'move' ? own : undefined}
          onGo={(next) => {
            setChosen(next.space.id)
            setPath(next.path)
          }}
        />
      )}
      {conflict !== null && (
        <Radio.Group
          className="fl-conflict"
          value={conflict}
          options={(['keep_both', 'replace'] as const).map((way) => ({ value: way, label: t(`conflict.${way}`) }))}
          onChange={({ target }) => setConflict(target.value as ConflictWay)}
        />
      )}
    </Modal>
  )
}
