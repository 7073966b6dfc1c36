import { alertLogs, alertStatuses, severities, type AlertLog } from '@zhisuan/contract/omc/alarm'
import { lazy } from 'react'
import { useTranslation } from '../../i18n.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import * as format from '../../kit/format.ts'
import { ResourceTable } from '../../kit/ResourceTable.tsx'
import { paths } from '../../paths.ts'
import { useIsPlatform } from '../../session/user.ts'
import { severityTones } from './alarmRules.ts'

const ProcessDialog = lazy(() => import('./ProcessDialog.tsx'))

/** Episodes, newest first: of one alarm, or of all. */
export function AlertTable({ alarmId }: { readonly alarmId?: string }) {
  const { t } = useTranslation('operations')
  const platform = useIsPlatform()
  return (
    <ResourceTable
      name="alerts"
      call={alertLogs.list}
      {...(alarmId !== undefined && { input: { query: { alarm_id: alarmId } } })}
      columns={[
        col.date<AlertLog>('starts_at', t('alert.starts'), ({ starts_at }) => starts_at, { sort: true }),
        col.status<AlertLog>('severity', t('alarm.severity'), ({ severity }) => ({ tone: severityTones[severity], text: t(`alarm.severities.${severity}`) }), {
          width: 90,
          sort: true,
        }),
        col.text<AlertLog>('summary', t('alert.what'), ({ summary }) => summary, {
          width: 320,
          to: ({ alarm }) => (alarm === null || alarmId !== undefined ? null : paths.operations.alarm.detail(alarm.id)),
        }),
        col.status<AlertLog>(
          'status',
          t('column.status'),
          ({ status, starts_at, ends_at, held, escalated_at }) => ({
            tone: status === 'firing' ? 'bad' : 'good',
            text: t(`alert.status.${status}`),
            note:
              ends_at !== null
                ? t('alert.lasted', { time: format.duration(Date.parse(ends_at) - Date.parse(starts_at)) })
                : held !== null
                  ? t(`alert.held.${held}`)
                  : escalated_at !== null
                    ? t('alert.escalated')
                    : '',
          }),
          { width: 180 },
        ),
        col.text<AlertLog>('processed', t('alert.processed'), ({ processed }) => processed?.by ?? t('alert.unprocessed'), {
          width: 180,
          note: ({ processed, silenced_until }) =>
            silenced_until !== null && Date.parse(silenced_until) > Date.now()
              ? t('alert.silenced', { at: format.dateTime(silenced_until) })
              : (processed?.note ?? ''),
        }),
        col.organisation<AlertLog>(t('column.organisation'), { when: platform }),
      ]}
      filters={[
        filter.oneOf('status', t('column.status'), alertStatuses, (one) => t(`alert.status.${one}`)),
        filter.oneOf('severity', t('alarm.severity'), severities, (one) => t(`alarm.severities.${one}`)),
        filter.oneOf('processed', t('alert.processed'), ['true', 'false'], (one) => t(`alert.isProcessed.${one}`)),
        filter.keyword(t('alert.keyword')),
      ]}
      rowActions={(log) => [
        { key: 'process', call: alertLogs.process, label: t('alert.process'), dialog: (close) => <ProcessDialog log={log} onClose={close} /> },
      ]}
      empty={{ title: t('alert.empty'), note: t('alert.emptyNote') }}
    />
  )
}
