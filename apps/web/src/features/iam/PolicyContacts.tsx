import { boundaries, grants } from '@zhisuan/contract/iam/grant'
import { contactKinds, policies, type Contact, type Policy } from '@zhisuan/contract/iam/policy'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useParams } from 'react-router'
import { useOne, useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { DetailPage } from '../../kit/DetailPage.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { GrantDialog } from './GrantDialog.tsx'
import { HolderName } from './grantParts.tsx'
import { useRoleName } from '../../kit/roleNames.ts'
import { invalidatedByGrant } from '../../kit/invalidatedByRights.ts'
import { usePolicyActions } from './usePolicyActions.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** Whom a policy is attached to; it is taken back here. */
export default function PolicyContacts() {
  const { pages } = useKeeping()
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(policies.get, { params: { id } }, { refreshMs: 5_000 })
  const { actionsOf } = usePolicyActions(() => void navigate(pages.policy.list()))
  return (
    <DetailPage
      query={query}
      gone={{ to: pages.policy.list() }}
      title={({ name }) => name}
      actions={(policy) => actionsOf(policy).filter(({ key }) => !['contacts', 'grant', 'copy'].includes(key))}
    >
      {(policy) => <Contacts policy={policy} />}
    </DetailPage>
  )
}

function Contacts({ policy }: { readonly policy: Policy }) {
  const { t } = useTranslation('iam')
  const endOf = useEnd(policy)
  return (
    <ResourceTable
      call={policies.contacts}
      input={{ params: { id: policy.id } }}
      // Of one user there may be a grant and a boundary.
      rows={({ items }) => items.map((contact) => ({ ...contact, key: `${contact.kind} ${contact.id}` }))}
      // Made in the line above; the call's own rows have none.
      rowKey={'key' as 'id'}
      columns={[
        col.custom<Contact>('name', t('column.holder'), ({ kind, id, name }) => <HolderName kind={kind} id={id} name={name} />, { width: 220, sort: true }),
        col.text<Contact>('kind', t('column.holderKind'), ({ kind }) => t(`contact.kind.${kind}`), { width: 140 }),
        col.text<Contact>('bp', t('column.organisation'), ({ bp_name }) => bp_name ?? t('platform'), { width: 180 }),
        col.date<Contact>('since', t('column.grantedAt'), ({ since }) => since),
      ]}
      filters={[filter.keyword(t('contact.keyword')), filter.oneOf('kind', t('column.holderKind'), contactKinds, (value) => t(`contact.kind.${value}`))]}
      rowActions={(contact) => [endOf(contact)]}
      create={{ call: grants.create, label: t('grant.create'), dialog: (close) => <GrantDialog policyId={policy.id} onClose={close} /> }}
      empty={{ title: t('contact.empty'), note: t('contact.emptyNote') }}
    />
  )
}

/** Takes a grant back, or ends a boundary. */
function useEnd(policy: Policy): (contact: Contact) => Action {
  const { t } = useTranslation('iam')
  const { everybody } = useKeeping()
  const nameOf = useRoleName()
  const revoke = useChange(grants.delete, { invalidates: invalidatedByGrant })
  const freeUser = useChange(boundaries.setOfUser, { invalidates: invalidatedByGrant })
  const freeOrganisation = useChange(boundaries.setOfOrganisation, { invalidates: invalidatedByGrant })
  return ({ grant_id, kind, id, name: told }) => {
    const name = kind === 'role' ? nameOf({ name: told }) : told
    const ends = grant_id === null ? 'boundary' : 'revoke'
    return {
      key: 'end',
      call: grant_id !== null ? grants.delete : kind === 'user_boundary' ? boundaries.setOfUser : boundaries.setOfOrganisation,
      label: t('action.revoke'),
      danger: true,
      disabledReason: everybody || grant_id !== null ? null : t('ownersOnly'),
      confirm: { title: t(`contact.${ends}Title`, { policy: policy.name, name }), body: t(`contact.${ends}Body`, { policy: policy.name, name }) },
      doneText: t('contact.revoked'),
      run: () => {
        if (grant_id !== null) return revoke.mutateAsync({ params: { id: grant_id } })
        return kind === 'user_boundary'
          ? freeUser.mutateAsync({ params: { id }, body: { policy_id: null } })
          : freeOrganisation.mutateAsync({ params: { id }, body: { policy_id: null } })
      },
    }
  }
}
