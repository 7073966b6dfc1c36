import { edges } from '@zhisuan/contract/ecrm/edge'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { SelectField } from '../../kit/SelectField.tsx'

/** On which node. @param own only those of the platform */
export function NodeField({ own }: { readonly own: boolean }) {
  const { t } = useTranslation('operations')
  const { data, isPending } = useCall(edges.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const fitting = (data?.items ?? []).filter(({ bp_id, status }) => (!own || bp_id === null) && (status === 'online' || status === 'offline'))
  return (
    <SelectField<string>
      name={['place', 'node_id']}
      label={t('component.node')}
      extra={t(own ? 'component.ownNodeNote' : 'component.nodeNote')}
      missing={t('component.nodeMissing')}
      loading={isPending}
      showSearch={{ optionFilterProp: 'label' }}
      notFoundContent={t('component.nodeNone')}
      options={fitting.map(({ id, name, status }) => ({
        value: id,
        label: status === 'online' ? name : t('component.nodeAway', { name }),
        disabled: status !== 'online',
      }))}
    />
  )
}
