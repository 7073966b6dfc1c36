import { alarmCan, alarms, type Alarm } from '@zhisuan/contract/omc/alarm'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import type { Action } from '../../kit/actions.tsx'
import { allowed } from '../../kit/allowed.ts'
import { paths } from '../../paths.ts'
import { invalidatedByAlarm } from './alarmRules.ts'

/** What can be done to an alarm. */
export function useAlarmActions(): (alarm: Alarm) => readonly Action[] {
  const { t } = useTranslation('operations')
  const act = useChange(alarms.activate, { invalidates: invalidatedByAlarm, silent: true })
  const remove = useChange(alarms.delete, { invalidates: invalidatedByAlarm, silent: true })
  return ({ id, name, status, firing_count: firing }) => {
    const whyNot = allowed(alarmCan, 'deactivate', status, t(`alarm.status.${status}`))
    const run = (action: Alarm['status']) => () => act.mutateAsync({ params: { id }, query: { action } })
    return [
      { key: 'edit', call: alarms.update, label: t('edit'), href: paths.operations.alarm.edit(id) },
      status === 'active'
        ? {
            key: 'deactivate',
            call: alarms.activate,
            label: t('alarm.deactivate'),
            disabledReason: whyNot,
            confirm: { title: t('alarm.deactivateTitle', { name }), body: t('alarm.deactivateBody', { count: firing }) },
            doneText: t('alarm.deactivated', { name }),
            run: run('deactive'),
          }
        : { key: 'activate', call: alarms.activate, label: t('alarm.activate'), doneText: t('alarm.activated', { name }), run: run('active') },
      {
        key: 'delete',
        call: alarms.delete,
        label: t('delete'),
        danger: true,
        confirm: { title: t('alarm.deleteTitle', { name }), body: t('alarm.deleteBody', { count: firing }) },
        doneText: t('isDeleted', { name }),
        run: () => remove.mutateAsync({ params: { id } }),
      },
    ]
  }
}
