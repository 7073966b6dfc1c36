import { billingPeriods, discounts, discountStates, type Discount } from '@zhisuan/contract/bill/catalogue'
import { type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import type { Named } from '../../../kit/SearchSelect.tsx'
import { paths } from '../../../paths.ts'
import { discountTones, fractionText } from './catalogueText.ts'
import { DiscountDialog } from './DiscountDialog.tsx'
import { invalidatedByCatalogue } from './invalidated.ts'

/** Discounts of all, of a product, or of an organisation: with those that are over. */
export function DiscountTable({
  product,
  organisation,
  control,
}: {
  readonly product?: Named
  readonly organisation?: Named | undefined
  readonly control?: ReactNode
}) {
  const { t } = useTranslation('catalogue')
  const end = useChange(discounts.end, { invalidates: invalidatedByCatalogue })
  const actionsOf = (discount: Discount): readonly Action[] => [
    {
      key: 'end',
      call: discounts.end,
      label: t('discount.end'),
      danger: true,
      disabledReason: discount.status === 'ended' ? t('discount.alreadyEnded') : null,
      confirm: {
        title: t('discount.endTitle', { name: discount.name }),
        body: t(discount.status === 'planned' ? 'discount.endPlannedBody' : 'discount.endBody'),
      },
      doneText: t('discount.ended'),
      run: () => end.mutateAsync({ params: { id: discount.id } }),
    },
  ]
  return (
    <>
      <ResourceTable
        call={discounts.list}
        input={{ query: { ...(product !== undefined && { product_id: product.id }), ...(organisation !== undefined && { bp_id: organisation.id }) } }}
        columns={[
          col.name<Discount>('name', t('discount.name'), ({ name }) => name, { sort: true }),
          {
            ...col.custom<Discount>('fraction', t('discount.fraction'), ({ fraction }) => <span title={fraction}>{fractionText(t, fraction)}</span>, {
              sort: true,
              width: 90,
            }),
            align: 'right',
            className: 'zs-number',
          },
          col.status<Discount>(
            'status',
            t('discount.status'),
            ({ status, ended }) => ({
              tone: discountTones[status],
              text: t(`discount.state.${status}`),
              note: ended === null ? null : t('discount.endedBy', { name: ended.by }),
            }),
            { width: 150 },
          ),
          col.text<Discount>('organisation', t('discount.organisation'), (discount) => discount.organisation?.name ?? t('discount.everyone'), { width: 150 }),
          col.text<Discount>('product', t('discount.product'), (discount) => discount.product?.name ?? t('discount.everything'), {
            when: product === undefined,
            to: (discount) => (discount.product === null ? null : paths.billing.product.detail(discount.product.id)),
            width: 150,
          }),
          col.text<Discount>('period', t('discount.period'), ({ period }) => t(period === null ? 'discount.everyPeriod' : `period.${period}`), { width: 90 }),
          col.date<Discount>('effective_from', t('discount.from'), ({ effective_from }) => effective_from, { sort: true }),
          col.custom<Discount>('to', t('discount.to'), ({ effective_to }) => (effective_to === null ? t('discount.open') : format.dateTime(effective_to)), {
            width: 170,
          }),
          col.text<Discount>('by', t('byWhom'), ({ created_by }) => created_by, { width: 120 }),
        ]}
        filters={[
          filter.oneOf('status', t('discount.status'), discountStates, (value) => t(`discount.state.${value}`)),
          filter.oneOf('period', t('discount.period'), billingPeriods, (value) => t(`period.${value}`)),
          filter.keyword(t('discount.keyword')),
        ]}
        rowActions={actionsOf}
        create={{
          call: discounts.create,
          label: t('discount.create'),
          dialog: (close) => <DiscountDialog product={product} organisation={organisation} onClose={close} />,
        }}
        toolbar={control}
        empty={{ title: t('discount.none'), note: t('discount.noneNote') }}
      />
    </>
  )
}
