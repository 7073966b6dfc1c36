import { categories, type Category } from '@zhisuan/contract/bill/catalogue'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { FormDialog, type Dialog } from '../../../kit/FormDialog.tsx'
import { DescriptionField, NameField } from '../../../kit/NameFields.tsx'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths, withQuery } from '../../../paths.ts'
import { invalidatedByCatalogue } from './invalidated.ts'

/** How products are grouped. */
export default function CategoryList() {
  const { t } = useTranslation('catalogue')
  const remove = useChange(categories.delete, { invalidates: invalidatedByCatalogue })
  const actionsOf = (category: Category): readonly Action[] => [
    {
      key: 'edit',
      call: categories.update,
      label: t('action.edit'),
      dialog: (close) => <CategoryDialog category={category} onClose={close} />,
    },
    {
      key: 'delete',
      call: categories.delete,
      label: t('action.delete'),
      danger: true,
      disabledReason: category.product_count > 0 ? t('category.hasProducts', { count: category.product_count }) : null,
      confirm: { title: t('category.deleteTitle', { name: category.name }), body: t('category.deleteBody') },
      doneText: t('deleted', { name: category.name }),
      run: () => remove.mutateAsync({ params: { id: category.id } }),
    },
  ]
  return (
    <>
      <ResourceTable
        call={categories.list}
        columns={[
          col.name<Category>('name', t('column.name'), ({ name }) => name, {
            sort: true,
            to: ({ id }) => withQuery(paths.billing.product.list(), { category_id: id }),
            note: ({ description }) => description,
          }),
          col.number<Category>('product_count', t('category.products'), ({ product_count }) => product_count, { sort: true, width: 100 }),
          col.text<Category>('by', t('byWhom'), ({ created_by }) => created_by, { width: 140 }),
          col.date<Category>('updated', t('column.updated'), ({ updated_at }) => updated_at),
          col.date<Category>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        ]}
        filters={[filter.keyword(t('category.keyword'))]}
        rowActions={actionsOf}
        create={{ call: categories.create, label: t('category.create'), dialog: (close) => <CategoryDialog category={null} onClose={close} /> }}
        empty={{ title: t('category.none'), note: t('category.noneNote') }}
      />
    </>
  )
}

interface Values {
  name: string
  description: string
}

/** Makes a category, or with one changes it. */
export function CategoryDialog({ category, onSaved, onClose }: Dialog<{ category: Category | null; onSaved?: (category: Category) => void }>) {
  const { t } = useTranslation('catalogue')
  const create = useChange(categories.create, { invalidates: invalidatedByCatalogue, silent: true })
  const update = useChange(categories.update, { invalidates: invalidatedByCatalogue, silent: true })
  return (
    <FormDialog<Values>
      title={category === null ? t('category.create') : t('category.edit', { name: category.name })}
      okText={category === null ? t('create') : t('save')}
      initialValues={{ name: category?.name ?? '', description: category?.description ?? '' }}
      doneText={category === null ? t('category.created') : t('saved')}
      onClose={onClose}
      onSubmit={async (body) => {
        const saved = await (category === null ? create.mutateAsync({ body }) : update.mutateAsync({ params: { id: category.id }, body }))
        onSaved?.(saved)
      }}
    >
      <NameField schema={categories.create.body.shape.name} />
      <DescriptionField schema={categories.create.body.shape.description} />
    </FormDialog>
  )
}
