import { useState } from 'react'
import type { Column } from './columns.tsx'

export interface ColumnSettings {
  readonly all: readonly { readonly key: string; readonly title: string; readonly shown: boolean; readonly locked: boolean }[]
  readonly onChange: (key: string, shown: boolean) => void
  readonly onReset: () => void
}

type Choices = Readonly<Record<string, boolean>>

const keyOf = (table: string): string => `zhisuan.columns.${table}`

function read(table: string): Choices {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(table)) ?? '{}')
    if (typeof stored !== 'object' || stored === null) return {}
    return Object.fromEntries(Object.entries(stored).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'))
  } catch {
    return {}
  }
}

const isShown = (column: Pick<Column<never>, 'key' | 'off' | 'fixedShown'>, choices: Choices): boolean =>
  column.fixedShown === true || (choices[column.key] ?? column.off !== true)

/** Which columns a person wants to see; kept in local storage for each table. */
export function useShownColumns<Row>(table: string, columns: readonly Column<Row>[]): [Column<Row>[], ColumnSettings] {
  const [choices, setChoices] = useState(() => read(table))
  const keep = (next: Choices): void => {
    setChoices(next)
    try {
      localStorage.setItem(keyOf(table), JSON.stringify(next))
    } catch {
      // Without storage the choice holds until the page is left.
    }
  }
  return [
    columns.filter((column) => isShown(column, choices)),
    {
      all: columns.map((column) => ({ key: column.key, title: column.title, shown: isShown(column, choices), locked: column.fixedShown === true })),
      onChange: (key, shown) => keep({ ...choices, [key]: shown }),
      onReset: () => keep({}),
    },
  ]
}
