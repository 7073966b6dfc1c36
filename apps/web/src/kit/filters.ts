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
  /** One of these values, by what each is called; by itself where that is left out: `filter.oneOf('status', t('status'), statuses, (one) => t(`status.${one}`))`. */
  oneOf: <Value extends string>(key: string, label: string, values: readonly Value[], text: (value: Value) => string = (value) => value): Filter =>
    filter.select(
      key,
      label,
      values.map((value) => ({ value, label: text(value) })),
    ),
  /** One of these things, which another list told; none while they are not known yet. */
  named: (key: string, label: string, things: readonly { readonly id: string; readonly name: string }[] = []): Filter =>
    filter.select(
      key,
      label,
      things.map(({ id, name }) => ({ value: id, label: name })),
    ),
}
