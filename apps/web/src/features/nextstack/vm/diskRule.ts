import type { TFunction } from 'i18next'
import * as format from '../../../kit/format.ts'
import { refusing } from '../../../kit/rules.ts'

/** What the contract accepts at most. */
const maxBytes = 2 ** 50

/** @param minBytes what the flavor asks for, or what the disk has already */
export const diskRule = (t: TFunction<'nextstack'>, minBytes: number) =>
  refusing((value: number | null | undefined) => {
    if (value === null || value === undefined || !Number.isInteger(value)) return t('add.diskWhole')
    if (value < minBytes) return t('add.diskLow', { disk: format.bytes(minBytes) })
    return value > maxBytes && t('add.diskHigh', { disk: format.bytes(maxBytes) })
  })
