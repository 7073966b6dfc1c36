import { orders, type OrderDetail } from '@zhisuan/contract/bill/order'
import type { BodyInput } from '@zhisuan/contract/define'
import { useTranslation } from '../../i18n.ts'
import { useNavigate } from 'react-router'
import { ApiError, toApiError } from '../../api/client.ts'
import { useChange } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { paths, withQuery } from '../../paths.ts'
import type { Billing } from './BillingMode.tsx'

type Body = BodyInput<typeof orders.create>
/** What is to be made, as its own call takes it. */
type New<B extends Body = Body> = B extends Body ? { readonly resource_type: B['resource_type']; readonly create: NonNullable<B['create']> } : never

/** Orders something new that is paid in advance, and leads to its payment. Refused fields are those of the form. */
export function useOrdering(): { readonly order: (what: New, billing: Billing) => Promise<OrderDetail>; readonly pending: boolean } {
  const { t } = useTranslation('price')
  const navigate = useNavigate()
  const change = useChange(orders.create, { invalidates: [orders.list], silent: true })
  return {
    pending: change.isPending,
    order: async (what, { mode, count, auto_renew }) => {
      try {
        const order = await change.mutateAsync({ body: { ...what, period: mode === 'hour' ? 'month' : mode, count, auto_renew } })
        notify('success', t('ordered'))
        void navigate(withQuery(paths.order.detail(order.id), { pay: 1 }))
        return order
      } catch (thrown) {
        const error = toApiError(thrown)
        throw new ApiError({
          status: error.status,
          code: error.code,
          message: error.message,
          requestId: error.requestId,
          fields: error.fields.map(({ field, message }) => ({ field: field.replace(/^create\./, ''), message })),
          method: error.method,
          path: error.path,
          cause: error,
        })
      }
    },
  }
}
