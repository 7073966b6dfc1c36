import DownOutlined from '@ant-design/icons/es/icons/DownOutlined'
import UpOutlined from '@ant-design/icons/es/icons/UpOutlined'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Input from 'antd/es/input'
import Skeleton from 'antd/es/skeleton'
import { vmCan, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { clearable } from '../../../kit/clearable.tsx'
import { downloadText } from '../../../kit/save.ts'
import { copyText } from '../../../kit/copy.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { consoleLines, findInLines, splitAtMatches } from '../../../kit/logText.ts'
import '../../../kit/log.css'

const followMs = 3_000
/** What a browser scrolls through easily; the whole is in the download. */
const linesShown = 5_000

/** What an instance printed on its console since it started. */
export function VmConsoleLog({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('nextstack')
  const allowed = (vmCan.consoleLog as readonly string[]).includes(vm.status)
  const [follow, setFollow] = useState(vm.status === 'running')
  const [wrap, setWrap] = useState(true)
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const { data, error, isFetching, refetch } = useCall(
    vms.consoleLog,
    { params: { id: vm.id } },
    { silent: true, enabled: allowed, refreshMs: () => (follow ? followMs : false) },
  )

  const text = data?.text ?? ''
  const all = useMemo(() => consoleLines(text), [text])
  const lines = useMemo(() => all.slice(-linesShown), [all])
  const search = useDeferredValue(wanted)
  const found = useMemo(() => findInLines(lines, search), [lines, search])
  const current = found.length === 0 ? -1 : (found[Math.min(at, found.length - 1)] ?? -1)

  const log = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    if (follow && atEnd.current) log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [follow, lines])
  useEffect(() => {
    if (current >= 0) log.current?.querySelector(`[data-line="${current}"]`)?.scrollIntoView({ block: 'center' })
  }, [current])

  if (!allowed) return <EmptyState title={t('console.off', { state: t(`status.${vm.status}`) })} />
  if (data === undefined) return error === null ? <Skeleton active paragraph={{ rows: 8 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const step = (by: number): void => setAt((Math.min(at, found.length - 1) + by + found.length) % found.length)
  return (
    <>
      <div className="zs-bar">
        <Checkbox checked={follow} onChange={(event) => setFollow(event.target.checked)}>
          {t('console.follow')}
        </Checkbox>
        <Checkbox checked={wrap} onChange={(event) => setWrap(event.target.checked)}>
          {t('console.wrap')}
        </Checkbox>
        <Button onClick={() => void refetch()} loading={isFetching && !follow}>
          {t('console.refresh')}
        </Button>
        <Button onClick={() => void copyText(all.join('\n'))} disabled={all.length === 0}>
          {t('console.copy')}
        </Button>
        <Button onClick={() => downloadText(`${vm.name}-console.log`, text)} disabled={all.length === 0}>
          {t('console.download')}
        </Button>
        <span className="zs-log-search">
          <Input
            allowClear={clearable}
            aria-label={t('console.search')}
            placeholder={t('console.search')}
            value={wanted}
            onChange={(event) => {
              setWanted(event.target.value)
              setAt(0)
            }}
            onPressEnter={(event) => found.length > 0 && step(event.shiftKey ? -1 : 1)}
          />
          <span className="zs-log-count" role="status">
            {search.trim() !== '' &&
              (found.length === 0 ? t('console.noMatch') : t('console.matches', { at: Math.min(at, found.length - 1) + 1, count: found.length }))}
          </span>
          <Button icon={<UpOutlined />} aria-label={t('console.previous')} disabled={found.length === 0} onClick={() => step(-1)} />
          <Button icon={<DownOutlined />} aria-label={t('console.next')} disabled={found.length === 0} onClick={() => step(1)} />
        </span>
      </div>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {lines.length === 0 ? (
        <EmptyState title={t('console.empty')}>{t('console.emptyNote')}</EmptyState>
      ) : (
        <>
          <div
            ref={log}
            className={`zs-log${wrap ? ' zs-log-wrap' : ''}`}
            tabIndex={0}
            role="log"
            aria-live="off"
            aria-label={t('detail.tab.console')}
            onScroll={({ currentTarget: box }) => {
              atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 24
            }}
          >
            {lines.map((line, index) => (
              // Lines are only ever added at the end, or all are new.
              <Line key={index} index={index} text={line} search={found.includes(index) ? search : ''} current={index === current} />
            ))}
          </div>
          <p className="zs-soft">
            {t('console.lines', { count: all.length, size: format.bytes(new Blob([text]).size) })}{' '}
            {all.length > lines.length && t('console.cut', { count: linesShown })}
          </p>
        </>
      )}
    </>
  )
}

const Line = memo(({ index, text, search, current }: { index: number; text: string; search: string; current: boolean }) => (
  <div data-line={index} className={current ? 'zs-log-current' : undefined}>
    {search === '' ? text : splitAtMatches(text, search).map((part, place) => (place % 2 === 1 ? <mark key={place}>{part}</mark> : part))}
    {'\n'}
  </div>
))
