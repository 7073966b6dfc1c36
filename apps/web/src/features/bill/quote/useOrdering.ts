import { orders, type OrderDetail, type PrepaidType } from '@zhisuan/contract/bill/order'
import type { BodyInput } from '@zhisuan/contract/define'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { ApiError, toApiError } from '../../../api/client.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { paths, withQuery } from '../../../paths.ts'
import type { Billing } from './BillingMode.tsx'

type Body = BodyInput<typeof orders.create>
type CreateOf<T extends PrepaidType> = NonNullable<Extract<Body, { resource_type: T }>['create']>

/** Orders something new that is paid in advance, and leads to its payment. Refused fields are those of the form. */
export function useOrdering(): { readonly order: <T extends PrepaidType>(type: T, create: CreateOf<T>, billing: Billing) => Promise<OrderDetail>; readonly pending: boolean } {
  const { t } = useTranslation('order')
  const navigate = useNavigate()
  const change = useChange(orders.create, { invalidates: [orders.list], silent: true })
  return {
    pending: change.isPending,
    order: async (resource_type, create, { mode, count, auto_renew }) => {
      try {
        // Which body goes with which type the signature has seen; their union the compiler cannot join again.
        const body = { resource_type, create, period: mode === 'hour' ? 'month' : mode, count, auto_renew } as unknown as Body
        const order = await change.mutateAsync({ body })
        notify('success', t('ordered'))
        void navigate(withQuery(paths.order.detail(order.id), { pay: 1 }))
        return order
      } catch (thrown) {
        const error = toApiError(thrown)
        throw new ApiError({ status: error.status, code: error.code, message: error.message, requestId: error.requestId, fields: error.fields.map(({ field, message }) => ({ field: field.replace(/^create\./, ''), message })), method: error.method, path: error.path, cause: error })
      }
    },
  }
}
