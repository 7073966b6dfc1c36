import { useLocation } from 'react-router'
import { useTranslation } from '../i18n.ts'
import { useRoleName } from '../kit/roleNames.ts'
import { routeAt } from './routeAt.ts'
import { Astray } from '../kit/Astray.tsx'

/** At the address of a page that the person may not see. */
export default function ForbiddenPage() {
  const { t } = useTranslation(['public', 'routes'])
  const nameOf = useRoleName()
  const route = routeAt(useLocation().pathname)
  const text =
    route === null || typeof route.access === 'string'
      ? t('forbidden.text')
      : t('forbidden.textOf', { page: t(`routes:${route.title}`), roles: route.access.map((role) => nameOf({ name: role })).join('、') })
  return <Astray title={t('forbidden.title')} text={text} />
}
