import { services, type Service } from '@zhisuan/contract/iam/service'
import { useTranslation } from '../../i18n.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { ActionButton } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { paths } from '../../paths.ts'
import { serviceText } from '../../kit/actionText.ts'
import { SearchTable } from './SearchTable.tsx'
import { WithVocabulary } from './WithVocabulary.tsx'
import './iam.css'

/** Families of calls: what actions of policies begin with. */
export default function ServiceList() {
  const { t } = useTranslation('iam')
  return (
    <WithVocabulary>
      {({ services: known }) => (
        <>
          <p className="zs-soft ia-lead">{t('service.lead', { example: 'nextstack.vm.start' })}</p>
          <SearchTable
            label={t('service.keyword')}
            rows={known}
            rowKey="id"
            textOf={({ id, name, actions }) => `${serviceText(id)} ${name} ${id} ${actions.map((action) => action.id).join(' ')}`}
            countText={(count) => t('service.serviceCount', { count })}
            toolbar={<ActionButton action={{ key: 'create', call: services.create, label: t('service.create'), href: paths.iam.service.add() }} />}
            columns={[
              col.name<Service>('name', t('column.service'), (service) => serviceText(service.id, [service]), {
                width: 220,
                to: ({ id }) => paths.iam.service.detail(id),
                note: ({ description }) => description,
              }),
              col.text<Service>('kind', t('service.kind'), ({ built_in }) => t(built_in ? 'service.builtIn' : 'service.custom'), { width: 80 }),
              col.text<Service>('owner', t('column.owner'), ({ bp_name }) => bp_name ?? t('platform'), { width: 120 }),
              col.custom<Service>('id', t('column.actionId'), ({ id }) => <CopyCode text={`${id}.*`} />, { width: 200 }),
              col.number<Service>('actions', t('service.actionCount'), ({ actions }) => actions.length, { width: 100 }),
              col.number<Service>(
                'changes',
                t('service.changeCount'),
                ({ actions }) => actions.filter(({ level }) => level !== 'list' && level !== 'read').length,
                { width: 100 },
              ),
              col.number<Service>('types', t('service.typeCount'), ({ actions }) => new Set(actions.map(({ resource_type }) => resource_type)).size, {
                width: 100,
              }),
            ]}
          />
        </>
      )}
    </WithVocabulary>
  )
}
