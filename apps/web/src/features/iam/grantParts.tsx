import type { Contact } from '@zhisuan/contract/iam/policy'
import type { Grant } from '@zhisuan/contract/iam/grant'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { grants } from '@zhisuan/contract/iam/grant'
import type { Action } from '../../kit/actions.tsx'
import { withQuery } from '../../paths.ts'
import { useRoleName } from '../../kit/roleNames.ts'
import { invalidatedByGrant } from '../../kit/invalidatedByRights.ts'
import { useKeeping } from '../../session/keeping.ts'

/** Takes a policy back, and says what that changes. */
export function useRevoke(): (grant: Grant) => Action {
  const { t } = useTranslation('iam')
  const nameOf = useRoleName()
  const revoke = useChange(grants.delete, { invalidates: invalidatedByGrant })
  return ({ id, policy, holder }) => ({
    key: 'revoke',
    call: grants.delete,
    label: t('action.revoke'),
    danger: true,
    confirm: {
      title: t('contact.revokeTitle', { policy: policy.name, name: holder.kind === 'role' ? nameOf(holder) : holder.name }),
      body: t('contact.revokeBody'),
    },
    doneText: t('contact.revoked'),
    run: () => revoke.mutateAsync({ params: { id } }),
  })
}

/** Leads to whoever has a policy. */
export function HolderName({ kind, id, name }: { readonly kind: Contact['kind']; readonly id: string; readonly name: string }) {
  const nameOf = useRoleName()
  const { everybody, pages } = useKeeping()
  if (kind === 'organisation_boundary') return everybody ? <Link to={withQuery(pages.partners(), { id })}>{name}</Link> : name
  return <Link to={pages[kind === 'user_boundary' ? 'user' : kind].detail(id)}>{kind === 'role' ? nameOf({ name }) : name}</Link>
}
