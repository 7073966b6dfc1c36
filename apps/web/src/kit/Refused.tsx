import { decisions } from '@zhisuan/contract/iam/decision'
import { policies } from '@zhisuan/contract/iam/policy'
import type { RefusedByPolicy } from '@zhisuan/contract/problem'
import { Link } from 'react-router'
import { useChange } from '../api/hooks.ts'
import { useTranslation } from '../i18n.ts'
import { paths, withQuery } from '../paths.ts'
import { useKeeping } from '../session/keeping.ts'
import { useCurrentUser, useMayCall } from '../session/user.ts'

type Refused = Pick<RefusedByPolicy, 'action' | 'by'>

/** What can be done about a refusal: learn why, and ask for the right. Plain elements: it is part of the first load. */
export function RefusedHelp({ refused }: { readonly refused: Refused }) {
  return (
    <>
      <WhyRefused refused={refused} /> <AskRight action={refused.action} />
    </>
  )
}

/** Policies that people made and that are ready-made; what is built in has no page. */
const hasPage = (policyId: string): boolean => policyId.includes('-')

/** Leads to the statement that decided, in the page of its policy; where none did, or one may not read it, to what explains it. */
function WhyRefused({ refused: { action, by } }: { readonly refused: Refused }) {
  const { t } = useTranslation()
  const user = useCurrentUser()
  const { pages } = useKeeping()
  const [mayRead, mayExplain] = [useMayCall(policies.get), useMayCall(decisions.explain)]
  if (user === null) return null
  const to =
    mayRead && by !== null && hasPage(by.policy_id)
      ? withQuery(pages.policy.version(by.policy_id), { statement: by.index + 1 })
      : mayExplain
        ? withQuery(pages.authorize(), { tab: 'why', user: user.id, action })
        : paths.help.detail('roles-and-policies')
  return (
    <Link to={to} className="zs-text-link">
      {t('error.why')}
    </Link>
  )
}

/** Asks who manages the organisation; nobody else could give it, so whoever is not one of its people is offered nothing. */
function AskRight({ action }: { readonly action: string }) {
  const { t } = useTranslation()
  const user = useCurrentUser()
  const { mutate, data, isPending } = useChange(decisions.request)
  if (user?.kind !== 4) return null
  if (data === undefined)
    return (
      <button type="button" className="zs-linkbutton" disabled={isPending} onClick={() => mutate({ body: { action } })}>
        {t('error.ask')}
      </button>
    )
  const asked = ({ told, role }: typeof data): string => (!told ? t('error.askedToday') : role === null ? t('error.asked') : t('error.askedFor', { role }))
  return <span role="status">{asked(data)}</span>
}
