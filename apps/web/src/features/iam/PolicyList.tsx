import { policies, type Policy } from '@zhisuan/contract/iam/policy'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useOwner, usePolicyActions } from './usePolicyActions.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** Policies of the platform and of organisations. */
export default function PolicyList() {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const ownerOf = useOwner()
  const { actionsOf } = usePolicyActions()
  return (
    <ResourceTable
      call={policies.list}
      columns={[
        col.name<Policy>('name', t('column.name'), ({ name }) => name, {
          sort: true,
          width: 220,
          to: ({ id }) => pages.policy.version(id),
          note: ({ description }) => description,
        }),
        col.text<Policy>('owner', t('column.owner'), ownerOf, { width: 140 }),
        col.text<Policy>('version', t('policy.defaultVersion'), ({ default_version }) => t('policy.versionOf', { version: default_version }), { width: 110 }),
        col.number<Policy>('versions', t('column.versions'), ({ version_count }) => version_count, { width: 70 }),
        col.text<Policy>('contacts', t('column.contacts'), ({ contact_count }) => t('policy.contactCount', { count: contact_count }), {
          to: ({ id }) => pages.policy.contact(id),
          width: 80,
        }),
        col.date<Policy>('updated_at', t('column.updated'), ({ updated_at }) => updated_at, { sort: true }),
        col.text<Policy>('creator', t('column.creator'), ({ created_by }) => created_by, { width: 110, off: true }),
        col.date<Policy>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true, off: true }),
        col.code<Policy>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[
        filter.keyword(t('policy.keyword')),
        filter.select('owner', t('policy.owner'), [
          { value: 'system', label: t('ownerFilter.system') },
          { value: 'platform', label: t('ownerFilter.platform') },
          { value: 'organisation', label: t('ownerFilter.organisation') },
        ]),
      ]}
      rowActions={actionsOf}
      create={{ call: policies.create, label: t('policy.create'), href: pages.policy.add() }}
      empty={{ title: t('policy.empty'), note: t('policy.emptyNote') }}
    />
  )
}
