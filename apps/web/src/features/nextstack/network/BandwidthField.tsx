import { errors } from '@zhisuan/contract/errors'
import type { z } from 'zod'
import { useTranslation } from '../../../i18n.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { useIsPriced } from '../../../kit/price/useQuote.ts'
import './network.css'

/**
 * How much goes through an outside address; a limit has to be given where it is paid for.
 * @param limited it may be left out all the same: the pool has a limit, or there has been none
 */
export function BandwidthField({ schema, limited, bpId = null }: { readonly schema: z.ZodType; readonly limited: boolean; readonly bpId?: string | null }) {
  const { t } = useTranslation('network')
  const must = useIsPriced('eip.bandwidth', bpId) && !limited
  return (
    <NumberField
      name="bandwidth_mbps"
      label={t('eip.bandwidth')}
      extra={t(must ? 'eip.bandwidthPriced' : 'eip.bandwidthNote')}
      schema={schema}
      {...(must && { required: true, missing: errors.eipBandwidthUnlimited.text })}
      className="nt-number"
    />
  )
}
