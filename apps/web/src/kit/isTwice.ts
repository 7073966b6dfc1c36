import type { FormItemProps, Rule } from 'antd/es/form'
import { refusing } from './rules.ts'

/** Whether an earlier row says the same, and this one is to be changed. */
export const isTwice = <Row>(rows: readonly (Row | undefined)[] | undefined, index: number, keyOf: (row: Row) => string): boolean => {
  const row = rows?.[index]
  if (row === undefined) return false
  return (rows ?? []).slice(0, index).some((other) => other !== undefined && keyOf(other) === keyOf(row))
}

/** A rule for a row of a list in a form: what `keyOf` makes of it stands in no earlier row. Nothing is made of a row that is not filled in. */
export const onceIn =
  <Row>(list: NonNullable<FormItemProps['name']>, index: number, keyOf: (row: Row) => string, text: string): Rule =>
  ({ getFieldValue }) =>
    refusing(() => {
      // antd does not know the values of a form around it.
      const rows = getFieldValue(list) as readonly (Row | undefined)[] | undefined
      const row = rows?.[index]
      return row !== undefined && keyOf(row) !== '' && isTwice(rows, index, keyOf) && text
    })
