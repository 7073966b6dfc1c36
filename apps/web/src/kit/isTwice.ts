/** Whether an earlier row says the same, and this one is to be changed. */
export const isTwice = <Row>(rows: readonly (Row | undefined)[] | undefined, index: number, keyOf: (row: Row) => string): boolean => {
  const row = rows?.[index]
  if (row === undefined) return false
  return (rows ?? []).slice(0, index).some((other) => other !== undefined && keyOf(other) === keyOf(row))
}
