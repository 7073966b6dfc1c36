import { grants, type Grant } from '@zhisuan/contract/iam/grant'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { GrantDialog } from './GrantDialog.tsx'
import { useRevoke } from './grantParts.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** The policies of a role, a user or a project: given and taken back. */
export function HolderPolicies({
  kind,
  id,
  fixed = null,
  empty,
  emptyNote,
}: {
  readonly kind: Grant['holder']['kind']
  readonly id: string
  /** Why none is given to it or taken from it. */
  readonly fixed?: string | null
  readonly empty: string
  readonly emptyNote: string
}) {
  const { t } = useTranslation('iam')
  const { pages } = useKeeping()
  const revokeOf = useRevoke()
  return (
    <>
      <ResourceTable
        name="policies"
        call={grants.list}
        input={{ query: { [`${kind}_id`]: id } }}
        nameOf={({ policy }) => policy.name}
        columns={[
          col.name<Grant>('policy', t('column.policy'), ({ policy }) => policy.name, { width: 240, to: ({ policy }) => pages.policy.version(policy.id) }),
          col.text<Grant>('created_by', t('column.grantedBy'), ({ created_by }) => created_by, { width: 140 }),
          col.date<Grant>('created_at', t('column.grantedAt'), ({ created_at }) => created_at, { sort: true }),
        ]}
        rowActions={(grant) => [{ ...revokeOf(grant), disabledReason: fixed }]}
        create={{
          call: grants.create,
          label: t('grant.create'),
          disabledReason: fixed,
          dialog: (close) => <GrantDialog holder={{ kind, id }} onClose={close} />,
        }}
        empty={{ title: empty, note: emptyNote }}
      />
    </>
  )
}
