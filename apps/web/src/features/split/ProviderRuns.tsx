import Tabs from 'antd/es/tabs'
import { splitProviders } from '@zhisuan/contract/split/provider'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { useMayCall } from '../../session/user.ts'
import { splitRuns } from '@zhisuan/contract/split/contract'
import { BankDetails } from './BankDetails.tsx'
import { PayoutTable, ProviderPayouts } from './Payouts.tsx'
import { RunTable } from './RunTable.tsx'

const tabs = ['runs', 'payouts', 'bank'] as const

/** A provider's own statements, to be confirmed or disputed, its payouts, and where its money goes. */
export default function ProviderRuns() {
  const { t } = useTranslation('split')
  const [search, setSearch] = useSearchParams()
  // Who confirms is of one provider; others look at all of them here.
  const isOwn = useMayCall(splitRuns.confirm)
  const { data } = useCall(splitProviders.list, {}, { silent: true, enabled: isOwn })
  const own = isOwn ? data?.items[0] : undefined
  const drawn = {
    runs: <RunTable />,
    payouts: own === undefined ? <PayoutTable /> : <ProviderPayouts providerId={own.id} />,
    bank: own !== undefined && <BankDetails providerId={own.id} />,
  }
  return (
    <Tabs
      size="small"
      destroyOnHidden
      activeKey={tabs.find((tab) => tab === search.get('tab')) ?? 'runs'}
      onChange={(tab) => setSearch(tab === 'runs' ? {} : { tab }, { replace: true })}
      items={tabs
        .filter((key) => drawn[key] !== false)
        .map((key) => ({ key, label: t(key === 'runs' ? 'provider.runs' : `provider.${key}`), children: drawn[key] }))}
    />
  )
}
