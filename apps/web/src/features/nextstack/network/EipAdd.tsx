import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { defaultBandwidthMbps, eipPools, eips, type EipPool } from '@zhisuan/contract/nextstack/eip'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate } from 'react-router'
import { useCall, useChange } from '../../../api/hooks.ts'
import { toApiError } from '../../../api/client.ts'
import { notify, toastError } from '../../../api/notify.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { NumberField } from '../../../kit/NumberField.tsx'
import { TextField } from '../../../kit/fields.tsx'
import { FormPage } from '../../../kit/FormPage.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { PagePlaceholder } from '../../../kit/Placeholder.tsx'
import { paths } from '../../../paths.ts'
import { useCurrentUser, useIsPlatform } from '../../../session/user.ts'
import { BillingMode, byHour, type Billing } from '../../../kit/price/BillingMode.tsx'
import { eipItems } from '../../../kit/price/items.ts'
import { Price } from '../../../kit/price/Price.tsx'
import { useOrdering } from '../../../kit/price/useOrdering.ts'
import { useUnorderable } from '../../../kit/price/useQuote.ts'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { BandwidthField } from './BandwidthField.tsx'
import { invalidatedByEip } from './eipRules.ts'
import './network.css'

interface Values {
  pool_id: string
  count: number
  address: string
  name: string
  description: string
  bandwidth_mbps: number | null
}
const { shape } = eips.allocate.body

/** What is offered first: a small one. */
const smallOf = (pool: Pick<EipPool, 'max_bandwidth_mbps'> | undefined): number =>
  Math.min(defaultBandwidthMbps, pool?.max_bandwidth_mbps ?? defaultBandwidthMbps)

/** Takes outside addresses from a pool. */
export default function EipAdd() {
  return (
    <NextStackPage>
      <Allocate />
    </NextStackPage>
  )
}

function Allocate() {
  const { t } = useTranslation(['network', 'price'])
  const navigate = useNavigate()
  const cloud = useNextStackCloud()
  const platform = useIsPlatform()
  const [form] = Form.useForm<Values>()
  const count = Form.useWatch('count', form) ?? 1
  const [poolId, bandwidth] = [Form.useWatch('pool_id', form), Form.useWatch('bandwidth_mbps', form)]
  const [billing, setBilling] = useState<Billing>(byHour)
  const ordering = useOrdering()
  const bpId = useCurrentUser()?.bp_id ?? null
  const allocate = useChange(eips.allocate, { invalidates: invalidatedByEip })
  const { data } = useCall(eipPools.list, { query: { cloud_id: cloud?.cloud_id, page_size: 1000, sort: 'name' } }, { enabled: cloud !== null })
  const pool = data?.items.find(({ id }) => id === poolId)
  const items = eipItems({ bandwidth_mbps: bandwidth ?? null, limits_bandwidth: pool?.limits_bandwidth ?? true })
  const first = data?.items[0]
  const unorderable = useUnorderable(items, billing)
  if (cloud === null || data === undefined) return <PagePlaceholder />
  if (data.items.length === 0) {
    return (
      <div className="zs-card">
        <EmptyState
          title={t('eip.noPools')}
          action={
            platform ? (
              <Link to={paths.nextstack.eipPool.list()} className="zs-button zs-button-plain">
                {t('eip.toPools')}
              </Link>
            ) : undefined
          }
        >
          {platform ? t('eip.noPoolsAdmin') : t('eip.noPoolsNote')}
        </EmptyState>
      </div>
    )
  }
  return (
    <FormPage<Values>
      form={form}
      submitText={billing.mode === 'hour' ? t('eip.allocateOk') : t('price:toPay')}
      submitDisabled={unorderable || (billing.mode !== 'hour' && count > 1)}
      initialValues={{ pool_id: first?.id ?? '', count: 1, address: '', name: '', description: '', bandwidth_mbps: smallOf(first) }}
      aside={
        <div className="zs-card">
          <h2>{t('price:title')}</h2>
          {bpId !== null && <BillingMode value={billing} onChange={setBilling} />}
          {billing.mode !== 'hour' && count > 1 && <p className="zs-bad">{t('price:oneOnly')}</p>}
          <Price items={items} period={billing.mode} count={billing.count} times={count} />
        </div>
      }
      onCancel={() => void navigate(paths.nextstack.eip.list())}
      onSubmit={async ({ address, name, bandwidth_mbps, ...values }) => {
        const body = {
          ...values,
          bandwidth_mbps: bandwidth_mbps ?? null,
          ...(address !== '' && values.count === 1 && { address }),
          ...(name !== '' && values.count === 1 && { name }),
        }
        if (billing.mode !== 'hour') {
          try {
            await ordering.order({ resource_type: 'nextstack.eip', create: body }, billing)
          } catch (thrown) {
            // What names a field stands beside it.
            const error = toApiError(thrown)
            if (error.fields.length === 0 && error.status !== 401) toastError(error)
            throw error
          }
          return
        }
        const { items } = await allocate.mutateAsync({ body })
        notify('success', t('eip.allocated', { count: items.length }))
        void navigate(paths.nextstack.eip.list())
      }}
    >
      <Form.Item name="pool_id" label={t('eip.pool')} required>
        <Select
          onChange={(id: string) => {
            const next = data.items.find((one) => one.id === id)
            const typed = form.getFieldValue('bandwidth_mbps') as number | null
            const tooMuch = next?.max_bandwidth_mbps !== null && (typed ?? 0) > (next?.max_bandwidth_mbps ?? 0)
            // What was typed stays, where another pool allows it too.
            if (typed === smallOf(pool) || tooMuch) form.setFieldValue('bandwidth_mbps', smallOf(next))
          }}
          options={data.items.map((pool) => ({
            value: pool.id,
            label: t('eip.poolFree', { name: pool.name, count: pool.address_count - pool.address_used }),
          }))}
        />
      </Form.Item>
      <NumberField name="count" label={t('eip.count')} schema={shape.count} className="nt-number" />
      {count === 1 && (
        <>
          <TextField name="address" label={t('eip.address')} extra={t('eip.addressNote')} schema={shape.address} code />
          <NameField schema={shape.name} focus={false} />
        </>
      )}
      <BandwidthField schema={shape.bandwidth_mbps} pool={pool} limits={pool?.limits_bandwidth ?? true} />
      <DescriptionField schema={shape.description} />
    </FormPage>
  )
}
