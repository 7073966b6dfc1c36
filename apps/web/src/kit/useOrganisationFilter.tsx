import { organisations } from '@zhisuan/contract/ums/user'
import type { ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { useSearchParams } from 'react-router'
import { useCall } from '../api/hooks.ts'
import type { Named } from './SearchSelect.tsx'
import { OrganisationSelect } from './OrganisationSelect.tsx'
import './table.css'

/** The organisation that the address names; what it is called, once that is known. */
export function useNamedOrganisation(): { readonly id: string | undefined; readonly known: Named | undefined } {
  const [search] = useSearchParams()
  const id = search.get('bp_id') ?? undefined
  const { data } = useCall(organisations.get, { params: { id: id ?? '' } }, { silent: true, enabled: id !== undefined })
  return { id, known: data?.id === id ? data : undefined }
}

/** The organisation that a list's address names, and the control that names it there. */
export function useOrganisationFilter(): { readonly organisation: Named | undefined; readonly control: ReactNode } {
  const { t } = useTranslation('kit')
  const [, setSearch] = useSearchParams()
  const { id, known } = useNamedOrganisation()
  const choose = (next: string | undefined): void =>
    setSearch(
      (now) => {
        const changed = new URLSearchParams(now)
        changed.delete('page')
        if (next === undefined) changed.delete('bp_id')
        else changed.set('bp_id', next)
        return changed
      },
      { replace: true },
    )
  return {
    organisation: id === undefined ? undefined : { id, name: known?.name ?? '' },
    control: (
      <span className="zs-filter-organisation">
        <OrganisationSelect label={t('search.byOrganisation')} value={id} known={known} onChange={choose} />
      </span>
    ),
  }
}
