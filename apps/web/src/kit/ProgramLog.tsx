import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Select from 'antd/es/select'
import Skeleton from 'antd/es/skeleton'
import type { registries } from '@zhisuan/contract/ims/registry'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../i18n.ts'
import { useCall } from '../api/hooks.ts'
import { copyText } from './copy.ts'
import { EmptyState } from './EmptyState.tsx'
import { ErrorPanel } from './ErrorPanel.tsx'
import type { Dialog } from './FormDialog.tsx'
import { consoleLines } from './logText.ts'
import './log.css'

const ranges = [100, 200, 500, 2_000] as const

/** The last of what a program that the platform runs wrote on its node. */
export default function ProgramLog({
  call,
  id,
  name,
  onClose,
}: Dialog<{
  /** The registries', or one like it. */
  call: typeof registries.log
  id: string
  name: string
}>) {
  const { t } = useTranslation('kit')
  const [range, setRange] = useState<number>(200)
  const { data, error, isFetching, refetch } = useCall(call, { params: { id }, query: { lines: range } }, { silent: true })
  const text = data?.text ?? ''
  const lines = useMemo(() => consoleLines(text), [text])
  const log = useRef<HTMLPreElement>(null)
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [lines])
  return (
    <Drawer open size={860} title={t('programLog.title', { name })} onClose={onClose}>
      <div className="zs-bar">
        <Select
          aria-label={t('programLog.range')}
          value={range}
          onChange={setRange}
          options={ranges.map((count) => ({ value: count, label: t('programLog.lines', { count }) }))}
        />
        <Button onClick={() => void refetch()} loading={isFetching}>
          {t('programLog.refresh')}
        </Button>
        <Button onClick={() => void copyText(lines.join('\n'))} disabled={lines.length === 0}>
          {t('programLog.copy')}
        </Button>
      </div>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton active paragraph={{ rows: 8 }} />
      ) : lines.length === 0 ? (
        <EmptyState title={t('programLog.empty')}>{t('programLog.emptyNote')}</EmptyState>
      ) : (
        <pre ref={log} className="zs-log zs-log-wrap" tabIndex={0} role="log" aria-live="off" aria-label={t('programLog.title', { name })}>
          {lines.join('\n')}
        </pre>
      )}
    </Drawer>
  )
}
