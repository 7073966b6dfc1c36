import { ticketDesk, ticketGroups } from '@zhisuan/contract/ticket/desk'
import type { Ticket, TicketDetail } from '@zhisuan/contract/ticket/ticket'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { TextAreaField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedByTicket } from './ticketTexts.ts'

/** Hands a work order on, to somebody or to a group. */
export default function AssignDialog({ ticket, onClose }: Dialog<{ ticket: Pick<Ticket, 'id' | 'number'> }>) {
  const { t } = useTranslation('ticket')
  const assign = useChange(ticketDesk.assign, { invalidates: invalidatedByTicket, silent: true })
  const { data: staff } = useCall(ticketDesk.staff, {}, { silent: true })
  const { data: groups } = useCall(ticketGroups.list, {}, { silent: true })
  return (
    <FormDialog<{ to: string; text: string }, TicketDetail>
      title={t('action.assignTitle', { number: ticket.number })}
      okText={t('action.assign')}
      initialValues={{ text: '' }}
      doneText={t('action.assigned')}
      onClose={onClose}
      onSubmit={({ to, text }) => {
        const [kind, id = ''] = to.split(' ')
        return assign.mutateAsync({ params: { id: ticket.id }, body: { to: { kind: kind === 'group' ? 'group' : 'person', id }, text } })
      }}
    >
      <SelectField<string>
        name="to"
        label={t('action.assignTo')}
        missing={t('action.assignTo')}
        showSearch={{ optionFilterProp: 'label' }}
        options={[
          { label: t('action.people'), options: (staff?.items ?? []).map(({ id, name, open }) => ({ value: `person ${id}`, label: `${name}（${open}）` })) },
          { label: t('action.groups'), options: (groups?.items ?? []).map(({ id, name, open }) => ({ value: `group ${id}`, label: `${name}（${open}）` })) },
        ].filter(({ options }) => options.length > 0)}
      />
      <TextAreaField name="text" label={t('action.assignText')} schema={ticketDesk.assign.body.shape.text} rows={2} />
    </FormDialog>
  )
}
