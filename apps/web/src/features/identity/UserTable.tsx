import { roles } from '@zhisuan/contract/roles'
import { users, userStatuses, type User } from '@zhisuan/contract/ums/user'
import { useTranslation } from '../../i18n.ts'
import type { ReactNode } from 'react'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import type { Named } from '../../kit/SearchSelect.tsx'
import { withQuery } from '../../paths.ts'
import { kindKey, useRoleName } from '../../kit/roleNames.ts'
import { useUserActions } from './useUserActions.tsx'
import { userTone } from './userText.ts'
import { useKeeping } from '../../session/keeping.ts'

/** Users of the platform, or of one organisation. */
export function UserTable({
  name,
  organisation,
  toolbar,
}: {
  readonly name?: string
  readonly organisation?: Named | undefined
  readonly toolbar?: ReactNode
}) {
  const { t } = useTranslation(['identity', 'account'])
  const { everybody, pages } = useKeeping()
  const roleName = useRoleName()
  const { actionsOf } = useUserActions()
  return (
    <ResourceTable
      {...(name !== undefined && { name })}
      call={users.list}
      input={{ query: { ...(organisation !== undefined && { bp_id: organisation.id }) } }}
      columns={[
        col.name<User>('name', t('column.user'), (user) => user.name, {
          sort: true,
          width: 180,
          to: ({ id }) => pages.user.detail(id),
          note: (user) => (user.nickname === user.name ? '' : user.nickname),
        }),
        col.status<User>('status', t('column.state'), ({ status }) => ({ tone: userTone(status), text: t(`user.status.${status}`) }), { width: 100 }),
        col.text<User>('kind', t('column.userKind'), ({ kind }) => t(`account:kindNames.${kindKey(kind)}`), { width: 100, off: true }),
        col.text<User>('organisation', t('column.organisation'), ({ bp_name }) => bp_name ?? t('platform'), {
          when: everybody && organisation === undefined,
          to: ({ bp_id }) => (bp_id === null || !everybody ? null : withQuery(pages.partners(), { id: bp_id })),
          width: 160,
        }),
        col.tags<User>('roles', t('column.roles'), ({ permissions }) => permissions.map(({ role }) => roleName({ name: role })), { width: 160 }),
        col.text<User>('phone', t('column.phone'), ({ phone }) => phone, { width: 120 }),
        col.text<User>('email', t('column.email'), ({ email }) => email, { width: 180, off: true }),
        col.date<User>('last_login_at', t('column.lastLogin'), ({ last_login_at }) => last_login_at, { sort: true }),
        col.date<User>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        col.code<User>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[
        filter.keyword(t('user.keyword')),
        filter.oneOf('role', t('column.role'), roles, (value) => roleName({ name: value })),
        filter.oneOf('status', t('column.state'), userStatuses, (value) => t(`user.status.${value}`)),
      ]}
      rowActions={actionsOf}
      create={{ call: users.create, label: t('user.create'), href: withQuery(pages.user.add(), { bp_id: organisation?.id }) }}
      toolbar={toolbar}
      empty={{ title: t('user.empty') }}
    />
  )
}
