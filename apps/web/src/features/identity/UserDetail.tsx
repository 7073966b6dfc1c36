import Alert from 'antd/es/alert'
import { users } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../api/hooks.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { withQuery } from '../../paths.ts'
import { kindKey } from '../../kit/roleNames.ts'
import { AccessKeyTable } from './AccessKeyTable.tsx'
import { AuditTable } from './AuditTable.tsx'
import { UserProjects } from './UserProjects.tsx'
import { UserRights } from './UserRights.tsx'
import { UserSessions } from './UserSessions.tsx'
import { useUserActions } from './useUserActions.tsx'
import { userTone } from './userText.ts'
import { useKeeping } from '../../session/keeping.ts'

/** One user: who they are, what they may, where they work and are signed in, and what they did. */
export default function UserDetail() {
  const { t } = useTranslation(['identity', 'account'])
  const { everybody, pages } = useKeeping()
  const navigate = useNavigate()
  const { id = '' } = useParams()
  const query = useOne(users.get, { params: { id } }, { refreshMs: 5_000 })
  const { actionsOf } = useUserActions(() => void navigate(pages.user.list()))
  return (
    <DetailPage
      query={query}
      gone={{ to: pages.user.list() }}
      title={({ name }) => name}
      status={({ status }) => <StatusTag tone={userTone(status)}>{t(`user.status.${status}`)}</StatusTag>}
      actions={actionsOf}
      facts={(user) => [
        { key: 'nickname', label: t('user.nickname'), value: user.nickname },
        { key: 'kind', label: t('user.kind'), value: t(`account:kindNames.${kindKey(user.kind)}`) },
        {
          key: 'organisation',
          label: t('user.organisation'),
          value:
            user.bp_id === null ? t('platform') : everybody ? <Link to={withQuery(pages.partners(), { id: user.bp_id })}>{user.bp_name}</Link> : user.bp_name,
        },
        { key: 'phone', label: t('column.phone'), value: user.phone ?? format.nothing },
        { key: 'email', label: t('column.email'), value: user.email ?? format.nothing },
        { key: 'second', label: t('user.secondFactor'), value: t(user.second_factor ? 'user.secondOn' : 'user.secondOff') },
        { key: 'last', label: t('column.lastLogin'), value: format.dateTime(user.last_login_at) },
        { key: 'created', label: t('column.created'), value: format.dateTime(user.created_at) },
        { key: 'id', label: t('column.id'), value: <span className="zs-code">{user.id}</span> },
        { key: 'description', label: t('description'), value: user.description || format.nothing },
      ]}
      notice={(user) => (
        <>
          {user.attacked_at !== null && (
            <Alert type="error" showIcon className="zs-above" title={t('user.attackedAt', { at: format.dateTime(user.attacked_at) })} />
          )}
          {user.frozen_until !== null && (
            <Alert type="warning" showIcon className="zs-above" title={t('user.frozenUntil', { at: format.dateTime(user.frozen_until) })} />
          )}
          {user.must_change_password && <Alert type="info" showIcon className="zs-above" title={t('user.mustChange')} />}
        </>
      )}
      tabs={(user) => [
        { key: 'rights', label: t('user.detailTab.rights'), content: <UserRights user={user} /> },
        { key: 'projects', label: t('user.detailTab.projects'), content: <UserProjects user={user} /> },
        { key: 'sessions', label: t('user.detailTab.sessions'), content: <UserSessions id={user.id} /> },
        { key: 'keys', label: t('user.detailTab.keys'), content: <AccessKeyTable name="keys" userId={user.id} /> },
        { key: 'audit', label: t('user.detailTab.audit'), content: <AuditTable name="audit" query={{ actor_id: user.id }} /> },
      ]}
    />
  )
}
