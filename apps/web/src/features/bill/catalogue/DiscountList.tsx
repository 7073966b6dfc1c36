import { useSearchParams } from 'react-router'
import { useTranslation } from '../../../i18n.ts'
import { OrganisationSelect } from '../../../kit/OrganisationSelect.tsx'
import { useNamedOrganisation } from '../../../kit/useOrganisationFilter.tsx'
import './catalogue.css'
import { DiscountTable } from './DiscountTable.tsx'
import { PastNote } from './PastNote.tsx'

/** Who pays less, for what and how long. */
export default function DiscountList() {
  const { t } = useTranslation('catalogue')
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
  return (
    <>
      <PastNote />
      <DiscountTable
        organisation={id === undefined ? undefined : { id, name: known?.name ?? '' }}
        control={
          <span className="bc-filter">
            <OrganisationSelect label={t('discount.organisation')} value={id} known={known} onChange={choose} />
          </span>
        }
      />
    </>
  )
}
