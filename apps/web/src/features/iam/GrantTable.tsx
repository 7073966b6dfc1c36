import { grants, type Grant } from '@zhisuan/contract/iam/grant'
import { useTranslation } from '../../i18n.ts'
import { useSearchParams } from 'react-router'
import { col } from '../../kit/columns.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { GrantDialog } from './GrantDialog.tsx'
import { HolderName, useRevoke } from './grantParts.tsx'
import { PolicySelect } from '../../kit/identitySelects.tsx'
import './iam.css'
import { useKeeping } from '../../session/keeping.ts'

/** All grants, or those of one policy. */
export function GrantTable() {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const [search, setSearch] = useSearchParams()
  const revokeOf = useRevoke()
  const policy = search.get('policy') ?? undefined
  return (
    <>
      <ResourceTable
        call={grants.list}
        input={{ query: { ...(policy !== undefined && { policy_id: policy }) } }}
        nameOf={({ policy: { name } }) => name}
        columns={[
          col.name<Grant>('policy', t('column.policy'), (grant) => grant.policy.name, { width: 220, to: (grant) => pages.policy.version(grant.policy.id) }),
          col.custom<Grant>('holder', t('column.holder'), ({ holder }) => <HolderName {...holder} />, { width: 200 }),
          col.text<Grant>('kind', t('column.holderKind'), ({ holder }) => t(`grant.holder.${holder.kind}`), { width: 100 }),
          col.text<Grant>('created_by', t('column.grantedBy'), ({ created_by }) => created_by, { width: 140 }),
          col.date<Grant>('created_at', t('column.grantedAt'), ({ created_at }) => created_at, { sort: true }),
        ]}
        rowActions={(grant) => [revokeOf(grant)]}
        create={{ call: grants.create, label: t('grant.create'), dialog: (close) => <GrantDialog onClose={close} /> }}
        toolbar={
          <span className="ia-filter">
            <PolicySelect
              label={t('grant.filterPolicy')}
              value={policy}
              onChange={(id) => setSearch(id === undefined ? {} : { policy: id }, { replace: true })}
            />
          </span>
        }
        empty={{ title: t('grant.empty'), note: t('grant.emptyNote') }}
      />
    </>
  )
}
