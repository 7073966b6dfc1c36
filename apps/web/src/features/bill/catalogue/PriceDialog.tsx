import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { previewHours, skus, type BillingPeriod, type Price, type Sku } from '@zhisuan/contract/bill/catalogue'
import { useId } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall, useChange } from '../../../api/hooks.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { Field, MoneyField, RadioField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import * as format from '../../../kit/format.ts'
import './catalogue.css'
import { unitOf } from './catalogueText.ts'
import { MomentInput } from '../../../kit/dates.tsx'
import { invalidatedByCatalogue } from './invalidated.ts'
import { useSettled } from '../../../kit/useSettled.ts'

interface Values {
  tiers: { above: number | null; price: string }[]
  begins: 'now' | 'later'
  effective_from: string
  effective_to: string
}
const { shape } = skus.setPrice.body
const mostTiers = 20

/**
 * Prices a SKU, from now or from later on, and says before what that would mean.
 * @param from a price to begin with, such as what holds now; a planned one is replaced at its own moment
 */
export function PriceDialog({ sku, period, from, onClose }: Dialog<{ sku: Sku; period: BillingPeriod; from: Price | null }>) {
  const { t } = useTranslation('catalogue')
  const [form] = Form.useForm<Values>()
  const set = useChange(skus.setPrice, { invalidates: invalidatedByCatalogue, silent: true })
  const begins = Form.useWatch('begins', form)
  const unit = unitOf(t, sku.meter)
  const planned = from?.status === 'planned'
  return (
    <FormDialog<Values>
      form={form}
      width={680}
      title={t('sku.setPriceOf', { name: sku.name, period: t(`period.${period}`) })}
      okText={t('price.set')}
      initialValues={{
        tiers: from === null ? [{ above: 0, price: '' }] : from.tiers.map(({ above, price }) => ({ above, price })),
        begins: planned ? 'later' : 'now',
        effective_from: planned ? from.effective_from : '',
        effective_to: planned ? (from.effective_to ?? '') : '',
      }}
      doneText={t('price.done')}
      onClose={onClose}
      onSubmit={(values) =>
        set.mutateAsync({
          params: { id: sku.id },
          body: {
            period,
            tiers: values.tiers.map(({ above, price }) => ({ above: above ?? 0, price })),
            ...(values.begins === 'later' && { effective_from: values.effective_from }),
            effective_to: values.effective_to === '' || values.effective_to === undefined ? null : values.effective_to,
          },
        })
      }
    >
      <Form.Item label={t('tiers.label')} extra={t('tiers.note')} required>
        <Form.List name="tiers">
          {(rows, { add, remove }, { errors }) => (
            <>
              {rows.map(({ key, name }, index) => (
                <div key={key} className="bc-tier-row">
                  <NumberField
                    name={[name, 'above']}
                    {...(index > 0 && { rules: [{ required: true, message: t('tiers.from', { unit }) }] })}
                    min={0}
                    max={1_000_000_000}
                    readOnly={index === 0}
                    prefix=">"
                    suffix={unit}
                    aria-label={t('tiers.aboveOf', { index: index + 1 })}
                  />
                  <MoneyField
                    name={[name, 'price']}
                    schema={shape.tiers.element.shape.price}
                    autoFocus={index === 0}
                    suffix={`/ ${unit} / ${t(`per.${period}`)}`}
                    aria-label={t('tiers.priceOf', { index: index + 1 })}
                  />
                  {index > 0 && (
                    <Button type="text" aria-label={t('tiers.remove', { index: index + 1 })} onClick={() => remove(name)}>
                      ×
                    </Button>
                  )}
                </div>
              ))}
              <Form.ErrorList errors={errors} />
              {rows.length < mostTiers && (
                <Button type="dashed" size="small" onClick={() => add({ above: null, price: '' })}>
                  {t('tiers.add')}
                </Button>
              )}
            </>
          )}
        </Form.List>
      </Form.Item>
      <div className="bc-pair">
        <RadioField name="begins" label={t('price.begins')} values={['now', 'later'] as const} labelOf={(value) => t(`price.${value}`)} />
        {begins === 'later' && (
          <Field name="effective_from" label={t('price.beginsAt')} missing={t('price.beginsAt')}>
            <MomentInput />
          </Field>
        )}
      </div>
      <Form.Item name="effective_to" label={t('price.ends')} extra={t('price.endsNote')}>
        <MomentInput />
      </Form.Item>
      <Preview sku={sku} period={period} values={Form.useWatch([], form)} />
      <Alert type="info" showIcon title={t('past')} />
    </FormDialog>
  )
}

/** What it would mean for who uses it now. */
function Preview({ sku, period, values }: { readonly sku: Sku; readonly period: BillingPeriod; readonly values: Values | undefined }) {
  const { t } = useTranslation('catalogue')
  const id = useId()
  const body = {
    tiers: (values?.tiers ?? []).map((tier) => ({ above: tier?.above ?? -1, price: tier?.price ?? '' })),
    ...(values?.begins === 'later' && values.effective_from !== '' && { effective_from: values.effective_from }),
  }
  // While somebody types nothing is asked.
  const settled = useSettled(JSON.stringify(body), 400)
  const asked = skus.previewPrice.body.safeParse(JSON.parse(settled))
  const { data, error } = useCall(
    skus.previewPrice,
    { params: { id: sku.id }, body: asked.data ?? { tiers: [] } },
    { silent: true, enabled: period === 'hour' && asked.success },
  )
  return (
    <section className="bc-preview" aria-labelledby={id} aria-live="polite">
      <h2 id={id}>{t('price.preview')}</h2>
      {period !== 'hour' ? (
        <p>{t('price.previewPrepaid')}</p>
      ) : error !== null ? (
        <p>{error.message}</p>
      ) : !asked.success || data === undefined ? (
        <p>{t('price.previewWrong')}</p>
      ) : data.resources === 0 ? (
        <p>{t('price.previewNone')}</p>
      ) : (
        <>
          <p>
            {t('price.previewWho', { organisations: data.organisation_count, resources: data.resources })}
            <span className="zs-soft">{t('sku.byNow')}</span>
          </p>
          <table>
            <caption>{t('price.previewMonth', { hours: previewHours })}</caption>
            <thead>
              <tr>
                <th scope="col">{t('price.organisation')}</th>
                <th scope="col" className="bc-right">
                  {t('price.resources')}
                </th>
                <th scope="col" className="bc-right">
                  {t('price.previewBefore')}
                </th>
                <th scope="col" className="bc-right">
                  {t('price.previewAfter')}
                </th>
              </tr>
            </thead>
            <tbody>
              {[{ id: '', name: t('discount.everyone'), resources: data.resources, before: data.before, after: data.after }, ...data.organisations].map(
                (one) => (
                  <tr key={one.id} className={one.id === '' ? 'bc-sum' : ''}>
                    <th scope="row">{one.name}</th>
                    <td className="bc-right zs-number">{format.number(one.resources)}</td>
                    <td className="bc-right zs-number">{format.exactMoney(one.before)}</td>
                    <td className="bc-right zs-number">{format.exactMoney(one.after)}</td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </>
      )}
    </section>
  )
}
