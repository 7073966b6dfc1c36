import Button from 'antd/es/button'
import { ticketFileBytesMost, ticketFilesMost, tickets } from '@zhisuan/contract/ticket/ticket'
import { useRef, useState } from 'react'
import { request, toApiError } from '../../api/client.ts'
import { toastError } from '../../api/notify.ts'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { sendFile } from '../../kit/sendFile.ts'
import './ticket.css'

export interface SentFile {
  readonly id: string
  readonly name: string
  readonly size: number
}

async function send(file: File): Promise<SentFile> {
  const upload = await request(tickets.upload, { body: { name: file.name, size_bytes: file.size } })
  const { id } = upload
  await sendFile(upload, file, () => request(tickets.uploaded, { params: { id } }))
  return { id, name: file.name, size: file.size }
}

/** Files that go with what is said: each is sent as it is chosen. */
export function FilesField({
  files,
  onChange,
  onBusy,
}: {
  readonly files: readonly SentFile[]
  readonly onChange: (files: readonly SentFile[]) => void
  readonly onBusy: (busy: boolean) => void
}) {
  const { t } = useTranslation('ticket')
  const input = useRef<HTMLInputElement>(null)
  const [sending, setSending] = useState<string | null>(null)
  const take = async (list: readonly File[]): Promise<void> => {
    onBusy(true)
    const sent = [...files]
    try {
      for (const file of list.slice(0, ticketFilesMost - files.length)) {
        setSending(file.name)
        sent.push(await send(file))
        onChange([...sent])
      }
    } catch (thrown) {
      toastError(toApiError(thrown))
    } finally {
      setSending(null)
      onBusy(false)
    }
  }
  return (
    <div className="tk-files">
      <Button size="small" disabled={sending !== null || files.length >= ticketFilesMost} onClick={() => input.current?.click()}>
        {t('field.chooseFile')}
      </Button>
      <span className="zs-soft">{t('field.filesNote', { count: ticketFilesMost, size: format.bytes(ticketFileBytesMost) })}</span>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('field.chooseFile')}
        onChange={({ currentTarget }) => {
          const chosen = [...(currentTarget.files ?? [])]
          // So that the same can be chosen again.
          currentTarget.value = ''
          void take(chosen)
        }}
      />
      {sending !== null && <span role="status">{t('field.sending', { name: sending })}</span>}
      {files.map((file) => (
        <span key={file.id} className="tk-file">
          {file.name} <span className="zs-soft zs-number">{format.bytes(file.size)}</span>
          <Button size="small" type="text" onClick={() => onChange(files.filter(({ id }) => id !== file.id))}>
            {t('field.leaveOut')}
          </Button>
        </span>
      ))}
    </div>
  )
}
