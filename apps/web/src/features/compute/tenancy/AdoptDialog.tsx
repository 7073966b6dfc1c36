import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import { keystoneProjects, type KeystoneProject } from '@zhisuan/contract/compute/project'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { useEffect } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { SearchSelect } from '../../../kit/SearchSelect.tsx'
import { OrganisationField } from '../../../kit/OrganisationSelect.tsx'

interface Values {
  bp_id?: string
  project_id?: string
}

/** Gives a project that has no owner to an organisation, or to one of its projects, with all that it holds. */
export function AdoptDialog({ cloudId, project, onClose }: Dialog<{ cloudId: string; project: KeystoneProject }>) {
  const { t } = useTranslation('computeTenancy')
  const [form] = Form.useForm<Values>()
  const organisation = Form.useWatch('bp_id', form)
  const adopt = useChange(keystoneProjects.adopt, { invalidates: [keystoneProjects.list, keystoneProjects.quota], silent: true })
  // A project of another organisation would only be refused.
  useEffect(() => form.setFieldValue('project_id', undefined), [form, organisation])
  return (
    <FormDialog<Values>
      form={form}
      title={t('adopt.title', { name: project.name })}
      okText={t('adopt.submit')}
      initialValues={{}}
      doneText={t('adopt.done', { name: project.name })}
      onClose={onClose}
      onSubmit={({ bp_id = '', project_id }) =>
        adopt.mutateAsync({ params: { cloud_id: cloudId, id: project.id }, body: { bp_id, project_id: project_id ?? null } })
      }
    >
      <Alert type="info" showIcon className="zs-above" title={t('adopt.note')} />
      <OrganisationField name="bp_id" label={t('adopt.organisation')} missing={t('adopt.organisationRequired')} />
      <Form.Item name="project_id" label={t('adopt.project')}>
        {organisation === undefined ? (
          <SearchSelect
            key="none"
            call={keptProjects.list}
            rows={() => []}
            nameOf={({ name }) => name}
            label={t('adopt.project')}
            placeholder={t('adopt.projectFirst')}
          />
        ) : (
          <SearchSelect
            key={organisation}
            call={keptProjects.list}
            input={{ query: { bp_id: organisation } }}
            rows={({ items }) => items}
            nameOf={({ name }) => name}
            label={t('adopt.project')}
            placeholder={t('adopt.projectNone')}
          />
        )}
      </Form.Item>
    </FormDialog>
  )
}
