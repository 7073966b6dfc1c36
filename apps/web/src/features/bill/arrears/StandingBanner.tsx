import Alert from 'antd/es/alert'
import type { Standing } from '@zhisuan/contract/bill/arrears'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import StandingLink from './StandingLink.tsx'
import './standing.css'

/** How an account stands that is not in order, and what to do about it. */
export default function StandingBanner({ standing, state }: { readonly standing: Standing; readonly state: Exclude<Standing['state'], 'normal'> }) {
  const { t } = useTranslation('arrears')
  const { organisation, arrears, available, grace_until } = standing
  const values = {
    arrears: format.owedMoney(arrears),
    available: format.money(available),
    until: `${format.date(grace_until)} ${grace_until === null ? '' : format.time(grace_until)}`,
  }
  return (
    <Alert
      banner
      showIcon
      type={state === 'low' ? 'warning' : 'error'}
      title={t(state === 'arrears' && grace_until !== null ? 'banner.arrearsUntil' : `banner.${state}`, values)}
      action={
        <span className="ba-banner">
          <StandingLink organisation={organisation} look="link" />
          <Link to={paths.billing.wallet()}>{t('banner.toWallet')}</Link>
        </span>
      }
    />
  )
}
