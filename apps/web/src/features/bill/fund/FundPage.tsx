import Skeleton from 'antd/es/skeleton'
import { useTranslation } from '../../../i18n.ts'
import { useSearchParams } from 'react-router'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { balanceOwner, useCurrentUser, useIsPlatform } from '../../../session/user.ts'
import { paths } from '../../../paths.ts'
import { OrganisationSelect } from '../../../kit/OrganisationSelect.tsx'
import { EntryTable } from './EntryTable.tsx'
import { InvoiceTable } from './InvoiceTable.tsx'
import { TitleTable } from './TitleTable.tsx'
import './fund.css'

/** Income and expense, and the invoices about it. */
export default function FundPage() {
  const { t } = useTranslation('fund')
  const user = useCurrentUser()
  const own = user === null ? null : balanceOwner(user)
  if (own === null)
    return <div className="zs-card">{user === null ? <Skeleton active /> : <EmptyState title={t('wallet.none')}>{t('wallet.noneNote')}</EmptyState>}</div>
  return (
    <DetailTabs
      tabs={[
        { key: 'entries', label: t('fund.tab.entries'), content: <Entries own={own} /> },
        { key: 'invoices', label: t('fund.tab.invoices'), content: <InvoiceTable /> },
        { key: 'titles', label: t('fund.tab.titles'), content: <TitleTable /> },
      ]}
    />
  )
}

/** One's own account; administrators look at any. */
function Entries({ own }: { readonly own: string }) {
  const { t } = useTranslation('fund')
  const platform = useIsPlatform()
  const [search, setSearch] = useSearchParams()
  const owner = (platform ? search.get('owner') : null) ?? own
  return (
    <>
      {platform && (
        <div className="bf-whose">
          <OrganisationSelect
            label={t('fund.whose')}
            value={owner === own ? undefined : owner}
            onChange={(id) => setSearch(id === undefined ? {} : { owner: id }, { replace: true })}
          />
        </div>
      )}
      <EntryTable key={owner} owner={owner} path={paths.billing.fund()} {...(owner !== own && { query: { owner } })} />
    </>
  )
}
