import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { boundaries, grants, type Grant } from '@zhisuan/contract/iam/grant'
import { contactKinds, type Contact } from '@zhisuan/contract/iam/policy'
import { useTranslation } from '../../i18n.ts'
import { ApiError, toApiError } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { OrganisationSelect } from '../../kit/OrganisationSelect.tsx'
import { PolicyField, ProjectSelect, RoleSelect, UserSelect } from '../../kit/identitySelects.tsx'
import { invalidatedByGrant } from '../../kit/invalidatedByRights.ts'
import './iam.css'
import { useKeeping } from '../../session/keeping.ts'

type Kind = Contact['kind']

interface Values {
  policy_id: string
  kind: Kind
  holder: string
}

const selects = {
  user: UserSelect,
  role: RoleSelect,
  project: ProjectSelect,
  user_boundary: UserSelect,
  organisation_boundary: OrganisationSelect,
} as const satisfies Record<Kind, unknown>
/** Which field of the call names the holder, for what is refused. */
const holderFields: readonly string[] = ['user_id', 'role_id', 'project_id']

/** Gives a policy to somebody, or makes it somebody's boundary; what is known already is not asked. */
export function GrantDialog({
  policyId,
  holder,
  onClose,
}: Dialog<{ policyId?: string; holder?: { readonly kind: Grant['holder']['kind']; readonly id: string } }>) {
  const { t } = useTranslation('iam')
  const { everybody } = useKeeping()
  const [form] = Form.useForm<Values>()
  const kind = Form.useWatch('kind', form) ?? holder?.kind ?? 'user'
  const give = useChange(grants.create, { invalidates: invalidatedByGrant, silent: true })
  const boundUser = useChange(boundaries.setOfUser, { invalidates: invalidatedByGrant, silent: true })
  const boundOrganisation = useChange(boundaries.setOfOrganisation, { invalidates: invalidatedByGrant, silent: true })
  const submit = async (values: Values): Promise<void> => {
    const id = holder?.id ?? values.holder
    const policy_id = policyId ?? values.policy_id
    if (kind === 'user_boundary') await boundUser.mutateAsync({ params: { id }, body: { policy_id } })
    else if (kind === 'organisation_boundary') await boundOrganisation.mutateAsync({ params: { id }, body: { policy_id } })
    else await give.mutateAsync({ body: { policy_id, [`${kind}_id`]: id } })
  }
  const Holder = selects[kind]
  const required = [{ required: true, message: t('grant.required') }]
  return (
    <FormDialog<Values>
      form={form}
      title={t('grant.title')}
      okText={t('grant.create')}
      initialValues={{ kind: holder?.kind ?? 'user' }}
      onSubmit={(values) =>
        submit(values).catch((thrown: unknown) => {
          throw toField(thrown)
        })
      }
      doneText={t('grant.done')}
      onClose={onClose}
    >
      {policyId === undefined && <PolicyField name="policy_id" label={t('grant.policy')} rules={required} required platformOnly={kind.endsWith('boundary')} />}
      {holder === undefined && (
        <>
          <Form.Item name="kind" label={t('grant.holderKind')} extra={t(`grant.holderNote.${kind}`)}>
            <Radio.Group
              className="ia-kinds"
              // Boundaries are set by the platform's administrators.
              options={contactKinds.filter((value) => everybody || !value.endsWith('boundary')).map((value) => ({ value, label: t(`contact.kind.${value}`) }))}
              onChange={() => form.resetFields(['holder'])}
            />
          </Form.Item>
          <Form.Item name="holder" label={t(`contact.kind.${kind}`)} rules={required} required>
            <Holder key={kind} label={t(`contact.kind.${kind}`)} />
          </Form.Item>
        </>
      )}
    </FormDialog>
  )
}

/** The form has one field for whoever it is. */
function toField(thrown: unknown): ApiError {
  const error = toApiError(thrown)
  return new ApiError({
    ...error,
    message: error.message,
    fields: error.fields.map(({ field, message }) => ({ field: holderFields.includes(field) ? 'holder' : field, message })),
  })
}
