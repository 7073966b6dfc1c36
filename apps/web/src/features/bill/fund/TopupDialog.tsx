import Alert from 'antd/es/alert'
import Modal from 'antd/es/modal'
import Skeleton from 'antd/es/skeleton'
import Typography from 'antd/es/typography'
import { topups, type Topup } from '@zhisuan/contract/bill/topup'
import { useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { MoneyField, RadioField, TextField } from '../../../kit/fields.tsx'
import { useReturnFocus } from '../../../kit/focus.ts'
import * as format from '../../../kit/format.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { Amount } from './Amount.tsx'
import { invalidatedByTopup } from './invalidated.ts'
import './fund.css'

const remittance = 'remittance'

interface Values {
  amount: string
  /** {@link remittance}, or a gateway's id. */
  way: string
}

/** Pays money in: by a transfer, for which it tells where to and what to write on it, or at a gateway, where it leads. */
export function TopupDialog({ onClose }: Dialog) {
  const { t } = useTranslation('fund')
  const [made, setMade] = useState<Topup | null>(null)
  /** The form closes itself once it was sent; what takes its place then has to stay. */
  const guided = useRef(false)
  const { data, error, refetch } = useCall(topups.ways, {}, { silent: true })
  const remit = useChange(topups.remit, { invalidates: invalidatedByTopup, silent: true })
  const pay = useChange(topups.pay, { invalidates: invalidatedByTopup, silent: true })
  if (made !== null) return <RemittanceGuide topup={made} onClose={onClose} />
  const ways = [
    ...(data !== undefined && data.bank !== null ? [{ value: remittance, label: t('topup.way.remittance') }] : []),
    ...(data?.channels ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ]
  if (ways.length === 0) {
    return (
      <Modal open title={t('topup.title')} footer={null} onCancel={onClose}>
        {error !== null ? (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Skeleton active />
        ) : (
          <Alert type="warning" showIcon title={t('topup.noWay')} description={t('topup.noWayNote')} />
        )}
      </Modal>
    )
  }
  const submit = async ({ amount, way }: Values): Promise<void> => {
    if (way === remittance) {
      const topup = await remit.mutateAsync({ body: { amount } })
      guided.current = true
      return setMade(topup)
    }
    const { url } = await pay.mutateAsync({ body: { amount, channel_id: way } })
    window.location.assign(url)
  }
  return (
    <FormDialog<Values>
      title={t('topup.title')}
      okText={t('topup.next')}
      initialValues={{ way: ways[0]?.value ?? '' }}
      doneText={t('topup.begun')}
      onClose={() => {
        if (!guided.current) onClose()
      }}
      onSubmit={submit}
    >
      <MoneyField name="amount" label={t('topup.amount')} schema={topups.remit.body.shape.amount} />
      <RadioField name="way" label={t('topup.method')} required options={ways} />
    </FormDialog>
  )
}

/** Where to send a transfer, and what to write on it. */
export function RemittanceGuide({ topup, onClose }: Dialog<{ topup: Topup }>) {
  const { t } = useTranslation('fund')
  useReturnFocus()
  const { data } = useCall(topups.ways, {}, { silent: true })
  const bank = data?.bank ?? null
  return (
    <Modal open title={t('guide.title')} okText={t('guide.close')} onOk={onClose} onCancel={onClose} cancelButtonProps={{ style: { display: 'none' } }}>
      <Alert type="info" showIcon className="zs-above" title={t('guide.write')} description={t('guide.writeNote')} />
      <dl className="bf-facts">
        <dt>{t('guide.code')}</dt>
        <dd>
          <Typography.Text copyable className="zs-code bf-code">
            {topup.code}
          </Typography.Text>
        </dd>
        <dt>{t('topup.amount')}</dt>
        <dd>
          <Amount value={topup.amount} />
        </dd>
        {bank !== null && (
          <>
            <dt>{t('guide.receiver')}</dt>
            <dd>
              <Typography.Text copyable>{bank.receiver}</Typography.Text>
            </dd>
            <dt>{t('guide.bank')}</dt>
            <dd>
              <Typography.Text copyable>{bank.bank}</Typography.Text>
            </dd>
            <dt>{t('guide.account')}</dt>
            <dd>
              <Typography.Text copyable className="zs-code">
                {bank.account}
              </Typography.Text>
            </dd>
          </>
        )}
        <dt>{t('guide.until')}</dt>
        <dd>{format.dateTime(topup.expires_at)}</dd>
      </dl>
    </Modal>
  )
}

/** An administrator has found a transfer on the bank's statement. */
export function ConfirmArrival({ topup, onClose }: Dialog<{ topup: Topup | null }>) {
  const { t } = useTranslation('fund')
  const confirm = useChange(topups.confirm, { invalidates: invalidatedByTopup, silent: true })
  const { shape } = topups.confirm.body
  return (
    <FormDialog<{ code: string; received: string; reference: string; note: string }>
      title={t('arrival.title')}
      okText={t('arrival.confirm')}
      initialValues={{ code: topup?.code ?? '', received: topup?.amount ?? '', reference: '', note: '' }}
      doneText={t('arrival.done')}
      onClose={onClose}
      onSubmit={(body) => confirm.mutateAsync({ body })}
    >
      <TextField name="code" label={t('arrival.code')} schema={shape.code} code />
      <MoneyField name="received" label={t('arrival.received')} extra={t('arrival.receivedNote')} schema={shape.received} />
      <TextField name="reference" label={t('arrival.reference')} schema={shape.reference} />
      <TextField name="note" label={t('note')} schema={shape.note} />
    </FormDialog>
  )
}
