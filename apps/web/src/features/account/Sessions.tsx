import Skeleton from 'antd/es/skeleton'
import Tag from 'antd/es/tag'
import { useTranslation } from '../../i18n.ts'
import { users } from '@zhisuan/contract/ums/user'
import { useCall, useChange } from '../../api/hooks.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { deviceText } from '../../session/device.ts'
import './account.css'

/** Where one is signed in; the others can be ended. */
export function Sessions() {
  const { t } = useTranslation('account')
  const { data, error, refetch } = useCall(users.ownSessions, {}, { silent: true })
  const end = useChange(users.endOwnSession, { invalidates: [users.ownSessions] })
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 2 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const others = data.items.filter(({ current }) => !current)
  return (
    <>
      <ul className="account-sessions">
        {[...data.items.filter(({ current }) => current), ...others].map(({ id, user_agent, ip, created_at, renewed_at, current }) => {
          const device = deviceText(user_agent)
          return (
            <li key={id}>
              <div>
                <span title={user_agent}>{device}</span> {current && <Tag>{t('sessions.current')}</Tag>}
                <div className="zs-soft">{t('sessions.used', { ip, created: format.dateTime(created_at), renewed: format.dateTime(renewed_at) })}</div>
              </div>
              {!current && (
                <ActionMenu
                  label={device}
                  actions={[
                    {
                      key: 'end',
                      call: users.endOwnSession,
                      label: t('sessions.end'),
                      danger: true,
                      confirm: { title: t('sessions.endTitle'), body: t('sessions.endBody', { device }) },
                      doneText: t('sessions.ended'),
                      run: () => end.mutateAsync({ params: { session_id: id } }),
                    },
                  ]}
                />
              )}
            </li>
          )
        })}
      </ul>
      {others.length > 1 && (
        <ActionMenu
          look="default"
          label={t('sessions.title')}
          actions={[
            {
              key: 'endOthers',
              call: users.endOwnSession,
              label: t('sessions.endOthers'),
              danger: true,
              confirm: { title: t('sessions.endOthersTitle'), body: t('sessions.endOthersBody', { count: others.length }) },
              doneText: t('sessions.othersEnded'),
              run: () => Promise.all(others.map(({ id }) => end.mutateAsync({ params: { session_id: id } }))),
            },
          ]}
        />
      )}
    </>
  )
}
