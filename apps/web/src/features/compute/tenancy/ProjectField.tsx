import Form from 'antd/es/form'
import { projects } from '@zhisuan/contract/issue/project'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { SearchSelect } from '../../../kit/SearchSelect.tsx'
import { useCurrentUser } from '../../../session/user.ts'

/** For which of their organisation's projects somebody makes a thing: a field `project_id`, where they have any. */
export function ProjectField() {
  const { t } = useTranslation('computeTenancy')
  const bpId = useCurrentUser()?.bp_id ?? null
  const { data } = useCall(projects.list, { query: { page_size: 1 } }, { silent: true, enabled: bpId !== null })
  if (bpId === null || data === undefined || data.total === 0) return null
  return (
    <Form.Item name="project_id" label={t('place.label')} extra={t('place.note')}>
      <SearchSelect call={projects.list} rows={({ items }) => items} nameOf={({ name }) => name} label={t('place.label')} placeholder={t('place.own')} />
    </Form.Item>
  )
}
