import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import { offerPeriods, offers } from '@zhisuan/contract/market/offer'
import { rentals } from '@zhisuan/contract/market/rental'
import type { BodyInput } from '@zhisuan/contract/define'
import { useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { CheckField, Field, MoneyField, SwitchField, TextField } from '../../kit/fields.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import * as format from '../../kit/format.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { BillingMode, byHour, type Billing } from '../../kit/price/BillingMode.tsx'
import { rentalItems } from '../../kit/price/items.ts'
import { Price } from '../../kit/price/Price.tsx'
import { useOrdering } from '../../kit/price/useOrdering.ts'
import { paths } from '../../paths.ts'
import { ImageInput } from '../container/ImageInput.tsx'
import { StopTable } from './StopTable.tsx'
import './market.css'

type Values = Omit<BodyInput<typeof rentals.create>, 'offer_id' | 'env' | 'command'>
const { shape } = rentals.create.body

/** One screen: what is chosen, what runs in it, what it costs, and what a stop costs. */
export default function RentalAdd() {
  const { t } = useTranslation(['market', 'price'])
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const [form] = Form.useForm<Values>()
  const [billing, setBilling] = useState<Billing>(byHour)
  const ordering = useOrdering()
  const count = Form.useWatch('count', form) ?? Number(search.get('count') ?? 1)
  const id = search.get('offer') ?? ''
  const list = useCall(offers.browse, { query: { page_size: 1_000, count: Number.isInteger(count) && count >= 1 ? count : 1 } }, { silent: true })
  const rent = useChange(rentals.create, { invalidates: [rentals.list, offers.browse], silent: true })
  const listing = list.data?.items.find((one) => one.id === id)
  if (list.data === undefined) return list.error === null ? <PagePlaceholder /> : <ErrorPanel error={list.error} onRetry={() => void list.refetch()} />
  if (listing === undefined)
    return (
      <EmptyState
        title={t('rentForm.gone')}
        action={
          <Link to={paths.market.list()} className="zs-button zs-button-plain">
            {t('toMarket')}
          </Link>
        }
      >
        {t('rentForm.goneNote')}
      </EmptyState>
    )
  const periods = offerPeriods.filter((period) => listing[`${period}_price`] !== null)
  const items = rentalItems(listing.id, count, listing.disk_bytes_per_card * count)
  return (
    <FormPage<Values>
      form={form}
      initialValues={{ count, name: '', image: '', keep_running: true, alternatives: true, spend_limit: null, idle_minutes: null }}
      submitText={billing.mode === 'hour' ? t('rent') : t('price:toPay')}
      onCancel={() => void navigate(paths.market.list())}
      onSubmit={async ({ spend_limit, ...values }) => {
        const body = { ...values, offer_id: listing.id, spend_limit: spend_limit === '' ? null : (spend_limit ?? null) }
        if (billing.mode !== 'hour') {
          await ordering.order({ resource_type: 'market.rental', create: body }, billing)
          return
        }
        const made = await rent.mutateAsync({ body })
        void navigate(paths.market.rental.detail(made.id))
      }}
      aside={
        <div className="zs-card">
          <h2>{t('price:title')}</h2>
          {periods.length > 0 && <BillingMode value={billing} onChange={setBilling} periods={periods} />}
          <Price items={items} period={billing.mode} count={billing.count} />
          <p className="zs-soft">{t(billing.mode === 'hour' ? 'rentForm.priceNote' : 'rentForm.aheadNote')}</p>
          <StopTable stopped={listing.asked.stopped} days={list.data.stopped_days} grace={listing.grace_seconds} ahead={billing.mode !== 'hour'} />
        </div>
      }
    >
      <h2 className="mk-what">{t('ofCards', { count, model: listing.card_model })}</h2>
      <p className="mk-facts mk-what-facts">
        {[
          listing.provider.name,
          t('fact.cpus', { count: listing.cpus_per_card * count }),
          t('fact.ram', { size: format.bytes(listing.memory_bytes_per_card * count) }),
          t('fact.disk', { size: format.bytes(listing.disk_bytes_per_card * count) }),
          ...(listing.cuda === null ? [] : [`CUDA ≤ ${listing.cuda}`]),
        ].join(' · ')}
      </p>
      {listing.grace_seconds !== null && (
        <Alert className="zs-above" type="warning" showIcon title={t('rentForm.interruptible', { seconds: listing.grace_seconds })} />
      )}
      {listing.free_together < count && <Alert className="zs-above" type="warning" showIcon title={t('rentForm.few', { free: listing.free_together })} />}
      <TextField name="name" label={t('field.name')} schema={shape.name} autoFocus />
      <NumberField name="count" label={t('field.count')} extra={t('field.countNote', { most: listing.most_cards })} min={1} max={listing.most_cards} />
      <Field name="image" label={t('field.image')} extra={t('field.imageNote')} schema={shape.image}>
        <ImageInput />
      </Field>
      <CheckField name="keep_running" text={t('field.keepRunning')} extra={t('field.keepRunningNote')} />
      <SwitchField name="alternatives" label={t('field.alternatives')} extra={t('field.alternativesNote')} />
      <NumberField name="idle_minutes" label={t('field.idleMinutes')} extra={t('field.idleMinutesNote')} schema={shape.idle_minutes} required={false} />
      <MoneyField name="spend_limit" label={t('field.spendLimit')} extra={t('field.spendLimitNote')} schema={shape.spend_limit} required={false} />
    </FormPage>
  )
}
