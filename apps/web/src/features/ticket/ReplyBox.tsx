import Button from 'antd/es/button'
import Input from 'antd/es/input'
import { useRef, useState, type ReactNode } from 'react'
import { toApiError } from '../../api/client.ts'
import { notify, toastError } from '../../api/notify.ts'
import { useTranslation } from '../../i18n.ts'
import { readDraft, writeDraft } from './draft.ts'
import { FilesField, type SentFile } from './FilesField.tsx'
import './ticket.css'

export interface ReplyWay {
  readonly key: string
  readonly label: string
  readonly primary?: boolean
  readonly send: (said: { text: string; upload_ids: string[] }) => Promise<unknown>
}

/** Where something is said; what is typed is kept on this computer until it is sent. */
export function ReplyBox({
  draft,
  label,
  placeholder,
  ways,
  extra,
}: {
  readonly draft: string
  readonly label: string
  readonly placeholder: string
  readonly ways: readonly ReplyWay[]
  /** Beside the buttons; it may put text in. */
  readonly extra?: (insert: (text: string) => void) => ReactNode
}) {
  const { t } = useTranslation('ticket')
  const [text, setText] = useState(() => readDraft(draft))
  const [files, setFiles] = useState<readonly SentFile[]>([])
  const [sending, setSending] = useState(false)
  const [busy, setBusy] = useState<string | null>(null)
  const typed = useRef(text)
  const write = (next: string): void => {
    typed.current = next
    setText(next)
    writeDraft(draft, next)
  }
  const send = async (way: ReplyWay): Promise<void> => {
    setBusy(way.key)
    try {
      await way.send({ text, upload_ids: files.map(({ id }) => id) })
      // What was typed meanwhile stays.
      if (typed.current === text) write('')
      setFiles((now) => now.filter(({ id }) => !files.some((sent) => sent.id === id)))
      notify('success', t('reply.sent'))
    } catch (thrown) {
      const error = toApiError(thrown)
      // A field of this form is not beside anything: it is said whole.
      if (error.fields.length > 0) for (const field of error.fields) notify('error', field.message, 5_000)
      else toastError(error)
    } finally {
      setBusy(null)
    }
  }
  return (
    <div className="tk-reply">
      <Input.TextArea
        aria-label={label}
        placeholder={placeholder}
        autoSize={{ minRows: 4, maxRows: 16 }}
        value={text}
        onChange={({ target }) => write(target.value)}
      />
      <FilesField files={files} onChange={setFiles} onBusy={setSending} />
      <div className="zs-buttons">
        {ways.map((way) => (
          <Button
            key={way.key}
            type={way.primary === true ? 'primary' : 'default'}
            loading={busy === way.key}
            disabled={text.trim() === '' || sending || (busy !== null && busy !== way.key)}
            onClick={() => void send(way)}
          >
            {way.label}
          </Button>
        ))}
        {extra?.((more) => write(text === '' ? more : `${text}\n\n${more}`))}
        {text !== '' && <span className="zs-soft">{t('reply.draft')}</span>}
      </div>
    </div>
  )
}
