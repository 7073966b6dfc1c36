import { alarms, type Alarm } from '@zhisuan/contract/omc/alarm'
import Alert from 'antd/es/alert'
import { useParams } from 'react-router'
import { useOne } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { DetailPage } from '../../kit/DetailPage.tsx'
import * as format from '../../kit/format.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import { AlertTable } from './AlertTable.tsx'
import { ruleText, ruleTones, severityTones } from './alarmRules.ts'
import { useAlarmActions } from './useAlarmActions.ts'
import './operations.css'

/** One alarm: its rule, whether it works, and its episodes. */
export default function AlarmDetail() {
  const { t } = useTranslation('operations')
  const { id = '' } = useParams()
  const actionsOf = useAlarmActions()
  const query = useOne(alarms.get, { params: { id } }, { refreshMs: 5_000 })
  return (
    <DetailPage<Alarm>
      query={query}
      gone={{ title: t('alarm.gone'), back: t('alarm.back'), to: paths.operations.alarm.list() }}
      title={({ name }) => name}
      status={({ status }) => <StatusTag tone={status === 'active' ? 'good' : 'rest'}>{t(`alarm.status.${status}`)}</StatusTag>}
      actions={actionsOf}
      notice={({ rule_error, rule_state }) =>
        rule_error !== null ? (
          <Alert
            className="zs-above"
            type="error"
            showIcon
            title={t(rule_state === 'loaded' ? 'alarm.ruleFails' : 'alarm.ruleState.refused')}
            description={<pre className="om-config">{rule_error}</pre>}
          />
        ) : rule_state === 'none' ? (
          <Alert className="zs-above" type="warning" showIcon title={t('alarm.noPrometheus')} />
        ) : null
      }
      facts={(alarm) => [
        {
          key: 'severity',
          label: t('alarm.severity'),
          value: <StatusTag tone={severityTones[alarm.severity]}>{t(`alarm.severities.${alarm.severity}`)}</StatusTag>,
        },
        {
          key: 'state',
          label: t('alarm.ruleState.title'),
          value: <StatusTag tone={ruleTones[alarm.rule_state]}>{t(`alarm.ruleState.${alarm.rule_state}`)}</StatusTag>,
        },
        { key: 'group', label: t('alarm.group'), value: alarm.group || format.nothing },
        {
          key: 'rule',
          label: t('alarm.rule'),
          value: alarm.rule.kind === 'promql' ? <span className="zs-code">{alarm.rule.query}</span> : ruleText(t, alarm.rule),
        },
        { key: 'for', label: t('alarm.forSeconds'), value: t('settings.seconds', { count: alarm.for_seconds }) },
        { key: 'missing', label: t('alarm.noData'), value: t(`alarm.noDataWays.${alarm.no_data}`) },
        { key: 'receivers', label: t('alarm.receivers'), value: alarm.receivers.map(({ name }) => name).join('、') || format.nothing },
        ...(alarm.escalation === null
          ? []
          : [
              {
                key: 'escalation',
                label: t('alarm.escalateTo'),
                value: t('alarm.escalationAfter', {
                  minutes: alarm.escalation.after_minutes,
                  names: alarm.escalation.receivers.map(({ name }) => name).join('、'),
                }),
              },
            ]),
        { key: 'description', label: t('column.description'), value: alarm.description || format.nothing },
        { key: 'by', label: t('column.creator'), value: alarm.created_by },
        { key: 'created', label: t('column.created'), value: format.dateTime(alarm.created_at) },
      ]}
      tabs={(alarm) => [{ key: 'logs', label: t('alert.title'), content: <AlertTable alarmId={alarm.id} /> }]}
    />
  )
}
