import Button from 'antd/es/button'
import Skeleton from 'antd/es/skeleton'
import { products, type Product } from '@zhisuan/contract/bill/catalogue'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useDialog } from '../../../kit/dialogs.tsx'
import { useOne, useCall } from '../../../api/hooks.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { paths, withQuery } from '../../../paths.ts'
import { DiscountTable } from './DiscountTable.tsx'
import { PastNote } from './PastNote.tsx'
import { SkuCard } from './SkuCard.tsx'
import { SkuDialog } from './SkuDialog.tsx'
import { useProductActions } from './useProductActions.tsx'

/** One product: what of it is measured, what that costs, and who pays less. */
export default function ProductDetail() {
  const { t } = useTranslation('catalogue')
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(products.get, { params: { id } }, { refreshMs: 5_000 })
  const { actionsOf } = useProductActions({ onDeleted: () => void navigate(paths.billing.product.list()) })
  return (
    <DetailPage
      query={query}
      gone={{ to: paths.billing.product.list() }}
      title={({ name }) => name}
      actions={actionsOf}
      facts={(product) => [
        {
          key: 'category',
          label: t('product.category'),
          value: <Link to={withQuery(paths.billing.product.list(), { category_id: product.category.id })}>{product.category.name}</Link>,
        },
        {
          key: 'pricing',
          label: t('product.pricing'),
          value: product.sku_count === 0 ? t('product.pricingOf.empty') : t('product.priced', { priced: product.priced_sku_count, count: product.sku_count }),
        },
        { key: 'by', label: t('byWhom'), value: product.created_by || t('unknownAuthor') },
        { key: 'created', label: t('column.created'), value: format.dateTime(product.created_at) },
        { key: 'updated', label: t('column.updated'), value: format.dateTime(product.updated_at) },
        ...(product.description === '' ? [] : [{ key: 'description', label: t('column.description'), value: product.description }]),
      ]}
      notice={() => <PastNote />}
      tabs={(product) => [
        { key: 'skus', label: t('product.tabs.skus'), content: <Skus product={product} /> },
        { key: 'discounts', label: t('product.tabs.discounts'), content: <DiscountTable product={product} /> },
      ]}
    />
  )
}

function Skus({ product }: { readonly product: Product }) {
  const { t } = useTranslation('catalogue')
  const openDialog = useDialog()
  const { data, error, refetch } = useCall(products.skus, { params: { id: product.id } }, { silent: true, refreshMs: 5_000 })
  const add = (
    <Button type="primary" onClick={() => openDialog((close) => <SkuDialog productId={product.id} onClose={close} />)}>
      {t('sku.add')}
    </Button>
  )
  return (
    <>
      {data === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 6 }} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState title={t('product.missingSkus')} action={add}>
          {t('product.missingSkusNote')}
        </EmptyState>
      ) : (
        <>
          <div className="zs-above">{add}</div>
          {data.items.map((sku) => (
            <SkuCard key={sku.id} sku={sku} />
          ))}
        </>
      )}
    </>
  )
}
