import Alert from 'antd/es/alert'
import { standings, type Standing } from '@zhisuan/contract/bill/arrears'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useMayCall } from '../../../session/user.ts'

const refreshMs = 60_000

/** What members of an organisation have to know of its account, above whatever page; nothing while it is in order. */
export default function StandingBanner({ id }: { readonly id: string }) {
  const { t } = useTranslation('arrears')
  const may = useMayCall(standings.get)
  const { data } = useCall(standings.get, { params: { id } }, { silent: true, refreshMs, enabled: may })
  if (data === undefined || data.state === 'normal') return null
  const text = ({ state, arrears, available, grace_until }: Standing & { state: Exclude<Standing['state'], 'normal'> }): string => {
    const values = { arrears: format.money(arrears), available: format.money(available), until: `${format.date(grace_until)} ${grace_until === null ? '' : format.time(grace_until)}` }
    return t(state === 'arrears' && grace_until !== null ? 'banner.arrearsUntil' : `banner.${state}`, values)
  }
  return (
    <Alert
      banner
      showIcon
      type={data.state === 'low' ? 'warning' : 'error'}
      title={text({ ...data, state: data.state })}
      action={<Link to={paths.billing.wallet()}>{t('banner.toWallet')}</Link>}
    />
  )
}
