import { products, type Product } from '@zhisuan/contract/bill/catalogue'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { ProductDialog } from './ProductDialog.tsx'
import { invalidatedByCatalogue } from './invalidated.ts'

/** What an administrator can do to a product. */
export function useProductActions(then: { readonly onDeleted?: () => void } = {}): {
  readonly actionsOf: (product: Product) => readonly Action[]
} {
  const { t } = useTranslation('catalogue')
  const remove = useChange(products.delete, { invalidates: invalidatedByCatalogue })
  return {
    actionsOf: (product) => [
      {
        key: 'edit',
        call: products.update,
        label: t('action.edit'),
        dialog: (close) => <ProductDialog product={product} onClose={close} />,
      },
      {
        key: 'delete',
        call: products.delete,
        label: t('action.delete'),
        danger: true,
        disabledReason:
          product.sku_count + product.discount_count > 0 ? t('product.hasParts', { skus: product.sku_count, discounts: product.discount_count }) : null,
        confirm: { title: t('product.deleteTitle', { name: product.name }), body: t('product.deleteBody') },
        doneText: t('deleted', { name: product.name }),
        run: async () => {
          await remove.mutateAsync({ params: { id: product.id } })
          then.onDeleted?.()
        },
      },
    ],
  }
}
