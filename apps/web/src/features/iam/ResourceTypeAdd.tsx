import Form from 'antd/es/form'
import { resourceTypes, type ResourceType } from '@zhisuan/contract/iam/service'
import { resourceName } from '@zhisuan/contract/policy/resource'
import { useTranslation } from '../../i18n.ts'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { TextField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField } from '../../kit/NameFields.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { paths } from '../../paths.ts'
import { invalidatedByService } from './invalidated.ts'
import type { Vocabulary } from '../../kit/useVocabulary.ts'
import { WithVocabulary } from './WithVocabulary.tsx'

interface Content {
  pattern: string
  description: string
}
interface Values extends Content {
  service: string | undefined
  type: string
}

const { shape } = resourceTypes.create.body

/** Gives a service of somebody's own another kind of resources; with `edit` in the address it changes one. */
export default function ResourceTypeAdd() {
  const [search] = useSearchParams()
  const edited = search.get('edit')
  if (edited !== null) return <EditedType key={edited} id={edited} />
  return <WithVocabulary>{(vocabulary) => <NewType vocabulary={vocabulary} wish={search.get('service')} />}</WithVocabulary>
}

function NewType({ vocabulary, wish }: { readonly vocabulary: Vocabulary; readonly wish: string | null }) {
  const { t } = useTranslation('iam')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const [service = '', type = ''] = [Form.useWatch('service', form), Form.useWatch('type', form)]
  const create = useChange(resourceTypes.create, { invalidates: invalidatedByService })
  const own = vocabulary.services.filter(({ built_in }) => !built_in)
  const submit = async ({ service: of = '', ...body }: Values): Promise<void> => {
    const made = await create.mutateAsync({ body: { service: of, ...body } })
    notify('success', t('resource.made', { name: made.id }))
    void navigate(paths.iam.resource.detail(made.id))
  }
  return (
    <FormPage<Values>
      form={form}
      initialValues={{ service: own.find(({ id }) => id === wish)?.id, type: '', pattern: '{id}', description: '' }}
      submitText={t('resource.create')}
      onCancel={() => void navigate(paths.iam.resource.list())}
      onSubmit={submit}
    >
      <SelectField
        name="service"
        label={t('resource.service')}
        extra={
          own.length === 0 ? (
            <>
              {t('resource.noServices')}{' '}
              <Link className="zs-text-link" to={paths.iam.service.add()}>
                {t('service.create')}
              </Link>
            </>
          ) : (
            t('resource.serviceNote')
          )
        }
        schema={shape.service}
        showSearch={{ optionFilterProp: 'label' }}
        placeholder={t('grant.required')}
        options={own.map(({ id, name }) => ({ value: id, label: `${name}（${id}）` }))}
      />
      <TextField name="type" label={t('resource.type')} extra={t('resource.typeNote')} schema={shape.type} code placeholder="invoice" />
      <ContentFields service={service} type={type} />
    </FormPage>
  )
}

function EditedType({ id }: { readonly id: string }) {
  const { data, error, refetch } = useCall(resourceTypes.get, { params: { id } }, { silent: true })
  if (error !== null) {
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  return data === undefined ? <PagePlaceholder /> : <EditType type={data} />
}

function EditType({ type }: { readonly type: ResourceType }) {
  const { t } = useTranslation('iam')
  const navigate = useNavigate()
  usePageTitle(t('resource.editTitle', { name: type.id }))
  const update = useChange(resourceTypes.update, { invalidates: invalidatedByService })
  const back = (): void => void navigate(paths.iam.resource.detail(type.id))
  const submit = async (body: Content): Promise<void> => {
    await update.mutateAsync({ params: { id: type.id }, body })
    notify('success', t('saved', { name: type.id }))
    back()
  }
  return (
    <FormPage<Content> initialValues={{ pattern: type.pattern, description: type.description }} submitText={t('save')} onCancel={back} onSubmit={submit}>
      <ContentFields service={type.service} type={type.type} />
    </FormPage>
  )
}

function ContentFields({ service, type }: { readonly service: string; readonly type: string }) {
  const { t } = useTranslation('iam')
  const pattern = Form.useWatch<string | undefined>('pattern') ?? '{id}'
  return (
    <>
      <TextField
        name="pattern"
        label={t('resource.pattern')}
        extra={
          <>
            {t('resource.patternNote')} <span className="zs-code">{resourceName(service || '…', type || '…', '{organisation}', pattern)}</span>
          </>
        }
        schema={shape.pattern}
        code
        placeholder="{id}"
      />
      <DescriptionField schema={shape.description} />
    </>
  )
}
