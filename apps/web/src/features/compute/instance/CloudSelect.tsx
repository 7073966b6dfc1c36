import Select from 'antd/es/select'
import { useTranslation } from '../../../i18n.ts'
import type { ItemOf } from '../../../api/hooks.ts'
import { useCloudChoices, type CloudListCall } from '../CloudTable.tsx'
import { Trouble } from '../Trouble.tsx'
import '../../../kit/form.css'

/** Something to choose, and what it is found by. */
export interface Choice {
  readonly id: string
  readonly name: string
  /** Beside the name: a size, a range. */
  readonly note?: string
}

interface Props<C extends CloudListCall> {
  readonly call: C
  readonly cloudId: string | null
  readonly label: string
  readonly choiceOf: (row: ItemOf<C>) => Choice
  /** Only these are offered. */
  readonly only?: (row: ItemOf<C>) => boolean
  /** What stands there where there is none. */
  readonly none?: string
  readonly placeholder?: string
  readonly id?: string
  readonly allowClear?: boolean
}

const optionOf = ({ id, name, note }: Choice) => ({
  value: id,
  // Two may be called the same, and some nothing.
  title: `${name} ${note ?? ''} ${id}`,
  label: (
    <>
      {name === '' ? <span className="zs-code">{id}</span> : name} {note !== undefined && note !== '' && <span className="zs-soft">{note}</span>}
    </>
  ),
})

/** A list of the cloud's as choices of a form: what was read so far can be chosen while the rest comes. */
function useChoices<C extends CloudListCall>({ call, cloudId, choiceOf, only }: Props<C>) {
  const result = useCloudChoices(call, cloudId)
  const { data } = result
  const rows = data?.items ?? []
  const options = (only === undefined ? rows : rows.filter(only)).map(choiceOf).map(optionOf)
  return {
    trouble: <Trouble of={[result]} />,
    props: { options, loading: result.isFetching && data?.done !== true, showSearch: { optionFilterProp: 'title' } } as const,
  }
}

/** Chooses one thing of a cloud by its id. A control of a form. */
export function CloudSelect<C extends CloudListCall>(props: Props<C> & { readonly value?: string | null; readonly onChange?: (id: string | null) => void }) {
  const { t } = useTranslation('computeInstance')
  const { trouble, props: choices } = useChoices(props)
  return (
    <>
      {trouble}
      <Select<string>
        {...choices}
        {...(props.id !== undefined && { id: props.id })}
        aria-label={props.label}
        className="zs-field"
        style={{ width: '100%' }}
        placeholder={props.placeholder ?? t('add.choose')}
        notFoundContent={props.none ?? t('detail.none')}
        allowClear={props.allowClear ?? false}
        value={props.value ?? null}
        onChange={(id: string | undefined) => props.onChange?.(id ?? null)}
      />
    </>
  )
}

/** Chooses several. */
export function CloudSelectMany<C extends CloudListCall>(
  props: Props<C> & { readonly most: number; readonly value?: string[]; readonly onChange?: (ids: string[]) => void },
) {
  const { trouble, props: choices } = useChoices(props)
  return (
    <>
      {trouble}
      <Select<string[]>
        {...choices}
        {...(props.id !== undefined && { id: props.id })}
        mode="multiple"
        maxCount={props.most}
        aria-label={props.label}
        className="zs-field"
        style={{ width: '100%' }}
        value={props.value ?? []}
        onChange={(ids: string[]) => props.onChange?.(ids)}
      />
    </>
  )
}
