import { errors } from '@zhisuan/contract/errors'
import type { EipPool } from '@zhisuan/contract/nextstack/eip'
import type { z } from 'zod'
import { useTranslation } from '../../../i18n.ts'
import { NumberField } from '../../../kit/NumberField.tsx'
import { useIsPriced } from '../../../kit/price/useQuote.ts'
import { refusing } from '../../../kit/rules.ts'
import './network.css'

/**
 * How much goes through an outside address, and how much its pool allows; it has to be given where it is paid for.
 * @param free it may be left out all the same: there has been none
 */
export function BandwidthField({
  schema,
  pool,
  limits,
  free = false,
  bpId = null,
}: {
  readonly schema: z.ZodType
  readonly pool: Pick<EipPool, 'max_bandwidth_mbps'> | undefined
  /** Whether the hosts can hold an address to it. */
  readonly limits: boolean
  readonly free?: boolean
  readonly bpId?: string | null
}) {
  const { t } = useTranslation('network')
  const must = useIsPriced('eip.bandwidth', bpId) && !free && limits
  const most = pool?.max_bandwidth_mbps ?? null
  const note = limits ? t(must ? 'eip.bandwidthPriced' : most === null ? 'eip.bandwidthNote' : 'eip.bandwidthOfPool') : t('eip.bandwidthNotLimited')
  return (
    <NumberField
      name="bandwidth_mbps"
      label={t('eip.bandwidth')}
      extra={most === null ? note : `${note} ${t('eip.bandwidthMost', { count: most })}`}
      schema={schema}
      rules={[refusing((value: number | null | undefined) => most !== null && (value ?? 0) > most && t('eip.bandwidthMost', { count: most }))]}
      {...(must && { required: true, missing: errors.eipBandwidthUnlimited.text })}
      className="nt-number"
    />
  )
}
