import { keepers, mayAccess } from '@zhisuan/contract/roles'
import { Link } from 'react-router'
import { useTranslation } from '../i18n.ts'
import { paths, withQuery } from '../paths.ts'
import { useKeeping } from '../session/keeping.ts'
import { personOf, useCurrentUser } from '../session/user.ts'

/** Leads to what decided a refusal: the tool that tells it, or how to read it for who may not use that. */
export function WhyRefused({ action }: { readonly action: string }) {
  const { t } = useTranslation()
  const user = useCurrentUser()
  const { pages } = useKeeping()
  if (user === null) return null
  const to = mayAccess(keepers, personOf(user)) ? withQuery(pages.authorize(), { tab: 'why', user: user.id, action }) : paths.help.detail('roles-and-policies')
  return <Link to={to}>{t('error.why')}</Link>
}
