import Form from 'antd/es/form'
import { ticketHours } from '@zhisuan/contract/ticket/desk'
import { ticketPriorities, tickets, ticketTypes, type Ticket, type TicketPriority, type TicketType } from '@zhisuan/contract/ticket/ticket'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { PasswordField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import type { TicketWish } from '../../kit/ticketPath.ts'
import { paths } from '../../paths.ts'
import { readFields, writeFields } from './draft.ts'
import { FilesField, type SentFile } from './FilesField.tsx'
import { invalidatedByTicket, minutesText } from './ticketTexts.ts'
import './ticket.css'

interface Values {
  title: string
  type: TicketType
  priority: TicketPriority
  text: string
  secret?: string
}
const { shape } = tickets.create.body

/** Opens a work order. @param wish what the page knows that it was opened from; what is typed is kept on this computer until it is sent */
export default function TicketDialog({ wish, onClose }: Dialog<{ wish: TicketWish | null }>) {
  const { t } = useTranslation('ticket')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const about = wish?.about ?? null
  const draft = `new ${about?.id ?? ''}`
  const [kept] = useState(() => readFields(draft))
  const [files, setFiles] = useState<readonly SentFile[]>([])
  const [sending, setSending] = useState(false)
  const create = useChange(tickets.create, { invalidates: invalidatedByTicket, silent: true })
  const { data: hours } = useCall(ticketHours.get, {}, { silent: true })
  const priority = Form.useWatch('priority', form) ?? 'normal'
  const within = hours?.within[priority]
  return (
    <FormDialog<Values, Ticket>
      form={form}
      width={680}
      title={t('createTitle')}
      okText={t('create')}
      okDisabled={sending}
      initialValues={{
        title: kept['title'] ?? wish?.title ?? '',
        type: ticketTypes.find((one) => one === kept['type']) ?? wish?.type ?? (about === null ? 'question' : 'fault'),
        priority: ticketPriorities.find((one) => one === kept['priority']) ?? 'normal',
        text: kept['text'] ?? wish?.text ?? '',
        secret: '',
      }}
      onValuesChange={(_, { title, type, priority: chosen, text }) => writeFields(draft, { title, type, priority: chosen, text })}
      doneText={({ number }) => t('created', { number })}
      onClose={onClose}
      onSubmit={async ({ secret, ...values }) => {
        const made = await create.mutateAsync({
          body: {
            ...values,
            ...(secret !== undefined && secret !== '' && { secret }),
            ...(about !== null && { about: { kind: about.kind, id: about.id } }),
            upload_ids: files.map(({ id }) => id),
          },
        })
        writeFields(draft, {})
        void navigate(paths.ticket.detail(made.id))
        return made
      }}
    >
      <p className="zs-soft">{t('createNote')}</p>
      {about !== null && (
        <p>
          {t('field.about')}：{kindText(about.kind)} <b>{about.name}</b>
        </p>
      )}
      <TextField name="title" label={t('field.title')} schema={shape.title} />
      <div className="zs-two">
        <SelectField name="type" label={t('field.type')} values={ticketTypes} labelOf={(one) => t(`type.${one}`)} />
        <SelectField
          name="priority"
          label={t('field.priority')}
          values={ticketPriorities}
          labelOf={(one) => t(`priority.${one}`)}
          extra={within === undefined ? '' : t('priorityNote', { answer: minutesText(t, within.answer), solve: minutesText(t, within.solve) })}
        />
      </div>
      <TextAreaField name="text" label={t('field.text')} extra={t('field.textNote')} schema={shape.text} rows={6} />
      <PasswordField name="secret" label={t('field.secret')} extra={t('field.secretNote')} required={false} />
      <Form.Item label={t('field.files')}>
        <FilesField files={files} onChange={setFiles} onBusy={setSending} />
      </Form.Item>
    </FormDialog>
  )
}
