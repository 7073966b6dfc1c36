import Button from 'antd/es/button'
import Progress from 'antd/es/progress'
import { fileUploads, type FileUpload } from '@zhisuan/contract/files/file'
import { useRef } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import * as format from '../../kit/format.ts'
import { pauseUpload, resumeUpload, useUpload } from '../../kit/uploads.ts'
import { clearSent, discard, goOn, resolveConflict, useQueue, type Queued } from './queue.ts'
import './files.css'

/** Only so many lines are shown: of ten thousand files one looks at what moves and at what asks. */
const linesMost = 50
const order = ['conflict', 'refused', 'sending', 'verifying', 'announcing', 'waiting', 'sent'] as const
/** Not sorted: that of ten thousand would be done again with each piece that went. */
const foremost = (queue: readonly Queued[]): Queued[] => {
  const shown: Queued[] = []
  for (const state of order) for (const entry of queue) if (shown.length < linesMost && entry.state === state) shown.push(entry)
  return shown
}

/** What is on its way from this tab, and what others left unfinished. */
export function UploadPanel({ spaceId }: { readonly spaceId: string }) {
  const { t } = useTranslation('files')
  const queue = useQueue()
  const { data } = useCall(
    fileUploads.list,
    {},
    { silent: true, refreshMs: (list) => (list?.items.some(({ status }) => status === 'verifying') ? 1_000 : 10_000) },
  )
  const here = new Set(queue.map(({ uploadId }) => uploadId))
  const left = (data?.items ?? []).filter((upload) => upload.space_id === spaceId && !here.has(upload.id))
  if (queue.length === 0 && left.length === 0) return null
  const conflicts = queue.filter(({ state }) => state === 'conflict')
  const sent = queue.filter(({ state }) => state === 'sent').length
  const shown = foremost(queue)
  return (
    <section className="fl-uploads zs-card" aria-label={t('upload.title')}>
      <header className="zs-line">
        <h2>{t('upload.title')}</h2>
        {queue.length > 0 && (
          <span className="zs-soft" role="status">
            {t('upload.progress', { sent, total: queue.length })}
          </span>
        )}
        {conflicts.length > 1 && (
          <span className="fl-ways">
            {t('conflict.all', { count: conflicts.length })}
            <Ways key="" of={null} />
          </span>
        )}
        {sent > 0 && (
          <Button size="small" type="text" onClick={clearSent}>
            {t('upload.clear')}
          </Button>
        )}
      </header>
      <ul>
        {shown.map((entry) => (
          <QueueLine key={entry.key} entry={entry} />
        ))}
        {queue.length > linesMost && <li className="zs-soft">{t('upload.more', { count: queue.length - linesMost })}</li>}
        {left.map((upload) => (
          <LeftLine key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  )
}

function Ways({ of }: { readonly of: string | null }) {
  const { t } = useTranslation('files')
  return (['keep_both', 'replace', 'skip'] as const).map((way) => (
    <Button key={way} size="small" onClick={() => resolveConflict(of, way)}>
      {t(`conflict.${way}`)}
    </Button>
  ))
}

function QueueLine({ entry }: { readonly entry: Queued }) {
  const { t } = useTranslation('files')
  const upload = useUpload(entry.uploadId ?? '')
  const name = [...entry.folders, entry.name].join('/')
  const percent = entry.size === 0 ? 100 : ((upload?.sentBytes ?? 0) / entry.size) * 100
  const paused = upload?.state === 'paused'
  return (
    <li>
      <span className="zs-cut fl-line-name" title={name}>
        {name}
      </span>
      <span className="zs-number zs-soft">{format.bytes(entry.size)}</span>
      {entry.state === 'sending' ? (
        <>
          <Progress
            className="fl-line-progress"
            percent={percent}
            size="small"
            showInfo={false}
            status={upload?.state === 'failed' ? 'exception' : 'active'}
            aria-label={t('upload.of', { name })}
          />
          <span className="zs-soft zs-number">
            {upload?.state === 'failed'
              ? t('upload.broken')
              : paused
                ? t('upload.paused', { percent: Math.floor(percent) })
                : upload?.bytesPerSecond === null || upload === null
                  ? `${Math.floor(percent)}%`
                  : t('upload.pace', {
                      percent: Math.floor(percent),
                      rate: format.bytesPerSecond(upload.bytesPerSecond),
                      left: format.duration(upload.leftMs ?? 0),
                    })}
          </span>
          {upload?.state === 'running' && (
            <Button size="small" onClick={() => pauseUpload(entry.uploadId ?? '')}>
              {t('upload.pause')}
            </Button>
          )}
          {(paused || upload?.state === 'failed') && (
            <Button size="small" onClick={() => resumeUpload(entry.uploadId ?? '')}>
              {t('upload.goOn')}
            </Button>
          )}
        </>
      ) : entry.state === 'conflict' ? (
        <span className="fl-ways">
          {t('conflict.one')}
          <Ways of={entry.key} />
        </span>
      ) : (
        <span className={entry.state === 'refused' ? 'fl-bad' : 'zs-soft'}>{entry.error ?? t(`upload.state.${entry.state}`)}</span>
      )}
      {entry.state !== 'sent' && entry.state !== 'verifying' && (
        <Button size="small" type="text" onClick={() => void discard(entry.key)}>
          {t('upload.discard')}
        </Button>
      )}
    </li>
  )
}

/** One that this tab does not send: what is there stays, and goes on once its file is chosen again. */
function LeftLine({ upload }: { readonly upload: FileUpload }) {
  const { t } = useTranslation('files')
  const input = useRef<HTMLInputElement>(null)
  const drop = useChange(fileUploads.discard, { invalidates: [fileUploads.list] })
  const percent = upload.size_bytes === 0 ? 100 : (upload.offset_bytes / upload.size_bytes) * 100
  const chosen = (file: File | undefined): void => {
    if (file === undefined) return
    if (file.name.normalize('NFC') !== upload.name || file.size !== upload.size_bytes)
      notify('error', t('upload.otherFile', { name: upload.name, size: format.bytes(upload.size_bytes) }))
    else goOn(upload, file)
  }
  return (
    <li>
      <span className="zs-cut fl-line-name" title={upload.name}>
        {upload.name}
      </span>
      <span className="zs-number zs-soft">{format.bytes(upload.size_bytes)}</span>
      {upload.status === 'failed' ? (
        <span className="fl-bad">{upload.error}</span>
      ) : upload.status === 'verifying' ? (
        <span className="zs-soft">{t('upload.verifying')}</span>
      ) : (
        <>
          <Progress className="fl-line-progress" percent={percent} size="small" showInfo={false} aria-label={t('upload.of', { name: upload.name })} />
          <span className="zs-soft">{t('upload.left', { percent: Math.floor(percent), when: format.dateTime(upload.expires_at) })}</span>
          <Button size="small" onClick={() => input.current?.click()}>
            {t('upload.chooseAgain')}
          </Button>
        </>
      )}
      <Button size="small" type="text" loading={drop.isPending} onClick={() => drop.mutate({ params: { id: upload.id } })}>
        {t('upload.discard')}
      </Button>
      <input ref={input} type="file" hidden aria-label={t('upload.chooseAgain')} onChange={({ currentTarget }) => chosen(currentTarget.files?.[0])} />
    </li>
  )
}
