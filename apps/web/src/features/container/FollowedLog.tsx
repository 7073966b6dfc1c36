import DownOutlined from '@ant-design/icons/es/icons/DownOutlined'
import UpOutlined from '@ant-design/icons/es/icons/UpOutlined'
import Button from 'antd/es/button'
import Checkbox from 'antd/es/checkbox'
import Input from 'antd/es/input'
import type { Container } from '@zhisuan/contract/cis/container'
import { useDeferredValue, useMemo, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { clearable } from '../../kit/clearable.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { StatusTag, type StatusTone } from '../../kit/StatusTag.tsx'
import { linesKept, type FollowState } from './logFollow.ts'
import { LogPane } from './LogPane.tsx'
import { findLines, type LogLook } from './logLines.ts'
import { useLog } from './useLog.ts'
import '../../kit/log.css'

const tones: Readonly<Record<FollowState, StatusTone>> = { connecting: 'busy', following: 'good', waiting: 'warning', ended: 'rest', refused: 'bad' }

/** The log as it is printed, with a search through what is shown of it. */
export function FollowedLog({ container, look }: { readonly container: Container; readonly look: LogLook }) {
  const { t } = useTranslation('container')
  const { lines, state, error, again } = useLog(container)
  const [held, setHeld] = useState(false)
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const search = useDeferredValue(wanted)
  const found = useMemo(() => findLines(lines, search), [lines, search])
  const place = Math.min(at, found.length - 1)
  const step = (by: number): void => setAt((place + by + found.length) % found.length)
  return (
    <>
      <div className="zs-bar">
        <span role="status">
          <StatusTag tone={tones[state]}>{t(`log.state.${state}`)}</StatusTag>
        </span>
        {(state === 'ended' || state === 'refused') && <Button onClick={again}>{t('log.again')}</Button>}
        <Checkbox checked={held} onChange={(event) => setHeld(event.target.checked)}>
          {t('log.pause')}
        </Checkbox>
        <span className="zs-log-search">
          <Input
            allowClear={clearable}
            aria-label={t('log.find')}
            placeholder={t('log.find')}
            value={wanted}
            onChange={(event) => {
              setWanted(event.target.value)
              setAt(0)
            }}
            onPressEnter={(event) => found.length > 0 && step(event.shiftKey ? -1 : 1)}
          />
          <span className="zs-log-count" role="status">
            {search.trim() !== '' && (found.length === 0 ? t('log.noMatch') : t('log.matches', { at: place + 1, count: found.length }))}
          </span>
          <Button icon={<UpOutlined />} aria-label={t('log.previous')} disabled={found.length === 0} onClick={() => step(-1)} />
          <Button icon={<DownOutlined />} aria-label={t('log.next')} disabled={found.length === 0} onClick={() => step(1)} />
        </span>
      </div>
      {state === 'refused' && error !== null && <ErrorPanel error={error} onRetry={again} />}
      {lines.length === 0 ? (
        state === 'following' || state === 'ended' ? (
          <EmptyState title={t('log.empty')}>{t('log.emptyNote')}</EmptyState>
        ) : null
      ) : (
        <>
          <LogPane lines={lines} look={look} name={container.name} search={search} found={found} current={found[place] ?? null} held={held} />
          <p className="zs-soft">{t('log.kept', { count: linesKept })}</p>
        </>
      )}
    </>
  )
}
