import { policies } from '@zhisuan/contract/iam/policy'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { useRoleName } from '../../kit/roleNames.ts'
import './iam.css'

/** As many as are named. */
const named = 10

/** Whom a change of a policy's default version touches. */
export function Touched({ policyId }: { readonly policyId: string }) {
  const { t } = useTranslation('iam')
  const nameOf = useRoleName()
  const { data } = useCall(policies.contacts, { params: { id: policyId }, query: { page_size: named } })
  if (data === undefined) return <p aria-busy="true">{t('policy.loadingTouched')}</p>
  if (data.total === 0) return <p>{t('policy.touchesNobody')}</p>
  return (
    <>
      <p>{t('policy.touches', { count: data.total })}</p>
      <ul className="ia-touched">
        {data.items.map(({ kind, id, name, bp_name }) => (
          <li key={`${kind}${id}`}>
            {t(`contact.kind.${kind}`)} <strong>{kind === 'role' ? nameOf({ name }) : name}</strong>
            {bp_name !== null && bp_name !== name && <span className="zs-soft">（{bp_name}）</span>}
          </li>
        ))}
        {data.total > named && <li>{t('policy.touchesMore', { count: data.total - named })}</li>}
      </ul>
    </>
  )
}
