import Select from 'antd/es/select'
import type { QueryInput, ResponseOf } from '@zhisuan/contract/define'
import { useDeferredValue, useState } from 'react'
import type { RequestInput } from '../api/client.ts'
import { useCall } from '../api/hooks.ts'
import type { ListCall, RowOf } from './ResourceTable.tsx'

/** As many as fit a list that is looked through; others are searched. */
const listed = 50

export interface Named {
  readonly id: string
  readonly name: string
}

interface Source<C extends ListCall> {
  readonly call: C
  readonly input?: { readonly params?: RequestInput<C>['params']; readonly query?: Partial<QueryInput<C>> }
  readonly rows: (response: ResponseOf<C>) => readonly (RowOf<C> & { readonly id: string })[]
  readonly nameOf: (row: RowOf<C>) => string
  /** Others that the server does not find by what they are called here. */
  readonly local?: readonly Named[]
}

const asOption = ({ id, name }: Named) => ({ value: id, label: name })

/** What a list answers to what is typed, as options of a Select, with those among `known` that are not in it. */
export function useSearchOptions<C extends ListCall>({ call, input, rows, nameOf, local = [] }: Source<C>, known: readonly Named[]) {
  const [text, setText] = useState('')
  const keyword = useDeferredValue(text.trim())
  // Every list that is given here takes a keyword.
  const asked = { ...input, query: { page_size: listed, sort: 'name', ...input?.query, ...(keyword !== '' && { keyword }) } } as unknown as RequestInput<C>
  const { data, isFetching } = useCall(call, asked, { silent: true })
  const found = data === undefined ? [] : rows(data).map((row) => ({ value: row.id, label: nameOf(row) }))
  const here = [...local.filter(({ name }) => name.includes(keyword)).map(asOption), ...found]
  const others = known.map(asOption).filter(({ value }) => !here.some((option) => option.value === value))
  return { options: [...here, ...others], props: { showSearch: { filterOption: false, onSearch: setText, searchValue: text }, loading: isFetching } as const }
}

/** Chooses one of what a list answers, which is searched by the server. A control of a form. */
export function SearchSelect<C extends ListCall>({
  label,
  placeholder,
  known,
  id,
  value,
  onChange,
  ...source
}: Source<C> & {
  readonly label: string
  readonly placeholder: string
  /** One that may be chosen before it was found. */
  readonly known?: Named | undefined
  readonly id?: string
  readonly value?: string | undefined
  readonly onChange?: (id: string | undefined) => void
}) {
  const [chosen, setChosen] = useState<Named | null>(null)
  // What was chosen keeps its name when something else is searched.
  const beside = chosen?.id === value ? chosen : known?.id === value ? known : undefined
  const { options, props } = useSearchOptions(source, beside === undefined || beside === null ? [] : [beside])
  return (
    <Select<string>
      {...props}
      {...(id !== undefined && { id })}
      aria-label={label}
      style={{ width: '100%' }}
      allowClear
      placeholder={placeholder}
      value={value ?? null}
      options={options}
      onChange={(next: string | undefined) => {
        const option = options.find((one) => one.value === next)
        setChosen(option === undefined ? null : { id: option.value, name: option.label })
        onChange?.(next)
      }}
    />
  )
}
