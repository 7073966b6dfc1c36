import Button from 'antd/es/button'
import Drawer from 'antd/es/drawer'
import Select from 'antd/es/select'
import Skeleton from 'antd/es/skeleton'
import { registries, type Registry } from '@zhisuan/contract/ims/registry'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { copyText } from '../../kit/copy.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import type { Dialog } from '../../kit/FormDialog.tsx'
import { consoleLines } from '../../kit/logText.ts'
import '../../kit/log.css'

const ranges = [100, 200, 500, 2_000] as const

/** The last of what the program of a registry wrote on its node. */
export default function RegistryLog({ registry, onClose }: Dialog<{ registry: Registry }>) {
  const { t } = useTranslation('mirror')
  const [range, setRange] = useState<number>(200)
  const { data, error, isFetching, refetch } = useCall(registries.log, { params: { id: registry.id }, query: { lines: range } }, { silent: true })
  const text = data?.text ?? ''
  const lines = useMemo(() => consoleLines(text), [text])
  const log = useRef<HTMLPreElement>(null)
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [lines])
  return (
    <Drawer open size={860} title={t('registry.logTitle', { name: registry.name })} onClose={onClose}>
      <div className="zs-bar">
        <Select
          aria-label={t('registry.logRange')}
          value={range}
          onChange={setRange}
          options={ranges.map((count) => ({ value: count, label: t('registry.logLines', { count }) }))}
        />
        <Button onClick={() => void refetch()} loading={isFetching}>
          {t('registry.logRefresh')}
        </Button>
        <Button onClick={() => void copyText(lines.join('\n'))} disabled={lines.length === 0}>
          {t('copy')}
        </Button>
      </div>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton active paragraph={{ rows: 8 }} />
      ) : lines.length === 0 ? (
        <EmptyState title={t('registry.logEmpty')}>{t('registry.logEmptyNote')}</EmptyState>
      ) : (
        <pre ref={log} className="zs-log zs-log-wrap" tabIndex={0} role="log" aria-live="off" aria-label={t('registry.logTitle', { name: registry.name })}>
          {lines.join('\n')}
        </pre>
      )}
    </Drawer>
  )
}
