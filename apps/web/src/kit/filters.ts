/** A filter over a list; its value stands in the address under its key, and goes into the query as it is. */
export type Filter =
  | { readonly kind: 'keyword'; readonly key: string; readonly label: string }
  | { readonly kind: 'select'; readonly key: string; readonly label: string; readonly options: readonly FilterOption[] }

export interface FilterOption {
  readonly value: string
  readonly label: string
}

export const filter = {
  /** Free text; keeps the twenty last searches of its list. */
  keyword: (label: string, key = 'keyword'): Filter => ({ kind: 'keyword', key, label }),
  select: (key: string, label: string, options: readonly FilterOption[]): Filter => ({ kind: 'select', key, label, options }),
}
