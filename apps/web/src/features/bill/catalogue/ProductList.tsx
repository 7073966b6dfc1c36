import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import { categories, products, unpriced, type Product } from '@zhisuan/contract/bill/catalogue'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { useCall } from '../../../api/hooks.ts'
import { col } from '../../../kit/columns.tsx'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { useDialog, type DrawDialog } from '../../../kit/dialogs.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { ProductDialog } from './ProductDialog.tsx'
import { StarterDialog } from './StarterDialog.tsx'
import { UnpricedUsage } from './UnpricedUsage.tsx'
import { useProductActions } from './useProductActions.tsx'

/** What is sold, and what is used though nobody priced it. */
export default function ProductList() {
  const { t } = useTranslation('catalogue')
  const [search] = useSearchParams()
  const { data } = useCall(unpriced.list, { query: {} }, { silent: true })
  const free = data?.total ?? 0
  return (
    <>
      {free > 0 && search.get('tab') !== 'unpriced' && (
        <Alert
          className="zs-above"
          type="warning"
          showIcon
          title={t('unpriced.notice', { count: free })}
          description={t('unpriced.noticeNote')}
          action={<Link to={withQuery(paths.billing.product.list(), { tab: 'unpriced' })}>{t('unpriced.look')}</Link>}
        />
      )}
      <DetailTabs
        tabs={[
          { key: 'list', label: t('product.tab.list'), content: <Products /> },
          { key: 'unpriced', label: t('product.tab.unpriced'), content: <UnpricedUsage /> },
        ]}
      />
    </>
  )
}

type Pricing = 'all' | 'some' | 'none' | 'empty'
const tones: Readonly<Record<Pricing, StatusTone>> = { all: 'good', some: 'warning', none: 'warning', empty: 'rest' }
const pricingOf = ({ sku_count, priced_sku_count }: Product): Pricing =>
  sku_count === 0 ? 'empty' : priced_sku_count === 0 ? 'none' : priced_sku_count < sku_count ? 'some' : 'all'

function Products() {
  const { t } = useTranslation('catalogue')
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const openDialog = useDialog()
  const { actionsOf } = useProductActions()
  const { data } = useCall(categories.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const chosen = data?.items.find(({ id }) => id === search.get('category_id'))
  const create: DrawDialog = (close) => (
    <ProductDialog product={null} category={chosen} onSaved={({ id }) => void navigate(paths.billing.product.detail(id))} onClose={close} />
  )
  const start: DrawDialog = (close) => <StarterDialog onClose={close} />
  return (
    <>
      <ResourceTable
        call={products.list}
        columns={[
          col.name<Product>('name', t('column.name'), ({ name }) => name, {
            sort: true,
            to: ({ id }) => paths.billing.product.detail(id),
            note: ({ description }) => description,
          }),
          col.text<Product>('category', t('product.category'), ({ category }) => category.name, { width: 140 }),
          col.status<Product>(
            'pricing',
            t('product.pricing'),
            (product) => ({ tone: tones[pricingOf(product)], text: t(`product.pricingOf.${pricingOf(product)}`) }),
            { width: 130 },
          ),
          col.number<Product>('sku_count', t('product.skus'), ({ sku_count }) => sku_count, { sort: true, width: 90 }),
          col.text<Product>('by', t('byWhom'), ({ created_by }) => created_by, { width: 130 }),
          col.date<Product>('updated', t('column.updated'), ({ updated_at }) => updated_at, { off: true }),
          col.date<Product>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        ]}
        filters={[
          filter.named('category_id', t('product.category'), data?.items),
          filter.oneOf('priced', t('product.pricing'), ['all', 'some', 'none'], (value) => t(`product.pricingOf.${value}`)),
          filter.keyword(t('product.keyword')),
        ]}
        rowActions={actionsOf}
        create={{ call: products.create, label: t('product.create'), dialog: create }}
        toolbar={<Button onClick={() => openDialog(start)}>{t('starter.open')}</Button>}
        empty={{
          title: t('product.none'),
          note: t('product.noneNote'),
          action: (
            <span className="zs-line zs-line-narrow">
              <Button type="primary" onClick={() => openDialog(start)}>
                {t('starter.open')}
              </Button>
              <Button onClick={() => openDialog(create)}>{t('product.create')}</Button>
            </span>
          ),
        }}
      />
    </>
  )
}
