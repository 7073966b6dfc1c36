import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { useTranslation } from 'react-i18next'

const types = ['vm', 'volume', 'eip', 'snapshot', 'volumeSnapshot', 'volumeBackup', 'image'] as const
const isType = (type: string): type is (typeof types)[number] => types.some((one) => one === type)

/** What kinds of resources, meters and their units are called. */
export function useNames() {
  const { t } = useTranslation('report')
  return {
    typeName: (type: string): string => (isType(type) ? t(`type.${type}`) : type),
    meterName: (meter: Meter): string => t(`meter.${meter}`),
    unitName: (meter: Meter): string => t(`unit.${meters[meter].unit}`),
  }
}
