import { cannedAnswers, ticketDesk, ticketGroups, type CannedAnswer, type TicketGroup } from '@zhisuan/contract/ticket/desk'
import { ticketTypes, type TicketType } from '@zhisuan/contract/ticket/ticket'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { RowsTable, useTableState } from '../../kit/RowsTable.tsx'
import { readingOf } from '../../kit/ResourceTable.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { invalidatedByDesk } from './ticketTexts.ts'

const how = { invalidates: invalidatedByDesk, silent: true } as const

/** Those who answer together. */
export function GroupList() {
  const { t } = useTranslation('ticket')
  const table = useTableState({})
  const query = useCall(ticketGroups.list, {}, { silent: true })
  const remove = useChange(ticketGroups.delete, how)
  const items = query.data?.items ?? []
  return (
    <RowsTable<TicketGroup>
      list={ticketGroups.list.id}
      table={table}
      shown={{ ...readingOf(query), rows: items, total: items.length }}
      columns={[
        col.name<TicketGroup>('name', t('group.name'), ({ name }) => name, { width: 180 }),
        col.text<TicketGroup>('members', t('group.members'), ({ members }) => members.map(({ name }) => name).join('、'), { width: 260 }),
        col.text<TicketGroup>('types', t('group.types'), ({ types }) => types.map((one) => t(`type.${one}`)).join('、'), { width: 220 }),
        col.number<TicketGroup>('open', t('group.open'), ({ open }) => open, { width: 90 }),
        col.date<TicketGroup>('created_at', t('column.created'), ({ created_at }) => created_at),
      ]}
      rowActions={(group) => [
        { key: 'edit', call: ticketGroups.update, label: t('canned.edit'), dialog: (close) => <GroupDialog group={group} onClose={close} /> },
        {
          key: 'delete',
          call: ticketGroups.delete,
          label: t('group.delete'),
          danger: true,
          confirm: { title: t('group.deleteTitle', { name: group.name }), body: t('group.deleteBody') },
          doneText: t('group.deleted'),
          run: () => remove.mutateAsync({ params: { id: group.id } }),
        },
      ]}
      create={{ call: ticketGroups.create, label: t('group.create'), dialog: (close) => <GroupDialog group={null} onClose={close} /> }}
      empty={{ title: t('group.empty'), note: t('group.emptyNote') }}
    />
  )
}

interface GroupValues {
  name: string
  user_ids: string[]
  types: TicketType[]
}

function GroupDialog({ group, onClose }: Dialog<{ group: TicketGroup | null }>) {
  const { t } = useTranslation('ticket')
  const create = useChange(ticketGroups.create, how)
  const update = useChange(ticketGroups.update, how)
  const { data } = useCall(ticketDesk.staff, {}, { silent: true })
  return (
    <FormDialog<GroupValues>
      title={t(group === null ? 'group.create' : 'group.edit')}
      okText={t('hours.save')}
      initialValues={{ name: group?.name ?? '', user_ids: group?.members.map(({ id }) => id) ?? [], types: group?.types ?? [] }}
      doneText={t('group.saved')}
      onClose={onClose}
      onSubmit={(body) => (group === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: group.id }, body }))}
    >
      <TextField name="name" label={t('group.name')} schema={ticketGroups.create.body.shape.name} />
      <SelectField<string[]>
        name="user_ids"
        label={t('group.members')}
        mode="multiple"
        showSearch={{ optionFilterProp: 'label' }}
        options={(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
      <SelectField<TicketType[], TicketType>
        name="types"
        label={t('group.types')}
        extra={t('group.typesNote')}
        mode="multiple"
        values={ticketTypes}
        labelOf={(one) => t(`type.${one}`)}
      />
    </FormDialog>
  )
}

/** Answers that are written once. */
export function CannedList() {
  const { t } = useTranslation('ticket')
  const table = useTableState({})
  const query = useCall(cannedAnswers.list, {}, { silent: true })
  const remove = useChange(cannedAnswers.delete, how)
  const items = query.data?.items ?? []
  return (
    <RowsTable<CannedAnswer>
      list={cannedAnswers.list.id}
      table={table}
      shown={{ ...readingOf(query), rows: items, total: items.length }}
      columns={[
        col.name<CannedAnswer>('title', t('canned.title'), ({ title }) => title, { width: 200 }),
        col.text<CannedAnswer>('text', t('canned.text'), ({ text }) => text, { width: 480 }),
      ]}
      rowActions={(answer) => [
        { key: 'edit', call: cannedAnswers.update, label: t('canned.edit'), dialog: (close) => <CannedDialog answer={answer} onClose={close} /> },
        {
          key: 'delete',
          call: cannedAnswers.delete,
          label: t('canned.delete'),
          danger: true,
          confirm: { title: t('canned.deleteTitle', { name: answer.title }), body: t('canned.deleteBody') },
          doneText: t('canned.deleted'),
          run: () => remove.mutateAsync({ params: { id: answer.id } }),
        },
      ]}
      create={{ call: cannedAnswers.create, label: t('canned.create'), dialog: (close) => <CannedDialog answer={null} onClose={close} /> }}
      empty={{ title: t('canned.empty'), note: t('canned.emptyNote') }}
    />
  )
}

function CannedDialog({ answer, onClose }: Dialog<{ answer: CannedAnswer | null }>) {
  const { t } = useTranslation('ticket')
  const create = useChange(cannedAnswers.create, how)
  const update = useChange(cannedAnswers.update, how)
  const { shape } = cannedAnswers.create.body
  return (
    <FormDialog<{ title: string; text: string }>
      title={t(answer === null ? 'canned.create' : 'canned.edit')}
      okText={t('hours.save')}
      initialValues={{ title: answer?.title ?? '', text: answer?.text ?? '' }}
      doneText={t('canned.saved')}
      onClose={onClose}
      onSubmit={(body) => (answer === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: answer.id }, body }))}
    >
      <TextField name="title" label={t('canned.title')} schema={shape.title} />
      <TextAreaField name="text" label={t('canned.text')} extra={t('field.textNote')} schema={shape.text} rows={5} />
    </FormDialog>
  )
}
