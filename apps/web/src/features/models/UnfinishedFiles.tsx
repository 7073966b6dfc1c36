import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import { modelFiles, modelRevisions, models, type Model, type StagedFile } from '@zhisuan/contract/models/model'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { request, toApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { errorText } from '../../api/toasts.ts'
import * as format from '../../kit/format.ts'
import { sendFile } from '../../kit/sendFile.ts'
import { useUpload } from '../../kit/uploads.ts'
import './models.css'

/** Files that one was sending to a model, and that no revision has: they go on, or are given up; those that have come become a revision. */
export function UnfinishedFiles({ model }: { readonly model: Model }) {
  const { t } = useTranslation('models')
  const { data } = useCall(
    modelFiles.unfinished,
    { params: { id: model.id } },
    { silent: true, refreshMs: (list) => (list?.items.some(({ status }) => status === 'verifying') ? 1_500 : 15_000) },
  )
  const commit = useChange(modelRevisions.create, {
    invalidates: [models.get, models.list, modelFiles.list, modelFiles.unfinished, modelRevisions.list],
    onDone: () => notify('success', t('commit.done')),
  })
  const items = data?.items ?? []
  if (items.length === 0) return null
  const come = items.flatMap(({ id, status, path }) => (status === 'done' && path !== null ? [{ upload_id: id, path }] : []))
  return (
    <section className="zs-card md-unfinished" aria-label={t('unfinished.title')}>
      <header className="zs-line">
        <h2>{t('unfinished.title')}</h2>
        <span className="zs-soft">{t('unfinished.note')}</span>
        {come.length > 0 && (
          <Button
            size="small"
            loading={commit.isPending}
            onClick={() => commit.mutate({ params: { id: model.id }, body: { message: t('commit.message'), add: come } })}
          >
            {t('unfinished.commit', { count: come.length })}
          </Button>
        )}
      </header>
      <ul className="md-chosen">
        {items.map((upload) => (
          <Line key={upload.id} modelId={model.id} upload={upload} />
        ))}
      </ul>
    </section>
  )
}

function Line({ modelId, upload }: { readonly modelId: string; readonly upload: StagedFile }) {
  const { t } = useTranslation('models')
  const input = useRef<HTMLInputElement>(null)
  const here = useUpload(upload.id)
  const [sending, setSending] = useState(false)
  const params = { id: modelId, upload_id: upload.id }
  const drop = useChange(modelFiles.discard, { invalidates: [modelFiles.unfinished] })
  const client = useQueryClient()
  const path = upload.path ?? t('unfinished.nameless')
  const percent = upload.size_bytes === 0 ? 100 : ((here?.sentBytes ?? upload.offset_bytes) / upload.size_bytes) * 100
  const goOn = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    if (file.size !== upload.size_bytes || (upload.path !== null && file.name.normalize('NFC') !== upload.path.split('/').at(-1)?.normalize('NFC')))
      return notify('error', t('unfinished.otherFile', { path, size: format.bytes(upload.size_bytes) }))
    setSending(true)
    try {
      await sendFile(upload, file, () => request(modelFiles.staged, { params }))
    } catch (thrown) {
      notify('error', errorText(toApiError(thrown)))
    } finally {
      setSending(false)
      void client.invalidateQueries({ queryKey: [modelFiles.unfinished.id] })
    }
  }
  return (
    <li>
      <span className="zs-code zs-cut" title={path}>
        {path}
      </span>
      <span className="zs-number zs-soft">{format.bytes(upload.size_bytes)}</span>
      {upload.status === 'failed' ? (
        <span className="md-bad">{upload.error}</span>
      ) : upload.status === 'uploading' ? (
        <>
          <Progress className="md-line-progress" percent={percent} size="small" showInfo={false} aria-label={path} />
          <span className="zs-soft zs-number">{t('unfinished.left', { percent: Math.floor(percent), when: format.dateTime(upload.expires_at) })}</span>
          {!sending && here === null && (
            <Button size="small" onClick={() => input.current?.click()}>
              {t('unfinished.goOn')}
            </Button>
          )}
        </>
      ) : (
        <span className="zs-soft">
          {t(upload.status === 'done' ? 'unfinished.come' : 'unfinished.verifying', { when: format.dateTime(upload.expires_at) })}
        </span>
      )}
      {!sending && here === null && (
        <Button size="small" type="text" loading={drop.isPending} onClick={() => drop.mutate({ params })}>
          {t('unfinished.discard')}
        </Button>
      )}
      <input ref={input} type="file" hidden aria-label={t('unfinished.goOn')} onChange={({ currentTarget }) => void goOn(currentTarget.files?.[0])} />
    </li>
  )
}
