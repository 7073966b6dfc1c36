import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import { containers } from '@zhisuan/contract/cis/container'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { toApiError } from '../../api/client.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { paths } from '../../paths.ts'
import { invalidatedByContainer } from './containerRules.ts'
import { PlacementCheck, PlacementFields } from './Placement.tsx'
import { SpecFields } from './SpecFields.tsx'
import { blankSpec, specOf, valuesOf, type DeployValues } from './specForm.ts'
import { placementOf } from '../../kit/placementForm.ts'
import { tellError } from '../../api/tellError.ts'

const { shape } = containers.deploy.body

/** Runs a container on nodes; the address may say from which image, on which node, or like which container. */
export default function ContainerAdd() {
  const [search] = useSearchParams()
  const from = search.get('from')
  const { data, error, isPending } = useCall(containers.get, { params: { id: from ?? '' } }, { silent: true, enabled: from !== null })
  if (from !== null && isPending) return <PagePlaceholder />
  const like = from === null || error !== null ? undefined : data
  const edge = search.get('edge') ?? like?.edge.id
  return (
    <AddForm
      copiedFrom={like?.spec == null ? null : like.name}
      missing={from !== null && like?.spec == null}
      initial={{
        name: '',
        description: '',
        spec: like?.spec == null ? { ...blankSpec, image: search.get('image') ?? '' } : valuesOf(like.spec),
        placement: { by: 'nodes', edge_ids: edge === undefined ? [] : [edge], labels: [], tolerations: [], count: null },
      }}
    />
  )
}

/** @param initial is read once, when the form is first drawn */
function AddForm({ initial, copiedFrom, missing }: { readonly initial: DeployValues; readonly copiedFrom: string | null; readonly missing: boolean }) {
  const { t } = useTranslation('container')
  const navigate = useNavigate()
  const [form] = Form.useForm<DeployValues>()
  const typed = Form.useWatch((values: DeployValues) => values, form)
  const deploy = useChange(containers.deploy, { invalidates: invalidatedByContainer, silent: true })
  const submit = async (values: DeployValues): Promise<void> => {
    const { name, description } = values
    const { spec, placement } = whole(values, initial)
    try {
      const { deployment_id } = await deploy.mutateAsync({ body: { name, description, spec: specOf(spec), placement: placementOf(placement) } })
      notify('success', t('add.done', { name }))
      void navigate(paths.container.deployment.containers(deployment_id, name))
    } catch (thrown) {
      // What names a field stands beside it.
      if (toApiError(thrown).fields.length === 0) tellError(thrown)
      throw thrown
    }
  }
  return (
    <>
      {copiedFrom !== null && <Alert className="zs-above" type="info" showIcon title={t('add.copied', { name: copiedFrom })} />}
      {missing && <Alert className="zs-above" type="warning" showIcon title={t('add.noSpec')} />}
      <FormPage<DeployValues>
        form={form}
        initialValues={initial}
        submitText={t('add.submit')}
        aside={<PlacementCheck values={whole(typed, initial)} />}
        onCancel={() => void navigate(paths.container.deployment.list())}
        onSubmit={submit}
      >
        <TextField name="name" label={t('field.name')} schema={shape.name} autoFocus />
        <TextAreaField name="description" label={t('field.description')} schema={shape.description} rows={2} showCount />
        <h2 className="zs-heading">{t('add.spec')}</h2>
        <SpecFields edgeId={whole(typed, initial).placement.edge_ids[0] ?? null} />
        <h2 className="zs-heading">{t('add.where')}</h2>
        <PlacementFields shared />
      </FormPage>
    </>
  )
}

/** What is typed, with the beginning's values where a field is not drawn: antd leaves those out. */
const whole = (typed: Partial<DeployValues> | undefined, initial: DeployValues): Pick<DeployValues, 'spec' | 'placement'> => ({
  spec: { ...initial.spec, ...typed?.spec },
  placement: { ...initial.placement, ...typed?.placement },
})
