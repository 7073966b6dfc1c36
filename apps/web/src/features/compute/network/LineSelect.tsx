import Select from 'antd/es/select'
import { useMemo } from 'react'
import type { ItemOf } from '../../../api/hooks.ts'
import { useCloudChoices, type CloudListCall } from '../CloudTable.tsx'
import { Trouble } from '../Trouble.tsx'

interface Props<C extends CloudListCall> {
  readonly call: C
  readonly cloudId: string | null
  /** Those that may be chosen; by id, what it is called, and what more stands in it where it is a group of them. */
  readonly options: (items: readonly ItemOf<C>[]) => readonly { readonly value: string; readonly label: string }[]
  readonly label: string
  readonly placeholder?: string
  readonly id?: string
  readonly disabled?: boolean
}

/** Chooses among what a list of the cloud has. A control of a form. */
export function LineSelect<C extends CloudListCall>({
  value,
  onChange,
  ...props
}: Props<C> & { readonly value?: string | undefined; readonly onChange?: (id: string | undefined) => void }) {
  const { trouble, shared } = useChoice(props)
  return (
    <>
      {trouble}
      <Select<string> {...shared} allowClear value={value ?? null} onChange={(next: string | undefined) => onChange?.(next)} />
    </>
  )
}

/** Chooses several. */
export function LineSelects<C extends CloudListCall>({
  value = [],
  onChange,
  ...props
}: Props<C> & { readonly value?: string[]; readonly onChange?: (ids: string[]) => void }) {
  const { trouble, shared } = useChoice(props)
  return (
    <>
      {trouble}
      <Select<string[]> {...shared} mode="multiple" value={value} onChange={(next) => onChange?.(next)} />
    </>
  )
}

function useChoice<C extends CloudListCall>({ call, cloudId, options, label, placeholder, id, disabled }: Props<C>) {
  const lines = useCloudChoices(call, cloudId)
  const items = lines.data?.items
  // The rule is written anew with each render, and says the same of the same items.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const shown = useMemo(() => options(items ?? []).map((option) => ({ ...option })), [items, disabled, placeholder])
  const shared = {
    ...(id !== undefined && { id }),
    'aria-label': label,
    style: { width: '100%' },
    showSearch: { optionFilterProp: 'label' },
    placeholder,
    options: shown,
    loading: lines.isFetching && items === undefined,
    disabled: disabled ?? false,
  } as const
  return { shared, trouble: <Trouble of={[lines]} /> }
}
