import { categories, products, type Category, type Product } from '@zhisuan/contract/bill/catalogue'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { Field } from '../../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { SearchSelect, type Named } from '../../../kit/SearchSelect.tsx'
import { invalidatedByCatalogue } from './invalidated.ts'

interface Values {
  name: string
  description: string
  category_id: string
}
const { shape } = products.create.body

/**
 * Makes a product, or with one changes it.
 * @param category the one that is chosen to begin with
 */
export function ProductDialog({
  product,
  category,
  onSaved,
  onClose,
}: Dialog<{ product: Product | null; category?: Named | undefined; onSaved?: (product: Product) => void }>) {
  const { t } = useTranslation('catalogue')
  const create = useChange(products.create, { invalidates: invalidatedByCatalogue, silent: true })
  const update = useChange(products.update, { invalidates: invalidatedByCatalogue, silent: true })
  const known = product?.category ?? category
  return (
    <FormDialog<Values>
      title={product === null ? t('product.create') : t('product.edit', { name: product.name })}
      okText={product === null ? t('create') : t('save')}
      initialValues={{ name: product?.name ?? '', description: product?.description ?? '', ...(known !== undefined && { category_id: known.id }) }}
      doneText={product === null ? t('product.created') : t('saved')}
      onClose={onClose}
      onSubmit={async (body) => {
        const saved = await (product === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: product.id }, body }))
        onSaved?.(saved)
      }}
    >
      <NameField schema={shape.name} />
      <Field name="category_id" label={t('product.category')} missing={t('product.chooseCategory')}>
        <SearchSelect
          call={categories.list}
          rows={({ items }) => items}
          nameOf={({ name }: Category) => name}
          known={known}
          label={t('product.category')}
          placeholder={t('product.chooseCategory')}
        />
      </Field>
      <DescriptionField schema={shape.description} />
    </FormDialog>
  )
}
