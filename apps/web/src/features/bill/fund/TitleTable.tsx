import Form from 'antd/es/form'
import { invoiceTitles, titleKinds, type InvoiceTitle, type InvoiceTitleInput } from '@zhisuan/contract/bill/invoice'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { RadioField, TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { invalidatedByTitle } from './invalidated.ts'

/** Whom invoices may be made out to. */
export function TitleTable() {
  const { t } = useTranslation('fund')
  const remove = useChange(invoiceTitles.delete, { invalidates: invalidatedByTitle })
  return (
    <ResourceTable
      call={invoiceTitles.list}
      name="titles"
      columns={[
        col.name<InvoiceTitle>('name', t('title.name'), ({ name }) => name, { width: 240 }),
        col.text<InvoiceTitle>('kind', t('title.kind'), ({ kind }) => t(`title.kinds.${kind}`), { width: 80 }),
        col.code<InvoiceTitle>('tax_number', t('title.taxNumber'), ({ tax_number }) => tax_number, { width: 200 }),
        col.text<InvoiceTitle>('bank', t('title.bank'), ({ bank }) => bank, { width: 160, note: ({ bank_account }) => bank_account }),
        col.text<InvoiceTitle>('email', t('title.email'), ({ email }) => email, { width: 180 }),
      ]}
      rowActions={(title) => [
        { key: 'edit', call: invoiceTitles.update, label: t('action.edit'), dialog: (close) => <TitleDialog title={title} onClose={close} /> },
        {
          key: 'delete',
          call: invoiceTitles.delete,
          label: t('action.delete'),
          danger: true,
          confirm: { title: t('title.deleteTitle', { name: title.name }), body: t('title.deleteBody') },
          doneText: t('title.deleted'),
          run: () => remove.mutateAsync({ params: { id: title.id } }),
        },
      ]}
      create={{ call: invoiceTitles.create, label: t('title.add'), dialog: (close) => <TitleDialog title={null} onClose={close} /> }}
      empty={{ title: t('title.empty'), note: t('title.emptyNote') }}
    />
  )
}

export function TitleDialog({ title, onClose }: Dialog<{ title: InvoiceTitle | null }>) {
  const { t } = useTranslation('fund')
  const create = useChange(invoiceTitles.create, { invalidates: invalidatedByTitle, silent: true })
  const update = useChange(invoiceTitles.update, { invalidates: invalidatedByTitle, silent: true })
  const [form] = Form.useForm<InvoiceTitleInput>()
  const kind = Form.useWatch('kind', form)
  return (
    <FormDialog<InvoiceTitleInput>
      form={form}
      title={title === null ? t('title.add') : t('title.edit', { name: title.name })}
      okText={t('action.save')}
      initialValues={title ?? { kind: 'company', tax_number: '', address: '', phone: '', bank: '', bank_account: '', email: '' }}
      doneText={t('title.saved')}
      onClose={onClose}
      onSubmit={(body) => (title === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: title.id }, body }))}
    >
      <RadioField name="kind" label={t('title.kind')} required values={titleKinds} labelOf={(value) => t(`title.kinds.${value}`)} />
      <TextField name="name" label={t('title.name')} rules={[{ required: true, whitespace: true, message: t('title.nameRequired') }, { max: 100 }]} required />
      <TextField name="tax_number" label={t('title.taxNumber')} extra={t('title.taxNote')} required={kind === 'company'} code />
      {(['address', 'phone', 'bank', 'bank_account', 'email'] as const).map((name) => (
        <TextField key={name} name={name} label={t(`title.${name}`)} />
      ))}
    </FormDialog>
  )
}
