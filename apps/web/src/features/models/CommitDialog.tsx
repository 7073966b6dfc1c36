import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import { modelFiles, modelRevisions, models, type Model } from '@zhisuan/contract/models/model'
import { useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { request } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { sendFile } from '../../kit/sendFile.ts'
import { useUpload } from '../../kit/uploads.ts'
import './models.css'

interface Chosen {
  readonly path: string
  readonly file: File
}

/** Sends files to a model and makes a revision of them: all that were chosen, or nothing. */
export default function CommitDialog({ model, onClose }: Dialog<{ model: Model }>) {
  const { t } = useTranslation('models')
  const [chosen, setChosen] = useState<readonly Chosen[]>([])
  const [sending, setSending] = useState<{ readonly id: string; readonly path: string; readonly number: number } | null>(null)
  const files = useRef<HTMLInputElement>(null)
  const commit = useChange(modelRevisions.create, {
    invalidates: [models.get, models.list, modelFiles.list, modelFiles.unfinished, modelRevisions.list],
    silent: true,
  })
  const take = (list: FileList | null): void =>
    setChosen((before) => {
      const next = new Map(before.map((one) => [one.path, one]))
      for (const file of list ?? []) {
        // The folder that was chosen is the model itself.
        const path = file.webkitRelativePath === '' ? file.name : file.webkitRelativePath.split('/').slice(1).join('/')
        next.set(path, { path, file })
      }
      return [...next.values()]
    })

  const send = async ({ path, file }: Chosen, number: number): Promise<string> => {
    const upload = await request(modelFiles.upload, { params: { id: model.id }, body: { size_bytes: file.size, path } })
    setSending({ id: upload.id, path, number })
    await sendFile(upload, file, () => request(modelFiles.staged, { params: { id: model.id, upload_id: upload.id } }))
    return upload.id
  }

  return (
    <FormDialog<{ message: string }>
      width={640}
      title={t('commit.title', { name: model.repository })}
      okText={t('commit.do', { count: chosen.length })}
      okDisabled={chosen.length === 0}
      initialValues={{ message: t('commit.message') }}
      doneText={t('commit.done')}
      onClose={onClose}
      onSubmit={async ({ message }) => {
        const add = []
        for (const [index, one] of chosen.entries()) add.push({ path: one.path, upload_id: await send(one, index + 1) })
        setSending(null)
        return commit.mutateAsync({ params: { id: model.id }, body: { message, add } })
      }}
    >
      <p className="zs-soft">{t('commit.note')}</p>
      <div className="zs-buttons">
        <Button onClick={() => files.current?.click()}>{t('commit.choose')}</Button>
        <label className="ant-btn ant-btn-default md-folder">
          {t('commit.chooseFolder')}
          <input
            type="file"
            // React has no property of that name.
            ref={(input) => input?.setAttribute('webkitdirectory', '')}
            onChange={({ currentTarget }) => take(currentTarget.files)}
          />
        </label>
      </div>
      <input ref={files} type="file" multiple hidden aria-label={t('commit.choose')} onChange={({ currentTarget }) => take(currentTarget.files)} />
      {sending !== null && <Sending {...sending} total={chosen.length} />}
      <ul className="md-chosen">
        {chosen.map(({ path, file }) => (
          <li key={path}>
            <span className="zs-code zs-cut" title={path}>
              {path}
            </span>
            <span className="zs-number zs-soft">{format.bytes(file.size)}</span>
            <Button size="small" type="text" disabled={sending !== null} onClick={() => setChosen(chosen.filter((one) => one.path !== path))}>
              {t('commit.leaveOut')}
            </Button>
          </li>
        ))}
      </ul>
      <TextField name="message" label={t('commit.messageLabel')} schema={modelRevisions.create.body.shape.message} />
    </FormDialog>
  )
}

function Sending({ id, path, number, total }: { readonly id: string; readonly path: string; readonly number: number; readonly total: number }) {
  const { t } = useTranslation('models')
  const upload = useUpload(id)
  const percent = upload === null ? 100 : (upload.sentBytes / upload.totalBytes) * 100
  return (
    <div role="status">
      <Progress percent={percent} size="small" showInfo={false} aria-label={path} />
      <span className="zs-soft">{t(upload === null ? 'commit.verifying' : 'commit.sending', { path, number, total })}</span>
    </div>
  )
}
