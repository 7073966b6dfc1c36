import { alarms, alarmStatuses, severities, type Alarm } from '@zhisuan/contract/omc/alarm'
import { useCall } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { useIsPlatform } from '../../session/user.ts'
import { ruleText, ruleTones, severityTones } from './alarmRules.ts'
import { useAlarmActions } from './useAlarmActions.ts'

/** What is watched: whether its rule works, and what of it goes on. */
export function AlarmTable() {
  const { t } = useTranslation('operations')
  const platform = useIsPlatform()
  const actionsOf = useAlarmActions()
  const { data: groups } = useCall(alarms.groups, {}, { silent: true })
  const named = (groups?.items ?? []).filter(({ group }) => group !== '').map(({ group }) => group)
  return (
    <ResourceTable
      name="alarms"
      call={alarms.list}
      columns={[
        col.name<Alarm>('name', t('column.name'), ({ name }) => name, {
          sort: true,
          to: ({ id }) => paths.operations.alarm.detail(id),
          note: ({ group }) => group,
        }),
        col.status<Alarm>('severity', t('alarm.severity'), ({ severity }) => ({ tone: severityTones[severity], text: t(`alarm.severities.${severity}`) }), {
          width: 90,
          sort: true,
        }),
        col.text<Alarm>('rule', t('alarm.rule'), ({ rule }) => ruleText(t, rule), {
          width: 260,
          note: ({ for_seconds }) => (for_seconds === 0 ? '' : t('alarm.lasts', { minutes: Math.round(for_seconds / 6) / 10 })),
        }),
        col.status<Alarm>(
          'state',
          t('column.status'),
          ({ status, rule_state, rule_error, firing_count }) =>
            status === 'deactive'
              ? { tone: 'rest', text: t('alarm.status.deactive') }
              : rule_state !== 'loaded'
                ? { tone: ruleTones[rule_state], text: t(`alarm.ruleState.${rule_state}`), note: rule_error }
                : firing_count > 0
                  ? { tone: 'bad', text: t('alarm.firing', { count: firing_count }) }
                  : { tone: 'good', text: t('alarm.quiet') },
          { width: 150 },
        ),
        col.tags<Alarm>('receivers', t('alarm.receivers'), ({ receivers }) => receivers.map(({ name }) => name), { width: 180 }),
        col.organisation<Alarm>(t('column.organisation'), { when: platform }),
        col.date<Alarm>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      passing={({ status, rule_state }) => status === 'active' && rule_state === 'waiting'}
      filters={[
        filter.oneOf('severity', t('alarm.severity'), severities, (one) => t(`alarm.severities.${one}`)),
        filter.oneOf('status', t('column.status'), alarmStatuses, (one) => t(`alarm.status.${one}`)),
        ...(named.length === 0 ? [] : [filter.oneOf('group', t('alarm.group'), named)]),
        filter.keyword(t('alarm.keyword')),
      ]}
      rowActions={actionsOf}
      create={{ call: alarms.create, label: t('alarm.create'), href: paths.operations.alarm.edit('') }}
      empty={{ title: t('alarm.empty'), note: t('alarm.emptyNote') }}
    />
  )
}
