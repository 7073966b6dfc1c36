import type { Column } from '../../kit/columns.tsx'

/** Columns whose cells say what they are: on a phone a row is a card. React's types know data- attributes in JSX only. */
export const labelled = <Row>(columns: readonly Column<Row>[]): Column<Row>[] =>
  columns.map((column) => ({ ...column, onCell: () => ({ 'data-label': column.title }) as object }))
