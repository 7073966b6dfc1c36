import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import { useTranslation } from 'react-i18next'
import { paths } from '../../../paths.ts'

/** Of the second family, with the page of each. */
const computePages = {
  'compute.instance': paths.compute.instance.detail,
  'compute.volume': paths.compute.volume.detail,
  'compute.floatingIp': paths.compute.floatingIp.detail,
  'compute.volumeSnapshot': paths.compute.snapshot.detail,
  'compute.volumeBackup': paths.compute.backup.detail,
  'compute.image': paths.compute.image.detail,
} as const
const isComputeType = (type: string): type is keyof typeof computePages => Object.hasOwn(computePages, type)
const types = ['vm', 'volume', 'eip', 'snapshot', 'volumeSnapshot', 'volumeBackup', 'image'] as const
const isType = (type: string): type is (typeof types)[number] => types.some((one) => one === type)

/** All kinds that can be in a bill. */
export const resourceTypes: readonly string[] = [...types, ...Object.keys(computePages)]

/** Where a resource of the second family is shown; null of others. */
export const pageOfResource = ({ type, id }: { readonly type: string; readonly id: string }): string | null =>
  isComputeType(type) ? computePages[type](id) : null

/** What kinds of resources, meters and their units are called. */
export function useNames() {
  const { t } = useTranslation('report')
  return {
    /** Apart from those of the other family. */
    typeNameApart: (type: string): string =>
      isComputeType(type) ? t('typeOfOpenStack', { type: t(`type.${type}`) }) : isType(type) ? t(`type.${type}`) : type,
    typeName: (type: string): string => (isType(type) || isComputeType(type) ? t(`type.${type}`) : type),
    meterName: (meter: Meter): string => t(`meter.${meter}`),
    unitName: (meter: Meter): string => t(`unit.${meters[meter].unit}`),
  }
}
