import Form from 'antd/es/form'
import { edges, type Edge, type Label, type Taint } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByEdge } from './edgeRules.ts'
import { LabelsSelect, labelsRule, TaintsSelect, taintsRule } from './MarksSelect.tsx'
import { DescriptionField, NameField } from './NameFields.tsx'
import { SiteSelect } from './SiteSelect.tsx'

type Named = Pick<Edge, 'id' | 'name' | 'description' | 'site'>

/** Changes what a node is called and where it stands. */
export function EdgeEdit({ edge, onClose }: Dialog<{ edge: Named }>) {
  const { t } = useTranslation('edge')
  const update = useChange(edges.update, { invalidates: invalidatedByEdge, silent: true })
  return (
    <FormDialog<{ name: string; description: string; site_id: string | null }>
      title={t('edit.title', { name: edge.name })}
      okText={t('save')}
      initialValues={{ name: edge.name, description: edge.description, site_id: edge.site?.id ?? null }}
      doneText={t('edit.done')}
      onClose={onClose}
      onSubmit={(body) => update.mutateAsync({ params: { id: edge.id }, body })}
    >
      <NameField kind="ecrm.edge" own={edge.name} />
      <Form.Item name="site_id" label={t('field.site')}>
        <SiteSelect />
      </Form.Item>
      <DescriptionField />
    </FormDialog>
  )
}

/** Changes by what containers find a node, and what keeps them away. */
export function EdgeMarks({ edge, onClose }: Dialog<{ edge: Pick<Edge, 'id' | 'name' | 'labels' | 'taints'> }>) {
  const { t } = useTranslation('edge')
  const mark = useChange(edges.mark, { invalidates: invalidatedByEdge, silent: true })
  return (
    <FormDialog<{ labels: Label[]; taints: Taint[] }>
      title={t('marks.title', { name: edge.name })}
      okText={t('save')}
      initialValues={{ labels: edge.labels, taints: edge.taints }}
      doneText={t('marks.done')}
      onClose={onClose}
      onSubmit={(body) => mark.mutateAsync({ params: { id: edge.id }, body })}
    >
      <MarksFields />
    </FormDialog>
  )
}

export function MarksFields() {
  const { t } = useTranslation('edge')
  return (
    <>
      <Form.Item name="labels" label={t('field.labels')} extra={t('field.labelsNote')} rules={[labelsRule]}>
        <LabelsSelect />
      </Form.Item>
      <Form.Item name="taints" label={t('field.taints')} extra={t('field.taintsNote')} rules={[taintsRule]}>
        <TaintsSelect />
      </Form.Item>
    </>
  )
}
