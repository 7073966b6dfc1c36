import Alert from 'antd/es/alert'
import { users } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { DetailTabs } from '../../kit/DetailPage.tsx'
import { withQuery } from '../../paths.ts'
import { InvitationTable } from './InvitationTable.tsx'
import { useOrganisationFilter } from '../../kit/useOrganisationFilter.tsx'
import { UserTable } from './UserTable.tsx'
import { useKeeping } from '../../session/keeping.ts'

/** Everybody, and who was asked in. */
export default function UserList() {
  const { t } = useTranslation('identity')
  return (
    <>
      <Pending />
      <DetailTabs
        tabs={[
          { key: 'users', label: t('user.tab.users'), content: <Users /> },
          { key: 'invitations', label: t('user.tab.invitations'), content: <InvitationTable /> },
        ]}
      />
    </>
  )
}

function Users() {
  const { organisation, control } = useOrganisationFilter()
  const { everybody } = useKeeping()
  return everybody ? <UserTable organisation={organisation} toolbar={control} /> : <UserTable />
}

/** Who waits to be let in, where registering takes an approval. */
function Pending() {
  const { t } = useTranslation('identity')
  const { pages } = useKeeping()
  const { data } = useCall(users.list, { query: { status: 'pending', page_size: 1 } }, { silent: true, refreshMs: 30_000 })
  if (data === undefined || data.total === 0) return null
  return (
    <Alert
      type="info"
      showIcon
      className="zs-above"
      title={t('user.pending', { count: data.total })}
      action={<Link to={withQuery(pages.user.list(), { status: 'pending' })}>{t('user.showPending')}</Link>}
    />
  )
}
