import { NavLink } from 'react-router'
import { ticketDesk } from '@zhisuan/contract/ticket/desk'
import { useTranslation } from '../../i18n.ts'
import { paths } from '../../paths.ts'
import { useMayCall } from '../../session/user.ts'
import './ticket.css'

/** Between the pages of those who answer, which stand in no menu. */
export function DeskNav() {
  const { t } = useTranslation('ticket')
  const keeps = useMayCall(ticketDesk.figures)
  // One page alone leads nowhere.
  if (!keeps) return null
  return (
    <nav className="tk-nav" aria-label={t('desk.nav')}>
      <NavLink to={paths.workOrder.list()}>{t('desk.list')}</NavLink>
      <NavLink to={paths.workOrder.center()}>{t('desk.center')}</NavLink>
    </nav>
  )
}
