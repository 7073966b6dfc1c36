import { users, type Session } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { deviceText } from '../../session/device.ts'

/** Where somebody is signed in; each can be ended alone. */
export function UserSessions({ id }: { readonly id: string }) {
  const { t } = useTranslation('identity')
  const end = useChange(users.endSession, { invalidates: [users.sessions] })
  return (
    <ResourceTable
      name="sessions"
      call={users.sessions}
      input={{ params: { id } }}
      columns={[
        col.name<Session>('device', t('column.device'), ({ user_agent }) => deviceText(user_agent), {
          width: 220,
          note: ({ current }) => (current ? t('session.current') : ''),
        }),
        col.code<Session>('ip', t('column.ip'), ({ ip }) => ip, { width: 160 }),
        col.date<Session>('created', t('column.signedIn'), ({ created_at }) => created_at),
        col.date<Session>('renewed', t('column.renewed'), ({ renewed_at }) => renewed_at),
        col.date<Session>('expires', t('column.expires'), ({ expires_at }) => expires_at),
      ]}
      rowActions={({ id: session, user_agent, current }) => [
        {
          key: 'end',
          call: users.endSession,
          label: t('session.end'),
          danger: true,
          disabledReason: current ? t('session.currentStays') : null,
          confirm: { title: t('session.endTitle'), body: t('session.endBody', { device: deviceText(user_agent) }) },
          doneText: t('session.ended'),
          run: () => end.mutateAsync({ params: { id, session_id: session } }),
        },
      ]}
      empty={{ title: t('session.empty'), note: t('session.emptyNote') }}
    />
  )
}
