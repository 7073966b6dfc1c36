import { accessKeyCan, accessKeys, accessKeyStatuses, type KeptAccessKey } from '@zhisuan/contract/ums/access-key'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { allowed } from '../../kit/allowed.ts'
import type { Action } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useKeeping } from '../../session/keeping.ts'
import { keyTones, shownStatus } from '../../kit/accessKeyState.ts'

const stale = [accessKeys.all] as const

/** Access keys of the people whom one keeps, or of one of them: blocked, so that they cannot be used, and deleted. */
export function AccessKeyTable({ name, userId }: { readonly name?: string; readonly userId?: string }) {
  const { t } = useTranslation(['identity', 'account'])
  const { pages } = useKeeping()
  const block = useChange(accessKeys.block, { invalidates: stale })
  const unblock = useChange(accessKeys.unblock, { invalidates: stale })
  const remove = useChange(accessKeys.deleteOf, { invalidates: stale })
  const actionsOf = ({ id, name: key, status, user }: KeptAccessKey): readonly Action[] => {
    const params = { id, user_id: user.id }
    const why = (action: 'block' | 'unblock') => allowed(accessKeyCan, action, status, t(`account:accessKey.statuses.${status}`))
    return [
      status === 'blocked'
        ? {
            key: 'unblock',
            call: accessKeys.unblock,
            label: t('accessKey.unblock'),
            disabledReason: why('unblock'),
            doneText: t('accessKey.unblocked', { name: key }),
            run: () => unblock.mutateAsync({ params }),
          }
        : {
            key: 'block',
            call: accessKeys.block,
            label: t('accessKey.block'),
            danger: true,
            disabledReason: why('block'),
            confirm: { title: t('accessKey.blockTitle', { name: key }), body: t('accessKey.blockBody', { user: user.name }) },
            doneText: t('accessKey.blocked', { name: key }),
            run: () => block.mutateAsync({ params }),
          },
      {
        key: 'delete',
        call: accessKeys.deleteOf,
        label: t('action.delete'),
        danger: true,
        confirm: { title: t('account:accessKey.deleteTitle', { name: key }), body: t('account:accessKey.deleteBody') },
        doneText: t('deleted', { name: key }),
        run: () => remove.mutateAsync({ params }),
      },
    ]
  }
  return (
    <ResourceTable
      {...(name !== undefined && { name })}
      call={accessKeys.all}
      input={{ query: { ...(userId !== undefined && { user_id: userId }) } }}
      columns={[
        col.name<KeptAccessKey>('name', t('column.name'), (key) => key.name, {
          sort: true,
          width: 200,
          note: ({ hint }) => t('account:accessKey.hint', { hint }),
        }),
        col.text<KeptAccessKey>('user', t('column.user'), ({ user }) => user.name, {
          when: userId === undefined,
          to: ({ user }) => pages.user.detail(user.id),
          width: 160,
        }),
        col.status<KeptAccessKey>(
          'status',
          t('column.state'),
          (key) => ({ tone: keyTones[shownStatus(key)], text: t(`account:accessKey.statuses.${shownStatus(key)}`) }),
          { width: 140 },
        ),
        col.text<KeptAccessKey>('scheme', t('account:accessKey.scheme'), ({ scheme }) => t(`account:accessKey.schemes.${scheme}`), { width: 90 }),
        col.date<KeptAccessKey>('last_used_at', t('accessKey.lastUsed'), ({ last_used_at }) => last_used_at, { sort: true }),
        col.code<KeptAccessKey>('last_used_ip', t('accessKey.lastIp'), ({ last_used_ip }) => last_used_ip, { width: 130, off: true }),
        col.date<KeptAccessKey>('expires_at', t('column.expires'), ({ expires_at }) => expires_at, { sort: true }),
        col.date<KeptAccessKey>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        col.code<KeptAccessKey>('id', t('column.id'), ({ id }) => id, { off: true }),
      ]}
      filters={[
        filter.keyword(t('accessKey.keyword')),
        filter.oneOf('status', t('column.state'), accessKeyStatuses, (value) => t(`account:accessKey.statuses.${value}`)),
      ]}
      rowActions={actionsOf}
      empty={{ title: t('accessKey.empty'), note: t('accessKey.emptyNote') }}
    />
  )
}
