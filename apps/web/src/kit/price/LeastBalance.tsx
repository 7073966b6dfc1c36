import Alert from 'antd/es/alert'
import { standings } from '@zhisuan/contract/bill/arrears'
import { toMinor } from '@zhisuan/contract/bill/money'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { paths } from '../../paths.ts'
import { useCurrentUser, useMayCall } from '../../session/user.ts'
import * as format from '../format.ts'
import './price.css'

/** What an account has to hold before something is made that is paid by the hour; nothing where nothing is asked for. */
export function LeastBalance({ bpId = null }: { readonly bpId?: string | null }) {
  const { t } = useTranslation('price')
  const own = useCurrentUser()?.bp_id ?? null
  const id = bpId ?? own
  const may = useMayCall(standings.get)
  const { data } = useCall(standings.get, { params: { id: id ?? '' } }, { silent: true, enabled: may && id !== null })
  if (data === undefined || toMinor(data.least_balance) === 0n) return null
  const values = { least: format.money(data.least_balance), available: format.money(data.available) }
  if (toMinor(data.available) >= toMinor(data.least_balance)) return <p className="zs-soft">{t('least.note', values)}</p>
  return (
    <Alert
      type="warning"
      showIcon
      className="zs-price-lost"
      title={t('least.below', values)}
      description={id === own && <Link to={paths.billing.wallet()}>{t('least.toWallet')}</Link>}
    />
  )
}
