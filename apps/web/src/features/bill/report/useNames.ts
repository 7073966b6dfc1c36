import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import type { Kind } from '@zhisuan/contract/kind'
import { kindText } from '@zhisuan/contract/kindTexts'
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

/** What kinds that stand beside those of the other family, meters and their units are called. */
export function useNames() {
  const { t } = useTranslation('report')
  return {
    /** Apart from those of the other family. */
    kindApart: (kind: string): string => (kind.startsWith('compute.') ? t('typeOfOpenStack', { type: kindText(kind) }) : kindText(kind)),
    meterName: (meter: Meter): string => t(`meter.${meter}`),
    unitName: (meter: Meter): string => t(`unit.${meters[meter].unit}`),
  }
}
