import Button from 'antd/es/button'
import Descriptions from 'antd/es/descriptions'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { useTranslation } from '../../i18n.ts'
import { users } from '@zhisuan/contract/ums/user'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { Field, TextAreaField } from '../../kit/fields.tsx'
import { limitsOf } from '../../kit/rules.ts'
import * as format from '../../kit/format.ts'
import type { CurrentUser } from '../../session/user.ts'
import { showRefusal } from '../../kit/refusals.ts'
import { AccountForm } from './AccountForm.tsx'
import './account.css'

interface Values {
  readonly nickname: string
  readonly description: string
}

const { body } = users.updateCurrent

/** Who one is, and how one wants to be called. */
export function ProfileForm({ user, onDirty }: { readonly user: CurrentUser; readonly onDirty: (dirty: boolean) => void }) {
  const { t } = useTranslation(['account', 'kit'])
  const [form] = Form.useForm<Values>()
  const change = useChange(users.updateCurrent, { invalidates: [users.current], silent: true })

  const submit = async (values: Values): Promise<void> => {
    try {
      await change.mutateAsync({ body: values })
      onDirty(false)
      notify('success', t('saved'))
    } catch (error) {
      showRefusal(form, error)
    }
  }

  const roles = user.permissions.map(({ role }) => t(`kit:roleNames.${role}`))
  return (
    <>
      <Descriptions
        size="small"
        column={{ xs: 1, sm: 2 }}
        className="account-facts"
        items={[
          { key: 'name', label: t('name'), children: user.name },
          { key: 'kind', label: t('kind'), children: t(`kindNames.${kindKey(user.kind)}`) },
          { key: 'roles', label: t('roles'), children: roles.length === 0 ? t('noRoles') : roles.join('、') },
          { key: 'organisation', label: t('organisation'), children: user.bp_name ?? t('noOrganisation') },
          { key: 'created', label: t('createdAt'), children: format.dateTime(user.created_at) },
          { key: 'login', label: t('lastLogin'), children: format.dateTime(user.last_login_at) },
        ]}
      />
      <AccountForm<Values>
        form={form}
        name="accountProfile"
        // The server answers the name where there is no nickname.
        initialValues={{ nickname: user.nickname === user.name ? '' : user.nickname, description: user.description }}
        onValuesChange={() => onDirty(true)}
        onFinish={submit}
      >
        <Field name="nickname" label={t('nickname')} extra={t('nicknameHint')} schema={body.shape.nickname}>
          <Input autoComplete="nickname" placeholder={user.name} showCount count={{ max: limitsOf(body.shape.nickname).maxLength ?? 0 }} />
        </Field>
        <TextAreaField name="description" label={t('description')} schema={body.shape.description} autoSize={{ minRows: 2, maxRows: 6 }} showCount />
        <Button type="primary" htmlType="submit" loading={change.isPending}>
          {t('save')}
        </Button>
      </AccountForm>
    </>
  )
}

const kinds = ['0', '1', '2', '3', '4'] as const
/** A kind that a newer server knows is shown as the least of them. */
const kindKey = (kind: number): (typeof kinds)[number] => kinds[kind] ?? '4'
