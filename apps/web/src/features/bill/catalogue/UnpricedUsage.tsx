import { products, unpriced, type Product, type UnpricedUse } from '@zhisuan/contract/bill/catalogue'
import Alert from 'antd/es/alert'
import { useTranslation } from '../../../i18n.ts'
import { useNavigate } from 'react-router'
import { useDialog } from '../../../kit/dialogs.tsx'
import { Field } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { SearchSelect } from '../../../kit/SearchSelect.tsx'
import { paths } from '../../../paths.ts'
import { kindText, unitOf, variantText } from './catalogueText.ts'
import { SkuDialog } from './SkuDialog.tsx'

/** What was free because nothing priced it, and the way to a price. */
export function UnpricedUsage() {
  const { t } = useTranslation('catalogue')
  const navigate = useNavigate()
  return (
    <>
      <Alert className="zs-above" type="info" showIcon title={t('unpriced.note')} />
      <ResourceTable
        name="unpriced"
        call={unpriced.list}
        refreshMs={false}
        columns={[
          col.name<UnpricedUse>('meter', t('unpriced.meter'), ({ meter }) => t(`meter.${meter}`), {
            note: ({ meter, variant }) => (variant === '' ? '' : `${kindText(t, meter)}：${variantText(t, meter, variant)}`),
          }),
          col.number<UnpricedUse>('organisations', t('unpriced.organisations'), ({ organisation_count }) => organisation_count, { width: 80 }),
          col.number<UnpricedUse>('resources', t('unpriced.resources'), ({ resource_count }) => resource_count, { width: 80 }),
          {
            ...col.custom<UnpricedUse>(
              'amount',
              t('unpriced.amount'),
              ({ unit_hours, meter }) => t('unpriced.unitHours', { amount: format.number(unit_hours), unit: unitOf(t, meter) }),
              { width: 180 },
            ),
            align: 'right',
            className: 'zs-number',
          },
          col.date<UnpricedUse>('first', t('unpriced.first'), ({ first_at }) => first_at),
          col.custom<UnpricedUse>('last', t('unpriced.last'), ({ last_at }) => (last_at === null ? t('unpriced.goesOn') : format.dateTime(last_at)), {
            width: 170,
          }),
        ]}
        filters={[filter.oneOf('days', t('unpriced.days'), ['1', '7', '30', '90'], (days) => t('unpriced.lastDays', { days }))]}
        rowActions={(use) => [
          use.sku === null
            ? {
                key: 'price',
                call: products.create,
                label: t('unpriced.price'),
                dialog: (close) => <PlaceDialog use={use} onClose={close} onMade={(product) => void navigate(paths.billing.product.detail(product))} />,
              }
            : { key: 'price', call: null, label: t('unpriced.price'), href: paths.billing.product.detail(use.sku.product.id) },
        ]}
        empty={{ title: t('unpriced.none'), note: t('unpriced.noneNote') }}
      />
    </>
  )
}

/** Which product what is used belongs to; then its SKU. */
function PlaceDialog({ use, onMade, onClose }: Dialog<{ use: UnpricedUse; onMade: (productId: string) => void }>) {
  const { t } = useTranslation('catalogue')
  const openDialog = useDialog()
  const wish = { meter: use.meter, variant: use.variant }
  return (
    <FormDialog<{ product?: string }>
      title={t('sku.add')}
      okText={t('sku.add')}
      width={480}
      initialValues={{}}
      onClose={onClose}
      onSubmit={async ({ product }) => {
        if (product !== undefined) openDialog((close) => <SkuDialog productId={product} wish={wish} onSaved={() => onMade(product)} onClose={close} />)
      }}
    >
      <Field name="product" label={t('starter.place')} missing={t('discount.chooseProduct')}>
        <SearchSelect
          call={products.list}
          rows={({ items }) => items}
          nameOf={({ name }: Product) => name}
          label={t('starter.place')}
          placeholder={t('starter.place')}
        />
      </Field>
    </FormDialog>
  )
}
