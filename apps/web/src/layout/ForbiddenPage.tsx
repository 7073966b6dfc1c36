import { tenantRoles, type Role } from '@zhisuan/contract/roles'
import { useLocation } from 'react-router'
import { useTranslation } from '../i18n.ts'
import { useForbidden } from '../kit/allowed.ts'
import { Astray } from '../kit/Astray.tsx'
import { RefusedHelp } from '../kit/Refused.tsx'
import { useRoleName } from '../kit/roleNames.ts'
import { mayOpen } from '../session/guard.ts'
import { personOf, useCurrentUser } from '../session/user.ts'
import type { Route } from '../routes.ts'
import { routeAt } from './routeAt.ts'

/** At the address of a page that the person may not see: by their roles, or because policies refuse what it asks. */
export default function ForbiddenPage() {
  const { t } = useTranslation('public')
  const route = routeAt(useLocation().pathname)
  const user = useCurrentUser()
  if (route === null || user === null || typeof route.access === 'string' || mayOpen(route, personOf(user)))
    return <Astray title={t('forbidden.title')} text={t('forbidden.text')} />
  return <Forbidden route={{ ...route, access: route.access }} />
}

function Forbidden({ route }: { readonly route: Route & { readonly access: Exclude<Route['access'], string> } }) {
  const { t } = useTranslation(['public', 'routes'])
  const nameOf = useRoleName()
  const forbidden = useForbidden()
  const { access, asks } = route
  const page = t(`routes:${route.title}`)
  const refusal = asks === undefined ? null : forbidden({ id: asks, access })
  const byRole = refusal === null || refusal.refused.outcome === 'role'
  const text = byRole
    ? t('forbidden.textOf', { page, roles: access.map((role) => nameOf({ name: role })).join('、') })
    : t('forbidden.refused', { page, reason: refusal.reason })
  // What is the platform's own, nobody of an organisation can give.
  const refused = byRole && !tenantRoles.some((role: Role) => access.includes(role)) ? null : (refusal?.refused ?? null)
  return <Astray title={t('forbidden.title')} text={text} help={refused !== null && <RefusedHelp refused={refused} />} />
}
