import Form from 'antd/es/form'
import { stacks } from '@zhisuan/contract/aos/stack'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { paths } from '../../paths.ts'
import { PlacementCheck, PlacementFields } from '../container/Placement.tsx'
import { placementOf, type PlacementValues } from '../../kit/placementForm.ts'
import { SourceFields, useSource } from './SourceFields.tsx'
import { blankSource, sourceOf, type SourceValues } from './sourceForm.ts'
import { invalidatedByStack } from './stackRules.ts'
import { besideSource, tellUnplaced } from './tellUnplaced.ts'

interface DeployValues extends SourceValues {
  name: string
  description: string
  placement: PlacementValues
}

const { shape } = stacks.create.body
const nowhere: PlacementValues = { by: 'nodes', edge_ids: [], labels: [], tolerations: [], count: null }

/** Deploys a compose file, or one that a template keeps, to nodes. */
export default function ApplicationForm({ templateId, edgeId }: { readonly templateId: string | null; readonly edgeId: string | null }) {
  const { t } = useTranslation('application')
  const navigate = useNavigate()
  const [form] = Form.useForm<DeployValues>()
  const known = useSource(form)
  const typed = Form.useWatch((values: DeployValues) => values.placement, form) as Partial<PlacementValues> | undefined
  const deploy = useChange(stacks.create, { invalidates: invalidatedByStack, silent: true })
  usePageTitle(t('application.deployTitle'))
  const placement = { ...nowhere, ...typed }

  const submit = async (values: DeployValues): Promise<void> => {
    const { name, description } = values
    try {
      const { deployment_id } = await deploy.mutateAsync({
        body: { name, description, ...sourceOf({ ...blankSource, ...values }, known.variables), placement: placementOf({ ...nowhere, ...values.placement }) },
      })
      notify('success', t('application.deploying', { name }))
      void navigate(paths.container.application.detail(deployment_id, name))
    } catch (thrown) {
      const error = besideSource(thrown, values)
      tellUnplaced(error)
      throw error
    }
  }

  return (
    <FormPage<DeployValues>
      form={form}
      initialValues={{
        name: '',
        description: '',
        ...blankSource,
        ...(templateId !== null && { template_id: templateId }),
        placement: { ...nowhere, edge_ids: edgeId === null ? [] : [edgeId] },
      }}
      submitText={t('application.submit')}
      aside={
        <>
          <PlacementCheck values={{ placement }} hint={t('application.checkHint')} />
          {known.services.length > 0 && (
            <div className="zs-card">
              <h2>{t('source.services')}</h2>
              <ul className="zs-list">
                {known.services.map((name) => (
                  <li key={name} className="zs-code">
                    {name}
                  </li>
                ))}
              </ul>
            </div>
          )}
        </>
      }
      onCancel={() => void navigate(paths.container.application.list())}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <DescriptionField schema={shape.description} />
      <h2 className="zs-heading">{t('source.title')}</h2>
      <SourceFields known={known} />
      <h2 className="zs-heading">{t('application.where')}</h2>
      <PlacementFields shared note={t('application.nodesNote')} />
    </FormPage>
  )
}
