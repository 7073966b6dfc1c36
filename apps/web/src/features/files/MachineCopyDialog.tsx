import Alert from 'antd/es/alert'
import Modal from 'antd/es/modal'
import Radio from 'antd/es/radio'
import { errors } from '@zhisuan/contract/errors'
import { fileSpaces, type FileEntry } from '@zhisuan/contract/files/file'
import { machineCopies, type MachineCopy } from '@zhisuan/contract/files/machine'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { toApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { errorText } from '../../api/toasts.ts'
import { useReturnFocus } from '../../kit/focus.ts'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { SpaceBrowser, type SpacePlace } from './SpaceBrowser.tsx'
import './files.css'

/** Of a machine: which, and where on it. */
export interface MachineAt {
  readonly machine: Pick<MachineCopy['machine'], 'kind' | 'id'>
  readonly path: string
}
type Way = 'keep_both' | 'replace' | 'skip'
interface Item {
  readonly key: string
  readonly name: string
}

/** Chooses what of one's spaces goes into a directory of a machine; or, of something there, the folder that it comes to. */
export default function MachineCopyDialog({ how, at, onClose }: Dialog<{ how: 'to_machine' | 'from_machine'; at: MachineAt }>) {
  const { t } = useTranslation('files')
  useReturnFocus()
  const all = useCall(fileSpaces.list, {})
  const possible = (all.data?.items ?? []).filter(({ writable }) => how === 'to_machine' || writable)
  const [gone, setGone] = useState<SpacePlace | null>(null)
  const [first] = possible
  const place: SpacePlace | null = gone ?? (first === undefined ? null : { space: first, path: [] })
  const [chosen, setChosen] = useState<readonly FileEntry[]>([])
  const [taken, setTaken] = useState<readonly Item[]>([])
  const [way, setWay] = useState<Way>('keep_both')
  const [refused, setRefused] = useState<string | null>(null)
  const [saving, setSaving] = useState(false)
  const options = { invalidates: [machineCopies.list], silent: true } as const
  const toMachine = useChange(machineCopies.toMachine, options)
  const fromMachine = useChange(machineCopies.fromMachine, options)

  const name = at.path.split('/').at(-1) ?? ''
  const { kind, id } = at.machine
  const items: readonly Item[] =
    taken.length > 0 ? taken : how === 'to_machine' ? chosen.map((entry) => ({ key: entry.id, name: entry.name })) : [{ key: at.path, name }]
  const begin = async ({ key }: Item): Promise<void> => {
    const conflict = taken.length > 0 && way !== 'skip' ? way : ('refuse' as const)
    const about = { machine: { kind, id }, path: at.path, conflict }
    if (how === 'to_machine') await toMachine.mutateAsync({ body: { ...about, entry_id: key } })
    else if (place !== null) await fromMachine.mutateAsync({ body: { ...about, space_id: place.space.id, parent_id: place.path.at(-1)?.id ?? null } })
  }
  const submit = async (): Promise<void> => {
    if (taken.length > 0 && way === 'skip') return onClose()
    setSaving(true)
    setRefused(null)
    const asks: Item[] = []
    const failed: string[] = []
    for (const item of items) {
      try {
        await begin(item)
      } catch (thrown) {
        const error = toApiError(thrown)
        if (error.code === errors.fileNameTaken.code && taken.length === 0) asks.push(item)
        else failed.push(errorText(error))
      }
    }
    setSaving(false)
    const begun = items.length - asks.length - failed.length
    if (begun > 0) notify('success', t('machine.begun', { count: begun }))
    if (failed.length > 0) setRefused([...new Set(failed)].join('；'))
    // What has begun is not asked for again.
    setChosen([])
    setTaken(asks)
    if (asks.length === 0 && failed.length === 0) onClose()
  }

  return (
    <Modal
      open
      title={how === 'to_machine' ? t('machine.toTitle', { path: at.path }) : t('machine.fromTitle', { name: name === '' ? '/' : name })}
      okText={t(taken.length > 0 ? 'machine.goOn' : how === 'to_machine' ? 'machine.toHere' : 'machine.fromHere')}
      cancelText={t('cancel')}
      confirmLoading={saving}
      okButtonProps={{ disabled: place === null || items.length === 0 }}
      onOk={() => void submit()}
      onCancel={onClose}
      mask={{ closable: false }}
      width={560}
    >
      {refused !== null && <Alert className="zs-above" type="error" showIcon title={refused} />}
      {taken.length > 0 ? (
        <>
          <p>{t('machine.taken', { names: taken.map((one) => one.name).join('、') })}</p>
          <Radio.Group
            className="fl-conflict"
            aria-label={t('machine.takenWhat')}
            value={way}
            options={(['keep_both', 'replace', 'skip'] as const).map((one) => ({
              value: one,
              label: t(one === 'replace' && how === 'to_machine' ? 'machine.replace' : `conflict.${one}`),
            }))}
            onChange={({ target }) => setWay(target.value as Way)}
          />
        </>
      ) : (
        place !== null && (
          <SpaceBrowser spaces={possible} at={place} onGo={setGone} {...(how === 'to_machine' && { picked: { chosen, onChange: setChosen } })} />
        )
      )}
    </Modal>
  )
}
