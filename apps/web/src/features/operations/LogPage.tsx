import { errorByCode } from '@zhisuan/contract/errors'
import { apiLogs, callOutcomes, type ApiLog } from '@zhisuan/contract/omc/log'
import Button from 'antd/es/button'
import type { BodyInput } from '@zhisuan/contract/define'
import { useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { actionText } from '../../kit/actionText.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { saveFrom } from '../../kit/save.ts'
import { useIsPlatform } from '../../session/user.ts'
import { CallTrend } from './CallTrend.tsx'
import { OnwardsTable } from './OnwardsTable.tsx'
import { TimeFilters, useTimeFilters } from './TimeFilters.tsx'

const tones = { ok: 'good', refused: 'warning', failed: 'bad' } as const

/** Every call: who made it, how it ended, how long it took. */
export default function LogPage() {
  const { t } = useTranslation('operations')
  const platform = useIsPlatform()
  const times = useTimeFilters()
  const save = useChange(apiLogs.export, { onDone: ({ path }) => saveFrom(path) })
  return (
    <>
      <div className="zs-card">
        <CallTrend />
      </div>
      <div className="zs-card">
        <TimeFilters times={times} />
        <OnwardsTable<ApiLog, typeof apiLogs.list>
          call={apiLogs.list}
          query={times.given}
          columns={[
            col.date<ApiLog>('at', t('column.at'), ({ at }) => at),
            col.text<ApiLog>('actor', t('column.actor'), ({ actor }) => actor?.name ?? t('log.nobody'), { note: ({ ip }) => ip, width: 150 }),
            col.text<ApiLog>('call', t('column.call'), ({ call }) => actionText(call), { note: ({ call }) => call, width: 240 }),
            col.status<ApiLog>(
              'outcome',
              t('column.result'),
              ({ outcome, code, status }) => ({
                tone: tones[outcome],
                text: t(`log.outcome.${outcome}`),
                note: outcome === 'ok' ? '' : (errorByCode.get(code)?.text.replaceAll(/[：:，]?\{\w+\}/g, '…') ?? String(status)),
              }),
              { width: 200 },
            ),
            col.number<ApiLog>('ms', t('log.ms'), ({ ms }) => ms, { width: 100 }),
            col.text<ApiLog>('by', t('log.by'), ({ by_key, actor }) => (actor === null ? null : t(by_key ? 'log.byKey' : 'log.bySession')), {
              width: 100,
              off: true,
            }),
            col.organisation<ApiLog>(t('column.organisation'), { when: platform }),
            col.code<ApiLog>('request_id', t('log.request'), ({ request_id }) => request_id, { width: 130 }),
          ]}
          filters={[
            filter.keyword(t('log.keyword')),
            filter.oneOf('outcome', t('column.result'), callOutcomes, (one) => t(`log.outcome.${one}`)),
            filter.keyword(t('log.requestKeyword'), 'request_id'),
          ]}
          toolbar={(filters) => (
            <Button
              loading={save.isPending}
              // Assembled from the address: the server judges what is in it.
              onClick={() => save.mutate({ body: { format: 'csv', ...filters, ...times.given } as BodyInput<typeof apiLogs.export> })}
            >
              {t('exportCsv')}
            </Button>
          )}
          empty={{ title: t('log.empty') }}
        />
      </div>
    </>
  )
}
