import type { Rule } from 'antd/es/form'
import type { TFunction } from 'i18next'
import * as format from '../../../kit/format.ts'

/** What the contract accepts at most. */
const maxBytes = 2 ** 50

/** @param minBytes what the flavor asks for, or what the disk has already */
export const diskRule = (t: TFunction<'nextstack'>, minBytes: number): Rule => ({
  validator: async (_rule, value: number | null | undefined) => {
    if (value === null || value === undefined || !Number.isInteger(value)) throw new Error(t('add.diskWhole'))
    if (value < minBytes) throw new Error(t('add.diskLow', { disk: format.bytes(minBytes) }))
    if (value > maxBytes) throw new Error(t('add.diskHigh', { disk: format.bytes(maxBytes) }))
  },
})
