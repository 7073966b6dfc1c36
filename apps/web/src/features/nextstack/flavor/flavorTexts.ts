import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import type { TFunction } from 'i18next'

type T = TFunction<'nextstackCompute'>

export const gpuText = (t: T, { gpu }: Pick<Flavor, 'gpu'>): string => (gpu === null ? t('flavor.noGpu') : t('flavor.gpu', gpu))

export const visibilityText = (t: T, flavor: Pick<Flavor, 'public' | 'organisations'>): string =>
  flavor.public ? t('flavor.public') : t('flavor.chosen', { count: flavor.organisations.length })
