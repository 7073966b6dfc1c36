import Select from 'antd/es/select'
import { organisations, type Organisation } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../i18n.ts'
import { labelled } from './fields.tsx'
import { SearchSelect, useSearchOptions, type Named } from './SearchSelect.tsx'

interface Control<Value> {
  readonly id?: string
  readonly label: string
  readonly value?: Value | undefined
}

const source = { call: organisations.list, rows: ({ items }: { items: Organisation[] }) => items, nameOf: ({ name }: Organisation) => name } as const

/** One organisation, found by its name. */
export function OrganisationSelect(control: Control<string> & { readonly known?: Named | undefined; readonly onChange?: (id: string | undefined) => void }) {
  const { t } = useTranslation('kit')
  return <SearchSelect {...control} {...source} placeholder={t('search.organisation')} />
}

export const OrganisationField = labelled(OrganisationSelect)

/** Several of them. */
export function OrganisationsSelect({
  id,
  label,
  known,
  value,
  onChange,
}: Control<readonly string[]> & { readonly known: readonly Named[]; readonly onChange?: (ids: string[]) => void }) {
  const { t } = useTranslation('kit')
  const { options, props } = useSearchOptions(source, known)
  return (
    <Select<string[]>
      {...props}
      {...(id !== undefined && { id })}
      mode="multiple"
      aria-label={label}
      placeholder={t('search.organisation')}
      value={[...(value ?? [])]}
      options={options}
      onChange={(ids) => onChange?.(ids)}
    />
  )
}
