import { keptProjects } from '@zhisuan/contract/iam/project'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { TextField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { OrganisationField } from '../../kit/OrganisationSelect.tsx'
import { invalidatedByProject } from './invalidated.ts'
import { useNamedOrganisation } from '../../kit/useOrganisationFilter.tsx'
import { useKeeping } from '../../session/keeping.ts'

interface Values {
  name: string
  key: string
  description: string
  bp_id: string
}

const { shape } = keptProjects.create.body

/** Makes a project; its members come next, on its own page. */
export default function ProjectAdd() {
  const { t } = useTranslation('identity')
  const { everybody, pages } = useKeeping()
  const navigate = useNavigate()
  const { id, known } = useNamedOrganisation()
  const create = useChange(keptProjects.create, { invalidates: invalidatedByProject })
  const submit = async (body: Values): Promise<void> => {
    const project = await create.mutateAsync({ body })
    notify('success', t('project.made', { name: project.name }))
    void navigate(pages.project.detail(project.id))
  }
  return (
    <FormPage<Values>
      initialValues={{ name: '', key: '', description: '', ...(id !== undefined && { bp_id: id }) }}
      submitText={t('project.submit')}
      onCancel={() => void navigate(pages.project.list())}
      onSubmit={submit}
    >
      {everybody && <OrganisationField name="bp_id" label={t('project.owner')} missing={t('required')} known={known} />}
      <NameField schema={shape.name} />
      <TextField name="key" label={t('project.key')} extra={t('project.keyNote')} schema={shape.key} autoCapitalize="none" spellCheck={false} />
      <DescriptionField schema={shape.description} />
    </FormPage>
  )
}
