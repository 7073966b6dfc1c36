import DeleteOutlined from '@ant-design/icons/es/icons/DeleteOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Space from 'antd/es/space'
import { notices, type NoticeContacts } from '@zhisuan/contract/bill/notice'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { TextField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { useCurrentUser } from '../../../session/user.ts'

interface Values {
  contacts: { name?: string; email?: string | null; phone?: string | null }[]
}
const blank = (text: string | null | undefined): string | null => (text == null || text.trim() === '' ? null : text)

/** Who is told about an organisation's money beside its administrators. Needs the messages of `arrears`. */
export function ContactsDialog({ onClose }: Dialog) {
  const id = useCurrentUser()?.bp_id ?? ''
  const { data } = useCall(notices.contacts, { params: { id } }, { enabled: id !== '' })
  return data === undefined ? null : <Contacts id={id} known={data} onClose={onClose} />
}

function Contacts({ id, known, onClose }: Dialog<{ id: string; known: NoticeContacts }>) {
  const { t } = useTranslation('arrears')
  const set = useChange(notices.setContacts, { invalidates: [notices.contacts], silent: true })
  return (
    <FormDialog<Values>
      title={t('contacts.title')}
      okText={t('save')}
      width={720}
      initialValues={{ contacts: known.contacts }}
      doneText={t('contacts.saved')}
      onClose={onClose}
      onSubmit={({ contacts }) =>
        set.mutateAsync({
          params: { id },
          body: { contacts: contacts.map(({ name, email, phone }) => ({ name: name ?? '', email: blank(email), phone: blank(phone) })) },
        })
      }
    >
      <p className="zs-soft">{t('contacts.note')}</p>
      <Form.List name="contacts">
        {(fields, { add, remove }) => (
          <>
            {fields.map(({ key, name }) => (
              <Space key={key} wrap align="start">
                {(['name', 'email', 'phone'] as const).map((part) => (
                  <TextField key={part} name={[name, part]} aria-label={t(`contacts.${part}`)} placeholder={t(`contacts.${part}`)} />
                ))}
                <Button type="text" icon={<DeleteOutlined />} aria-label={t('contacts.remove', { name: name + 1 })} onClick={() => remove(name)} />
              </Space>
            ))}
            {fields.length < 20 && <Button onClick={() => add({})}>{t('contacts.add')}</Button>}
          </>
        )}
      </Form.List>
    </FormDialog>
  )
}
