import { ActionButton } from '../../../kit/actions.tsx'
import Alert from 'antd/es/alert'
import Skeleton from 'antd/es/skeleton'
import { accounts, type LedgerEntry } from '@zhisuan/contract/bill/account'
import { standings } from '@zhisuan/contract/bill/arrears'
import { topups } from '@zhisuan/contract/bill/topup'
import { lazy, Suspense } from 'react'
import { loadMessages, useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { PageActions } from '../../../kit/PageHead.tsx'
import { balanceOwner, useCurrentUser, useIsPlatform, useMayCall } from '../../../session/user.ts'
import { paths, withQuery } from '../../../paths.ts'
import { Amount } from './Amount.tsx'
import { Standing } from './Standing.tsx'
import { TopupDialog } from './TopupDialog.tsx'
import './fund.css'

const StandingLink = lazy(async () => (await Promise.all([import('../arrears/StandingLink.tsx'), loadMessages(['arrears'])]))[0])

/** What somebody has, what it is made of, and how to have more. */
export default function WalletPage() {
  const { t } = useTranslation('fund')
  const user = useCurrentUser()
  const owner = user === null ? null : balanceOwner(user)
  if (owner === null)
    return <div className="zs-card">{user === null ? <Skeleton active /> : <EmptyState title={t('wallet.none')}>{t('wallet.noneNote')}</EmptyState>}</div>
  return <Own owner={owner} />
}

function Own({ owner }: { readonly owner: string }) {
  const { t } = useTranslation('fund')
  const { data, error, refetch } = useCall(accounts.wallet, { params: { id: owner } }, { silent: true, refreshMs: 10_000 })
  // Only organisations have a standing: the platform's people are never suspended.
  const platform = useIsPlatform()
  const standing = useMayCall(standings.history) && !platform
  const waiting = useCall(topups.list, { query: { status: 'waiting', owner_id: owner, page_size: 1 } }, { silent: true, refreshMs: 10_000 })
  const open = waiting.data?.total ?? 0
  return (
    <>
      <PageActions>
        {standing && data !== undefined && (
          <Suspense>
            <StandingLink organisation={data} />
          </Suspense>
        )}
        <ActionButton action={{ key: 'topup', call: topups.pay, label: t('topup.title'), dialog: (close) => <TopupDialog onClose={close} /> }} />
      </PageActions>
      {open > 0 && (
        <Alert
          type="info"
          showIcon
          className="zs-above"
          title={t('wallet.waiting', { count: open })}
          action={<Link to={withQuery(paths.billing.charges(), { status: 'waiting' })}>{t('wallet.toWaiting')}</Link>}
        />
      )}
      {data !== undefined && /[1-9]/.test(data.arrears) && (
        <Alert
          type="error"
          showIcon
          className="zs-above"
          title={t('wallet.inArrears', { amount: format.owedMoney(data.arrears) })}
          description={t('wallet.inArrearsNote')}
        />
      )}
      <section className="zs-card" aria-busy={data === undefined}>
        <h2>{t('wallet.madeOf')}</h2>
        {data !== undefined ? (
          <Standing wallet={data} />
        ) : error !== null ? (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeleton active paragraph={{ rows: 4 }} />
        )}
      </section>
      <LastMovements owner={owner} />
    </>
  )
}

function LastMovements({ owner }: { readonly owner: string }) {
  const { t } = useTranslation('fund')
  const { data, error, refetch } = useCall(accounts.entries, { params: { id: owner }, query: { page_size: 5 } }, { silent: true, refreshMs: 10_000 })
  return (
    <section className="zs-card" aria-busy={data === undefined}>
      <div className="zs-toolbar bf-head">
        <h2>{t('wallet.last')}</h2>
        <Link to={paths.billing.fund()}>{t('wallet.all')}</Link>
      </div>
      {data === undefined ? (
        error === null ? (
          <Skeleton active />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={t('entry.empty')}>{t('entry.emptyNote')}</EmptyState>
      ) : (
        <table className="bf-last">
          <thead>
            <tr>
              <th scope="col">{t('column.time')}</th>
              <th scope="col">{t('column.kind')}</th>
              <th scope="col">{t('column.account')}</th>
              <th scope="col" className="zs-number">
                {t('column.amount')}
              </th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((entry: LedgerEntry) => (
              <tr key={entry.id}>
                <td>{format.dateTime(entry.at)}</td>
                <td>
                  <Link to={withQuery(paths.billing.fund(), { movement: entry.transaction_id })}>{t(`kind.${entry.kind}`)}</Link>
                </td>
                <td>{t(`ledger.${entry.account}`)}</td>
                <td className="zs-number">
                  <Amount value={entry.amount} signed />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
