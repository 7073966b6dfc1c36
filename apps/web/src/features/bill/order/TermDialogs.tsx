import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { orders, prepaids, prepaidKinds, type Order, type PrepaidKind, type PrepaidPeriod } from '@zhisuan/contract/bill/order'
import { offerPeriods } from '@zhisuan/contract/market/offer'
import { rentals } from '@zhisuan/contract/market/rental'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { kindText } from '@zhisuan/contract/kindTexts'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { Field, type Controlled } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import * as format from '../../../kit/format.ts'
import { SearchSelect } from '../../../kit/SearchSelect.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { BillingMode, type Billing } from '../../../kit/price/BillingMode.tsx'
import type { QuoteItem } from '../../../kit/price/items.ts'
import { Price } from '../../../kit/price/Price.tsx'
import { useUnorderable } from '../../../kit/price/useQuote.ts'
import { invalidatedByOrder } from './invalidated.ts'
import { useResourceItems } from './useResourceItems.ts'

const month: Billing = { mode: 'month', count: 1, auto_renew: false }
const periodOf = ({ mode }: Billing) => (mode === 'hour' ? 'month' : mode)

function TermFields({
  billing,
  items,
  bpId,
  prepaidOnly,
  type,
}: {
  readonly type: string
  readonly billing: Billing
  readonly bpId: string | null
  readonly items: readonly QuoteItem[]
  readonly prepaidOnly: boolean
}) {
  const { t } = useTranslation('price')
  return (
    <>
      <Form.Item name="billing" label={t('mode.label')} required>
        <Term prepaidOnly={prepaidOnly} {...(type === 'market.rental' && { periods: offerPeriods })} />
      </Form.Item>
      <p>
        {t('title')}：<Price items={items} period={periodOf(billing)} count={billing.count} bpId={bpId} />
      </p>
    </>
  )
}

/** A form gives its control what it holds. */
function Term({ value = month, onChange, ...how }: Controlled<Billing, { prepaidOnly: boolean; periods?: readonly PrepaidPeriod[] }>) {
  return <BillingMode value={value} onChange={(next) => onChange?.(next.mode === 'hour' ? { ...next, mode: 'month' } : next)} {...how} />
}

/** More time for what was ordered. */
export function RenewDialog({ order, onClose }: Dialog<{ order: Order }>) {
  const { t } = useTranslation('order')
  const navigate = useNavigate()
  const id = order.resource.id ?? ''
  const [form] = Form.useForm<{ billing: Billing }>()
  const billing = Form.useWatch('billing', form) ?? month
  const items = useResourceItems(order.resource.type, id)
  const unorderable = useUnorderable(items, billing, order.bp_id)
  const { data } = useCall(prepaids.get, { params: { id } }, { silent: true })
  const renew = useChange(orders.renew, {
    invalidates: invalidatedByOrder,
    silent: true,
    onDone: (made) => void navigate(withQuery(paths.order.detail(made.id), { pay: 1 })),
  })
  return (
    <FormDialog<{ billing: Billing }>
      form={form}
      title={t('renew.title', { name: order.resource.name })}
      okText={t('renew.ok')}
      okDisabled={unorderable}
      initialValues={{ billing: month }}
      doneText={t('renew.done')}
      onClose={onClose}
      onSubmit={(values) => renew.mutateAsync({ params: { id: order.id }, body: { period: periodOf(values.billing), count: values.billing.count } })}
    >
      <p>{data !== undefined && (data.ends_at === null ? t('renew.endsNow') : `${t('renew.until')}：${format.dateTime(data.ends_at)}`)}</p>
      <TermFields type={order.resource.type} billing={billing} items={items} bpId={order.bp_id} prepaidOnly />
      <p className="zs-soft">{t('renew.note')}</p>
    </FormDialog>
  )
}

interface Values {
  resource_type: PrepaidKind
  resource_id?: string
  billing: Billing
}

/** Pays in advance for something that is paid by the hour. */
export function PrepayDialog({ onClose }: Dialog) {
  const { t } = useTranslation('order')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const type = Form.useWatch('resource_type', form) ?? 'nextstack.vm'
  const id = Form.useWatch('resource_id', form)
  const billing = Form.useWatch('billing', form) ?? month
  const items = useResourceItems(type, id)
  const unorderable = useUnorderable(items, billing)
  const create = useChange(orders.create, {
    invalidates: invalidatedByOrder,
    silent: true,
    onDone: (made) => void navigate(withQuery(paths.order.detail(made.id), { pay: 1 })),
  })
  const select = { label: t('prepay.resource'), placeholder: t('prepay.search') }
  return (
    <FormDialog<Values>
      form={form}
      title={t('prepay.title')}
      okText={t('prepay.ok')}
      okDisabled={unorderable}
      initialValues={{ resource_type: 'nextstack.vm', billing: month }}
      doneText={t('prepay.done')}
      onClose={onClose}
      onSubmit={(values) =>
        create.mutateAsync({
          body: {
            resource_type: values.resource_type,
            resource_id: values.resource_id ?? '',
            period: periodOf(values.billing),
            count: values.billing.count,
            auto_renew: values.billing.auto_renew,
          },
        })
      }
    >
      <Form.Item name="resource_type" label={t('prepay.type')}>
        <Radio.Group
          optionType="button"
          options={prepaidKinds.map((value) => ({ value, label: kindText(value) }))}
          onChange={() => form.resetFields(['resource_id'])}
        />
      </Form.Item>
      <Field key={type} name="resource_id" label={t('prepay.resource')} missing={t('prepay.resourceRequired')}>
        {type === 'nextstack.vm' ? (
          <SearchSelect call={vms.list} rows={({ items: rows }) => rows} nameOf={({ name }) => name} {...select} />
        ) : type === 'nextstack.volume' ? (
          <SearchSelect call={volumes.list} rows={({ items: rows }) => rows} nameOf={({ name }) => name} {...select} />
        ) : type === 'market.rental' ? (
          <SearchSelect call={rentals.list} rows={({ items: rows }) => rows} nameOf={({ name }) => name} {...select} />
        ) : (
          <SearchSelect
            call={eips.list}
            rows={({ items: rows }) => rows}
            nameOf={({ name, address }) => (name === address ? name : `${name}（${address}）`)}
            {...select}
          />
        )}
      </Field>
      <TermFields type={type} billing={billing} items={items} bpId={null} prepaidOnly={false} />
    </FormDialog>
  )
}
