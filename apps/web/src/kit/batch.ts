/** How one row of a batch went. */
export interface BatchOutcome<Row> {
  readonly row: Row
  /** Null where it succeeded. */
  readonly error: unknown
}

/** Runs over all rows, a few at a time, and tells of each as it ends. One failure stops nothing. */
export async function runBatch<Row>(
  rows: readonly Row[],
  run: (row: Row) => Promise<unknown>,
  onOutcome: (outcome: BatchOutcome<Row>) => void,
  concurrency = 4,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let row = rows[next++]; row !== undefined; row = rows[next++]) {
      try {
        await run(row)
        onOutcome({ row, error: null })
      } catch (error) {
        onOutcome({ row, error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, rows.length) }, worker))
}
