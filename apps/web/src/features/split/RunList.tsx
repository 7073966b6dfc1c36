import Alert from 'antd/es/alert'
import Tabs from 'antd/es/tabs'
import { splitChannel } from '@zhisuan/contract/split/payout'
import { lazy } from 'react'
import { useSearchParams } from 'react-router'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { PageActions } from '../../kit/PageHead.tsx'
import { useMayCall } from '../../session/user.ts'
import { Cases } from './Cases.tsx'
import { PayoutTable } from './Payouts.tsx'
import { RunTable } from './RunTable.tsx'

const ChannelDialog = lazy(() => import('./ChannelDialog.tsx'))
const ChannelApproveDialog = lazy(() => import('./ChannelDialog.tsx').then((module) => ({ default: module.ChannelApproveDialog })))
const tabs = ['runs', 'payouts', 'cases'] as const

/** What was split and paid, and what the channel and we do not agree about, for those who settle. */
export default function RunList() {
  const { t } = useTranslation('split')
  const [search, setSearch] = useSearchParams()
  const drawn = { runs: <RunTable creates />, payouts: <PayoutTable />, cases: <Cases /> }
  return (
    <>
      {useMayCall(splitChannel.get) && <Channel />}
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

/** The channel, for who may set it up, and what waits for somebody else to approve it. */
function Channel() {
  const { t } = useTranslation('split')
  const { data } = useCall(splitChannel.get, {}, { silent: true })
  const withdraw = useChange(splitChannel.withdraw, { invalidates: [splitChannel.get], silent: true })
  const sets = useMayCall(splitChannel.set)
  if (data === undefined) return null
  const { channel, waiting } = data
  return (
    <>
      {sets && (
        <PageActions>
          <ActionMenu
            look="default"
            label={t('channel.title')}
            actions={[
              {
                key: 'channel',
                call: splitChannel.set,
                label: t('channel.title'),
                dialog: (close) => <ChannelDialog channel={channel} onClose={close} />,
              },
            ]}
          />
        </PageActions>
      )}
      {waiting !== null && (
        <Alert
          type="warning"
          showIcon
          className="zs-above"
          title={t('channel.waiting', { by: waiting.asked_by })}
          description={
            <>
              <p>{`${waiting.gateway}（${t('channel.merchant')} ${waiting.merchant_id}）`}</p>
              <ActionMenu
                actions={[
                  {
                    key: 'approve',
                    call: splitChannel.approve,
                    label: t('channel.approve'),
                    dialog: (close) => <ChannelApproveDialog waiting={waiting} present={channel} onClose={close} />,
                  },
                  {
                    key: 'withdraw',
                    call: splitChannel.withdraw,
                    label: t('channel.withdraw'),
                    danger: true,
                    confirm: { title: t('channel.withdrawTitle'), body: t('channel.withdrawBody') },
                    doneText: t('channel.withdrawn'),
                    run: () => withdraw.mutateAsync({ params: { id: waiting.id } }),
                  },
                ]}
              />
            </>
          }
        />
      )}
    </>
  )
}
