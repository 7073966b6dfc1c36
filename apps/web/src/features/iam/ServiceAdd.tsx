import PlusOutlined from '@ant-design/icons/es/icons/PlusOutlined'
import DeleteOutlined from '@ant-design/icons/es/icons/DeleteOutlined'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { accessLevels, keyTypes, serviceLimits, services, type AccessLevel, type Service } from '@zhisuan/contract/iam/service'
import type { KeyType } from '@zhisuan/contract/policy/keys'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import type { z } from 'zod'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { Field, TextField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { type Judging } from '../../kit/rules.ts'
import { paths } from '../../paths.ts'
import { OrganisationField } from '../../kit/OrganisationSelect.tsx'
import { keyTypeText } from './editor/conditionText.ts'
import { invalidatedByService } from './invalidated.ts'
import './iam.css'

interface Content {
  name: string
  description: string
  actions: { name: string; level: AccessLevel; description: string }[]
  condition_keys: { name: string; type: KeyType; description: string }[]
}
interface Values extends Content {
  id: string
  bp_id: string | undefined
}

const { shape } = services.create.body
const actionShape = shape.actions.element.shape
const keyShape = shape.condition_keys.unwrap().element.shape

/** What is wrong with a list as such: each row tells its own. */
const rulesOfList = (schema: z.ZodType): Judging[] => [
  {
    validator: async (_rule, value) => {
      const issue = schema.safeParse(value).error?.issues.find(({ path }) => path.length === 0)
      if (issue !== undefined) throw new Error(issue.message)
    },
  },
]

/** Lets policies be about an application of somebody's own; with `edit` in the address it changes one. */
export default function ServiceAdd() {
  const [search] = useSearchParams()
  const edited = search.get('edit')
  return edited === null ? <NewService /> : <EditedService key={edited} id={edited} />
}

function NewService() {
  const { t } = useTranslation('iam')
  const navigate = useNavigate()
  const create = useChange(services.create, { invalidates: invalidatedByService })
  const submit = async ({ bp_id, ...body }: Values): Promise<void> => {
    const made = await create.mutateAsync({ body: { ...body, bp_id: bp_id ?? null } })
    notify('success', t('service.made', { name: made.name }))
    void navigate(paths.iam.service.detail(made.id))
  }
  return (
    <FormPage<Values>
      initialValues={{ id: '', name: '', description: '', actions: [{ name: '', level: 'read', description: '' }], condition_keys: [] }}
      submitText={t('service.create')}
      onCancel={() => void navigate(paths.iam.service.list())}
      onSubmit={submit}
    >
      <p className="zs-soft ia-lead">{t('service.customLead')}</p>
      <TextField name="id" label={t('service.id')} extra={t('service.idNote')} schema={shape.id} autoFocus code />
      <ContentFields focus={false} />
      <OrganisationField name="bp_id" label={t('field.owner')} extra={t('service.ownerNote')} />
    </FormPage>
  )
}

function EditedService({ id }: { readonly id: string }) {
  const { data, error, refetch } = useCall(services.get, { params: { id } }, { silent: true })
  if (error !== null) {
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  return data === undefined ? <PagePlaceholder /> : <EditService service={data} />
}

const contentOf = ({ id, name, description, actions, condition_keys }: Service): Content => ({
  name,
  description,
  actions: actions.map((action) => ({ name: action.id.slice(id.length + 1), level: action.level, description: action.summary })),
  condition_keys: condition_keys.map(({ key, ...rest }) => ({ name: key.slice(id.length + 1), ...rest })),
})

function EditService({ service }: { readonly service: Service }) {
  const { t } = useTranslation('iam')
  const navigate = useNavigate()
  usePageTitle(t('service.editTitle', { name: service.name }))
  const update = useChange(services.update, { invalidates: invalidatedByService })
  const back = (): void => void navigate(paths.iam.service.detail(service.id))
  const submit = async (body: Content): Promise<void> => {
    await update.mutateAsync({ params: { id: service.id }, body })
    notify('success', t('saved', { name: body.name }))
    back()
  }
  return (
    <FormPage<Content> initialValues={contentOf(service)} submitText={t('save')} onCancel={back} onSubmit={submit}>
      <ContentFields focus />
    </FormPage>
  )
}

function ContentFields({ focus }: { readonly focus: boolean }) {
  const { t } = useTranslation('iam')
  return (
    <>
      <NameField schema={shape.name} focus={focus} />
      <DescriptionField schema={shape.description} />
      <Form.Item label={t('service.actions')} extra={t('service.actionsNote')} required>
        <ActionRows />
      </Form.Item>
      <Form.Item label={t('service.conditionKeys')} extra={t('service.conditionKeysNote')}>
        <KeyRows />
      </Form.Item>
    </>
  )
}

function ActionRows() {
  const { t } = useTranslation('iam')
  return (
    <Form.List name="actions" rules={rulesOfList(shape.actions)}>
      {(rows, { add, remove }, { errors }) => (
        <div className="ia-rows">
          {rows.map(({ key, name }) => (
            <div key={key} className="ia-row" role="group" aria-label={t('service.action', { number: name + 1 })}>
              <TextField
                name={[name, 'name']}
                schema={actionShape.name}
                required={false}
                code
                placeholder="invoice.approve"
                aria-label={t('service.actionName', { number: name + 1 })}
              />
              <SelectField
                name={[name, 'level']}
                aria-label={t('service.actionLevel', { number: name + 1 })}
                values={accessLevels}
                labelOf={(value) => t(`service.level.${value}`)}
              />
              <Field name={[name, 'description']} schema={actionShape.description}>
                <Input placeholder={t('description')} aria-label={t('service.actionDescription', { number: name + 1 })} />
              </Field>
              <Button type="text" danger icon={<DeleteOutlined />} aria-label={t('service.removeAction', { number: name + 1 })} onClick={() => remove(name)} />
            </div>
          ))}
          <Form.ErrorList errors={errors} />
          <Button
            icon={<PlusOutlined aria-hidden />}
            disabled={rows.length >= serviceLimits.actions}
            onClick={() => add({ name: '', level: 'read', description: '' })}
          >
            {t('service.addAction')}
          </Button>
        </div>
      )}
    </Form.List>
  )
}

function KeyRows() {
  const { t } = useTranslation('iam')
  return (
    <Form.List name="condition_keys" rules={rulesOfList(shape.condition_keys)}>
      {(rows, { add, remove }, { errors }) => (
        <div className="ia-rows">
          {rows.map(({ key, name }) => (
            <div key={key} className="ia-row" role="group" aria-label={t('service.key', { number: name + 1 })}>
              <Field name={[name, 'name']} schema={keyShape.name} required={false}>
                <Input className="zs-code" spellCheck={false} placeholder="Amount" aria-label={t('service.keyName', { number: name + 1 })} />
              </Field>
              <SelectField
                name={[name, 'type']}
                aria-label={t('service.keyTypeOf', { number: name + 1 })}
                values={keyTypes}
                labelOf={(value) => keyTypeText(t, value)}
              />
              <Field name={[name, 'description']} schema={keyShape.description}>
                <Input placeholder={t('description')} aria-label={t('service.keyDescription', { number: name + 1 })} />
              </Field>
              <Button type="text" danger icon={<DeleteOutlined />} aria-label={t('service.removeKey', { number: name + 1 })} onClick={() => remove(name)} />
            </div>
          ))}
          <Form.ErrorList errors={errors} />
          <Button
            icon={<PlusOutlined aria-hidden />}
            disabled={rows.length >= serviceLimits.conditionKeys}
            onClick={() => add({ name: '', type: 'text', description: '' })}
          >
            {t('service.addKey')}
          </Button>
        </div>
      )}
    </Form.List>
  )
}
