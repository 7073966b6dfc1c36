import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { roles, tenantRoles } from '@zhisuan/contract/roles'
import { users } from '@zhisuan/contract/ums/user'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { Field, RadioField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField } from '../../kit/NameFields.tsx'
import { NewcomerRolesField, partedRoles } from './NewcomerRoles.tsx'
import { OneTimePassword } from './OneTimePassword.tsx'
import { OrganisationSelect } from '../../kit/OrganisationSelect.tsx'
import { invalidatedByUser } from './invalidated.ts'
import { useNamedOrganisation } from '../../kit/useOrganisationFilter.tsx'
import { ContactFields } from './useUserActions.tsx'
import './identity.css'
import { useKeeping } from '../../session/keeping.ts'

const kinds = [4, 2, 1] as const
/** Of those whom an organisation's own administrators make. */
const ownKinds = [4, 2] as const

interface Values {
  username: string
  kind: (typeof kinds)[number]
  bp_id?: string
  /** Keys of built-in ones, ids of others. */
  roles: string[]
  nickname: string
  phone: string
  email: string
  description: string
}

const { shape } = users.create.body
/** Who runs the platform is of another kind. */
const offered = roles.filter((role) => role !== 'ADMIN')

/** Makes a user; their password is told once, and then their page comes. */
export default function UserAdd() {
  const { t } = useTranslation('identity')
  const { everybody, pages } = useKeeping()
  const navigate = useNavigate()
  const { id: bp_id, known } = useNamedOrganisation()
  const [form] = Form.useForm<Values>()
  const kind = Form.useWatch('kind', form) ?? 4
  const organisation = Form.useWatch('bp_id', form)
  const [made, setMade] = useState<{ readonly id: string; readonly name: string; readonly password: string } | null>(null)
  const create = useChange(users.create, { invalidates: invalidatedByUser })
  const submit = async ({ username, kind: chosen, bp_id: of, roles: given, nickname, phone, email, description }: Values): Promise<void> => {
    const { roles: builtIn, role_ids } = partedRoles(chosen === 4 ? given : [])
    const { user, one_time_password } = await create.mutateAsync({
      body: {
        username,
        kind: chosen,
        bp_id: chosen === 1 ? null : (of ?? null),
        ...(builtIn.length > 0 && { roles: builtIn }),
        role_ids,
        nickname,
        description,
        phone: phone.trim() === '' ? null : phone,
        email: email.trim() === '' ? null : email,
      },
    })
    notify('success', t('user.made', { name: user.name }))
    setMade({ id: user.id, name: user.name, password: one_time_password })
  }
  return (
    <>
      <FormPage<Values>
        form={form}
        initialValues={{ username: '', kind: 4, ...(bp_id !== undefined && { bp_id }), roles: [], nickname: '', phone: '', email: '', description: '' }}
        submitText={t('user.submit')}
        onCancel={() => void navigate(pages.user.list())}
        onSubmit={submit}
      >
        <Field name="username" label={t('user.username')} extra={t('user.nameTip')} schema={shape.username}>
          <Input autoFocus autoComplete="off" autoCapitalize="none" spellCheck={false} />
        </Field>
        <RadioField
          name="kind"
          label={t('user.kind')}
          className="identity-choices"
          values={everybody ? kinds : ownKinds}
          labelOf={(value) => (
            <>
              {t(`user.kindOption.${value}`)}
              <div className="zs-soft">{t(`user.kindNote.${value}`)}</div>
            </>
          )}
        />
        {everybody && kind !== 1 && (
          <Form.Item name="bp_id" label={t('user.organisation')} required={kind === 2} rules={kind === 2 ? [{ required: true, message: t('required') }] : []}>
            <OrganisationSelect label={t('user.organisation')} known={known} />
          </Form.Item>
        )}
        {kind === 4 && (
          <NewcomerRolesField
            name="roles"
            label={t('user.roles')}
            extra={t('user.rolesNote')}
            builtIn={everybody ? offered : tenantRoles}
            bpId={organisation}
          />
        )}
        <ContactFields shape={shape} />
        <DescriptionField schema={shape.description} />
      </FormPage>
      {made !== null && <OneTimePassword name={made.name} password={made.password} onClose={() => void navigate(pages.user.detail(made.id))} />}
    </>
  )
}
