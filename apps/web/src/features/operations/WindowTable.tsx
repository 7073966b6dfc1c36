import { alarmWindows, type AlarmWindow } from '@zhisuan/contract/omc/alarm'
import { lazy } from 'react'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { useIsPlatform } from '../../session/user.ts'
import { invalidatedByWindow, windowTones } from './alarmRules.ts'

const WindowDialog = lazy(() => import('./WindowDialog.tsx'))

/** When nobody is told of alarms, as somebody works there. */
export function WindowTable() {
  const { t } = useTranslation('operations')
  const platform = useIsPlatform()
  const remove = useChange(alarmWindows.delete, { invalidates: invalidatedByWindow, silent: true })
  return (
    <ResourceTable
      name="alarmWindows"
      call={alarmWindows.list}
      columns={[
        col.name<AlarmWindow>('name', t('column.name'), ({ name }) => name, { sort: true }),
        col.status<AlarmWindow>('status', t('column.status'), ({ status }) => ({ tone: windowTones[status], text: t(`window.status.${status}`) }), {
          width: 100,
        }),
        col.date<AlarmWindow>('starts_at', t('window.starts'), ({ starts_at }) => starts_at, { sort: true }),
        col.date<AlarmWindow>('ends_at', t('window.ends'), ({ ends_at }) => ends_at),
        col.text<AlarmWindow>(
          'nodes',
          t('alarm.nodes'),
          ({ nodes, everything }) => (everything ? t('window.everything') : nodes.map(({ name }) => name).join('、')),
          {
            width: 240,
          },
        ),
        col.organisation<AlarmWindow>(t('column.organisation'), { when: platform }),
        col.text<AlarmWindow>('created_by', t('column.creator'), ({ created_by }) => created_by, { width: 120 }),
      ]}
      filters={[filter.keyword(t('window.keyword'))]}
      rowActions={(window) => [
        { key: 'edit', call: alarmWindows.update, label: t('edit'), dialog: (close) => <WindowDialog window={window} onClose={close} /> },
        {
          key: 'delete',
          call: alarmWindows.delete,
          label: t('delete'),
          danger: true,
          confirm: {
            title: t('window.deleteTitle', { name: window.name }),
            body: t(window.status === 'lasting' ? 'window.deleteBody' : 'window.deleteOtherBody'),
          },
          doneText: t('isDeleted', { name: window.name }),
          run: () => remove.mutateAsync({ params: { id: window.id } }),
        },
      ]}
      create={{ call: alarmWindows.create, label: t('window.create'), plain: true, dialog: (close) => <WindowDialog window={null} onClose={close} /> }}
      empty={{ title: t('window.empty'), note: t('window.emptyNote') }}
    />
  )
}
