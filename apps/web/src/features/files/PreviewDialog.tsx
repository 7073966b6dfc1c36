import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import Spin from 'antd/es/spin'
import { useQuery } from '@tanstack/react-query'
import { fileEntries, type FileEntry } from '@zhisuan/contract/files/file'
import { previewOf, previewTextBytes, type Preview } from '@zhisuan/contract/files/preview'
import { lazy, Suspense, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { request, toApiError } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { useReturnFocus } from '../../kit/focus.ts'
import * as format from '../../kit/format.ts'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { saveFrom } from '../../kit/save.ts'
import './files.css'

const Prose = lazy(() => import('../../kit/Prose.tsx'))

/** A file as it is looked at, with what is known of it. */
export default function PreviewDialog({ entry, onClose }: Dialog<{ entry: FileEntry }>) {
  const { t } = useTranslation('files')
  useReturnFocus()
  const link = useChange(fileEntries.download)
  const preview = previewOf(entry.name)
  return (
    <Modal
      open
      title={entry.name}
      width={960}
      onCancel={onClose}
      footer={
        <Button
          type="primary"
          onClick={() =>
            void link.mutateAsync({ body: { ids: [entry.id] } }).then(
              ({ path }) => saveFrom(path),
              () => undefined,
            )
          }
        >
          {t('action.download')}
        </Button>
      }
    >
      <p className="zs-soft fl-facts">
        <span className="zs-number">{format.bytes(entry.size_bytes)}</span>
        <span>{t('preview.by', { who: entry.created_by, when: format.dateTime(entry.updated_at) })}</span>
        {entry.sha256 !== null && <CopyCode text={entry.sha256} />}
      </p>
      {preview === null ? <EmptyState title={t('preview.none')}>{t('preview.noneNote')}</EmptyState> : <Shown entry={entry} preview={preview} />}
    </Modal>
  )
}

function Shown({ entry, preview }: { readonly entry: FileEntry; readonly preview: Preview }) {
  const { t } = useTranslation('files')
  const [broken, setBroken] = useState(false)
  const isText = preview.kind === 'text' || preview.kind === 'markdown'
  const shown = useQuery({
    queryKey: ['files.preview', entry.id, entry.sha256],
    queryFn: async ({ signal }) => {
      const { path } = await request(fileEntries.download, { body: { ids: [entry.id], inline: true }, signal })
      if (!isText) return { path, text: '' }
      const response = await fetch(path, { headers: { range: `bytes=0-${previewTextBytes - 1}` }, signal })
      return { path, text: await response.text() }
    },
    // The link holds for minutes; what it leads to does not change.
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    enabled: entry.size_bytes !== 0,
    meta: { silent: true },
  })
  if (entry.size_bytes === 0) return <EmptyState title={t('preview.empty')} />
  if (shown.error !== null) return <ErrorPanel error={toApiError(shown.error)} onRetry={() => void shown.refetch()} />
  if (shown.data === undefined) return <Spin />
  const { path, text } = shown.data
  switch (preview.kind) {
    case 'image':
      if (broken) return <EmptyState title={t('preview.broken')}>{t('preview.noneNote')}</EmptyState>
      return <img className="fl-shown" src={path} alt={entry.name} onError={() => setBroken(true)} />
    case 'pdf':
      return (
        <EmptyState
          title={t('preview.pdf')}
          action={
            <a className="zs-button" href={path} target="_blank" rel="noreferrer">
              {t('preview.openPdf')}
            </a>
          }
        >
          {t('preview.pdfNote')}
        </EmptyState>
      )
    case 'audio':
      // oxlint-disable-next-line jsx-a11y/media-has-caption -- there is none to have
      return <audio className="fl-shown" controls src={path} aria-label={entry.name} />
    case 'video':
      // oxlint-disable-next-line jsx-a11y/media-has-caption -- there is none to have
      return <video className="fl-shown" controls src={path} aria-label={entry.name} />
    default:
      return (
        <>
          {(entry.size_bytes ?? 0) > previewTextBytes && <p className="zs-soft">{t('preview.cut', { size: format.bytes(previewTextBytes) })}</p>}
          {preview.kind === 'markdown' ? (
            <Suspense fallback={<Spin />}>
              <Prose markdown={text} />
            </Suspense>
          ) : (
            // Reached by the keyboard, so that it can be scrolled.
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            <pre className="fl-text" tabIndex={0}>
              {text}
            </pre>
          )}
        </>
      )
  }
}
