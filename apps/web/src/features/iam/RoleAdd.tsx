import { customRoles } from '@zhisuan/contract/iam/role'
import { roles, tenantRoles, type Role } from '@zhisuan/contract/roles'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { RadioField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { useRoleName } from '../../kit/roleNames.ts'
import { OrganisationField } from '../../kit/OrganisationSelect.tsx'
import { invalidatedByRole } from '../../kit/invalidatedByRights.ts'
import './iam.css'
import { useKeeping } from '../../session/keeping.ts'

interface Values {
  name: string
  description: string
  base: Role
  bp_id: string | undefined
}

const { shape } = customRoles.create.body

/** Makes a role; its policies and members come next, on its own page. */
export default function RoleAdd() {
  const { t } = useTranslation('iam')
  const { everybody, pages } = useKeeping()
  const navigate = useNavigate()
  const nameOf = useRoleName()
  const create = useChange(customRoles.create, { invalidates: invalidatedByRole })
  const submit = async ({ name, description, base, bp_id }: Values): Promise<void> => {
    const role = await create.mutateAsync({ body: { name, description, base, bp_id: bp_id ?? null } })
    notify('success', t('role.made', { name: role.name }))
    void navigate(`${pages.role.detail(role.id)}?tab=policies`)
  }
  return (
    <FormPage<Values>
      initialValues={{ name: '', description: '', base: 'TENANT' }}
      submitText={t('role.submit')}
      onCancel={() => void navigate(pages.role.list())}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      <RadioField
        name="base"
        label={t('role.base')}
        extra={t('role.baseNote')}
        schema={shape.base}
        className="ia-choices"
        values={everybody ? roles : tenantRoles}
        labelOf={(role) => (
          <>
            {nameOf({ name: role })}
            <div className="zs-soft">{t(`role.about.${role}`)}</div>
          </>
        )}
      />
      {everybody && <OrganisationField name="bp_id" label={t('field.owner')} extra={t('field.ownerNote')} />}
    </FormPage>
  )
}
