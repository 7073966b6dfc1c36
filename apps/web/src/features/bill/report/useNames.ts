import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import type { Kind } from '@zhisuan/contract/kind'
import { useTranslation } from '../../../i18n.ts'

/** All kinds that can be in a bill. */
export const billedKinds = [
  'nextstack.vm',
  'nextstack.volume',
  'nextstack.eip',
  'nextstack.snapshot',
  'nextstack.volumeSnapshot',
  'nextstack.volumeBackup',
  'nextstack.image',
  'compute.instance',
  'compute.volume',
  'compute.floatingIp',
  'compute.volumeSnapshot',
  'compute.volumeBackup',
  'compute.image',
] as const satisfies readonly Kind[]

/** What meters and their units are called. */
export function useNames() {
  const { t } = useTranslation('report')
  return {
    meterName: (meter: Meter): string => t(`meter.${meter}`),
    unitName: (meter: Meter): string => t(`unit.${meters[meter].unit}`),
  }
}
