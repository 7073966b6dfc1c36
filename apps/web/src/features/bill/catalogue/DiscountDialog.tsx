import Alert from 'antd/es/alert'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import Select from 'antd/es/select'
import { billingPeriods, discounts, products, type BillingPeriod, type Product } from '@zhisuan/contract/bill/catalogue'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { Field, RadioField } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { NameField } from '../../../kit/NameFields.tsx'
import { SearchSelect, type Named } from '../../../kit/SearchSelect.tsx'
import { OrganisationField } from '../../../kit/OrganisationSelect.tsx'
import './catalogue.css'
import { fractionText } from './catalogueText.ts'
import { MomentInput } from '../../../kit/dates.tsx'
import { invalidatedByCatalogue } from './invalidated.ts'
import * as format from '../../../kit/format.ts'

interface Values {
  name: string
  fraction: string
  bp_id?: string
  product_id?: string
  period: BillingPeriod | 'every'
  begins: 'now' | 'later'
  effective_from: string
  effective_to: string
}
const { shape } = discounts.create.body

/** Grants a discount; what is out of range the server says beside the field (24008). */
export function DiscountDialog({ product, organisation, onClose }: Dialog<{ product?: Named | undefined; organisation?: Named | undefined }>) {
  const { t } = useTranslation('catalogue')
  const [form] = Form.useForm<Values>()
  const create = useChange(discounts.create, { invalidates: invalidatedByCatalogue, silent: true })
  const begins = Form.useWatch('begins', form)
  const fraction = (Form.useWatch('fraction', form) ?? '').trim()
  const says =
    /^0\.\d{1,4}$/.test(fraction) && /[1-9]/.test(fraction)
      ? t('discount.meaning', { text: fractionText(t, fraction), full: format.money('100'), pays: format.exactMoney(toDecimal(toMinor(fraction) * 100n)) })
      : null
  return (
    <FormDialog<Values>
      form={form}
      width={640}
      title={t('discount.create')}
      okText={t('discount.create')}
      initialValues={{
        name: '',
        fraction: '',
        period: 'every',
        begins: 'now',
        effective_from: '',
        effective_to: '',
        ...(organisation !== undefined && { bp_id: organisation.id }),
        ...(product !== undefined && { product_id: product.id }),
      }}
      doneText={t('discount.created')}
      onClose={onClose}
      onSubmit={(values) =>
        create.mutateAsync({
          body: {
            name: values.name,
            fraction: values.fraction,
            bp_id: values.bp_id ?? null,
            product_id: values.product_id ?? null,
            period: values.period === 'every' ? null : values.period,
            ...(values.begins === 'later' && { effective_from: values.effective_from }),
            effective_to: values.effective_to === '' ? null : values.effective_to,
          },
        })
      }
    >
      <NameField schema={shape.name} />
      <Field name="fraction" label={t('discount.fractionField')} extra={says ?? t('discount.fractionNote')} schema={shape.fraction}>
        <Input inputMode="decimal" placeholder="0.85" />
      </Field>
      <div className="bc-pair">
        <OrganisationField name="bp_id" label={t('discount.organisation')} extra={t('discount.organisationNote')} known={organisation} />
        <Form.Item name="product_id" label={t('discount.product')}>
          <SearchSelect
            call={products.list}
            rows={({ items }) => items}
            nameOf={({ name }: Product) => name}
            known={product}
            label={t('discount.product')}
            placeholder={t('discount.chooseProduct')}
          />
        </Form.Item>
      </div>
      <Form.Item name="period" label={t('discount.period')}>
        <Select options={[{ value: 'every', label: t('discount.everyPeriod') }, ...billingPeriods.map((value) => ({ value, label: t(`period.${value}`) }))]} />
      </Form.Item>
      <div className="bc-pair">
        <RadioField name="begins" label={t('discount.from')} values={['now', 'later'] as const} labelOf={(value) => t(`price.${value}`)} />
        {begins === 'later' && (
          <Field name="effective_from" label={t('price.beginsAt')} missing={t('price.beginsAt')}>
            <MomentInput />
          </Field>
        )}
      </div>
      <Form.Item name="effective_to" label={t('discount.untilOptional')}>
        <MomentInput />
      </Form.Item>
      <Alert type="info" showIcon title={t('past')} description={t('discount.lowest')} />
    </FormDialog>
  )
}
