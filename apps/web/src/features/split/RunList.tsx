import Tabs from 'antd/es/tabs'
import { splitChannel } from '@zhisuan/contract/split/payout'
import { lazy } from 'react'
import { useSearchParams } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { PageActions } from '../../kit/PageHead.tsx'
import { useMayCall } from '../../session/user.ts'
import { Cases } from './Cases.tsx'
import { PayoutTable } from './Payouts.tsx'
import { RunTable } from './RunTable.tsx'

const ChannelDialog = lazy(() => import('./ChannelDialog.tsx'))
const tabs = ['runs', 'payouts', 'cases'] as const

/** What was split and paid, and what the channel and we do not agree about, for those who settle. */
export default function RunList() {
  const { t } = useTranslation('split')
  const [search, setSearch] = useSearchParams()
  const drawn = { runs: <RunTable creates />, payouts: <PayoutTable />, cases: <Cases /> }
  return (
    <>
      {useMayCall(splitChannel.set) && <ChannelAction />}
      <Tabs
        size="small"
        destroyOnHidden
        activeKey={tabs.find((tab) => tab === search.get('tab')) ?? 'runs'}
        onChange={(tab) => setSearch(tab === 'runs' ? {} : { tab }, { replace: true })}
        items={tabs.map((key) => ({ key, label: t(`record.${key}`), children: drawn[key] }))}
      />
    </>
  )
}

function ChannelAction() {
  const { t } = useTranslation('split')
  const { data } = useCall(splitChannel.get, {}, { silent: true })
  if (data === undefined) return null
  return (
    <PageActions>
      <ActionMenu
        look="default"
        label={t('channel.title')}
        actions={[
          {
            key: 'channel',
            call: splitChannel.set,
            label: t('channel.title'),
            dialog: (close) => <ChannelDialog channel={data.channel} onClose={close} />,
          },
        ]}
      />
    </PageActions>
  )
}
