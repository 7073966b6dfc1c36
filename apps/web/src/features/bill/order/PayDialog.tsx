import Alert from 'antd/es/alert'
import { accounts } from '@zhisuan/contract/bill/account'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { orders, type Order } from '@zhisuan/contract/bill/order'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { useCall, useChange } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { Countdown, useNow } from './OrderState.tsx'
import './order.css'
import { termText } from './orderText.ts'
import { invalidatedByOrder } from './invalidated.ts'

/** Pays from the balance: what it costs, what there is, and what is missing. */
export function PayDialog({ order, onClose }: Dialog<{ order: Order }>) {
  const { t } = useTranslation('order')
  const wallet = useCall(accounts.wallet, { params: { id: order.bp_id } }, { silent: true, refreshMs: 5_000 })
  const pay = useChange(orders.pay, { invalidates: invalidatedByOrder, silent: true })
  const available = wallet.data === undefined ? null : toMinor(wallet.data.available)
  const left = available === null ? null : available - toMinor(order.amount)
  const over = Date.parse(order.expires_at) <= useNow()
  return (
    <FormDialog<object, Order>
      title={t('pay.title', { number: order.number })}
      okText={t('pay.ok', { amount: format.exactMoney(order.amount) })}
      okDisabled={left === null || left < 0n || over}
      width={480}
      initialValues={{}}
      doneText={({ status }) => t(status === 'delivered' ? 'pay.delivered' : 'pay.paid', { number: order.number })}
      onClose={onClose}
      onSubmit={() => pay.mutateAsync({ params: { id: order.id } })}
    >
      <p>
        {t(`kind.${order.kind}`)} {kindText(order.resource.type)} <strong>{order.resource.name}</strong>，{termText(t, order)}
      </p>
      {wallet.error !== null && wallet.data === undefined ? (
        <ErrorPanel error={wallet.error} onRetry={() => void wallet.refetch()} />
      ) : (
        <dl className="or-sums" aria-busy={wallet.data === undefined}>
          <Sum label={t('pay.amount')} amount={order.amount} />
          <Sum label={t('pay.available')} amount={wallet.data?.available} />
          {left !== null &&
            (left < 0n ? <Sum label={t('pay.missing')} amount={toDecimal(-left)} bad /> : <Sum label={t('pay.left')} amount={toDecimal(left)} />)}
        </dl>
      )}
      {left !== null && left < 0n && (
        <Alert
          type="warning"
          showIcon
          title={t('pay.topUp', { amount: format.owedMoney(toDecimal(-left)) })}
          action={<Link to={paths.billing.wallet()}>{t('pay.toWallet')}</Link>}
        />
      )}
      {over ? (
        <Alert type="warning" showIcon title={t('pay.expired')} />
      ) : (
        <p className="zs-soft">
          <Countdown until={order.expires_at} />
          {order.kind === 'purchase' && `。${t('pay.held')}`}
        </p>
      )}
    </FormDialog>
  )
}

export function Sum({ label, amount, bad = false }: { readonly label: string; readonly amount: string | undefined; readonly bad?: boolean }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className={bad ? 'zs-number zs-bad' : 'zs-number'}>{amount === undefined ? format.nothing : format.exactMoney(amount)}</dd>
    </div>
  )
}
