import { resourceTypes, type ResourceType } from '@zhisuan/contract/iam/service'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../i18n.ts'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { ActionButton } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { paths } from '../../paths.ts'
import { serviceText } from '../../kit/actionText.ts'
import { SearchTable } from './SearchTable.tsx'
import { WithVocabulary } from './WithVocabulary.tsx'
import './iam.css'

/** Kinds of resources, and what policies call them. */
export default function ResourceTypeList() {
  const { t } = useTranslation('iam')
  return (
    <WithVocabulary>
      {({ types, services }) => (
        <>
          <p className="zs-soft ia-lead">{t('resource.lead')}</p>
          <SearchTable<ResourceType>
            label={t('resource.keyword')}
            rows={types}
            rowKey="id"
            textOf={({ id, service }) => `${kindText(id)} ${id} ${serviceText(service, services)}`}
            countText={(count) => t('resource.count', { count })}
            toolbar={<ActionButton action={{ key: 'create', call: resourceTypes.create, label: t('resource.create'), href: paths.iam.resource.add() }} />}
            columns={[
              col.name<ResourceType>('type', t('column.resourceType'), ({ id }) => kindText(id), {
                width: 180,
                to: ({ id }) => paths.iam.resource.detail(id),
                note: ({ id, description }) => (description === '' ? id : `${id} · ${description}`),
              }),
              col.text<ResourceType>('kind', t('service.kind'), ({ built_in }) => t(built_in ? 'service.builtIn' : 'service.custom'), { width: 80 }),
              col.text<ResourceType>('service', t('column.service'), ({ service }) => serviceText(service, services), {
                to: ({ service }) => paths.iam.service.detail(service),
                width: 160,
              }),
              col.custom<ResourceType>('name', t('column.resourceName'), ({ name }) => <CopyCode text={name} />, { width: 380 }),
              col.number<ResourceType>('actions', t('service.actionCount'), ({ actions }) => actions.length, { width: 90 }),
            ]}
          />
        </>
      )}
    </WithVocabulary>
  )
}
