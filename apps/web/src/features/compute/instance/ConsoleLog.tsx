import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Select from 'antd/es/select'
import Skeleton from 'antd/es/skeleton'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeInstances, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { copyText } from '../../../kit/copy.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { downloadText } from '../../../kit/save.ts'
import { consoleLines } from '../../../kit/logText.ts'
import { whyNotInstance } from './instanceRules.ts'
import '../../../kit/log.css'

const followMs = 5_000
const ranges = [100, 500, 2_000, 10_000] as const

/** The last of what an instance printed on its serial console. */
export function ConsoleLog({ instance, cloud }: { readonly instance: ComputeInstance; readonly cloud: CloudBasic }) {
  const { t } = useTranslation('computeInstance')
  const off = whyNotInstance(t, 'consoleLog', instance, cloud)
  const [range, setRange] = useState<number>(500)
  const [follow, setFollow] = useState(false)
  const { data, error, isFetching, refetch } = useCall(
    computeInstances.consoleLog,
    { params: { cloud_id: cloud.cloud_id, id: instance.id }, query: { lines: range } },
    { silent: true, enabled: off === null, refreshMs: () => (follow ? followMs : false) },
  )
  const text = data?.text ?? ''
  const lines = useMemo(() => consoleLines(text), [text])
  const log = useRef<HTMLPreElement>(null)
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [lines])

  if (off !== null) return <EmptyState title={off} />
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 8 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  return (
    <>
      <div className="zs-bar">
        <Select
          aria-label={t('log.range')}
          value={range}
          onChange={setRange}
          options={ranges.map((count) => ({ value: count, label: t('log.lines', { count }) }))}
        />
        <Checkbox checked={follow} onChange={(event) => setFollow(event.target.checked)}>
          {t('log.follow')}
        </Checkbox>
        <Button onClick={() => void refetch()} loading={isFetching && !follow}>
          {t('log.refresh')}
        </Button>
        <Button onClick={() => void copyText(lines.join('\n'))} disabled={lines.length === 0}>
          {t('log.copy')}
        </Button>
        <Button onClick={() => downloadText(`${instance.name}-console.log`, text)} disabled={lines.length === 0}>
          {t('log.download')}
        </Button>
      </div>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {lines.length === 0 ? (
        <EmptyState title={t('log.empty')}>{t('log.emptyNote')}</EmptyState>
      ) : (
        <>
          <pre ref={log} className="zs-log zs-log-wrap" tabIndex={0} role="log" aria-live="off" aria-label={t('detail.tab.console')}>
            {lines.join('\n')}
          </pre>
          <p className="zs-soft">{t('log.shown', { count: lines.length, size: format.bytes(new Blob([text]).size) })}</p>
        </>
      )}
    </>
  )
}
