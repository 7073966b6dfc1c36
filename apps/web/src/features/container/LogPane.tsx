import { memo, useEffect, useRef } from 'react'
import { useTranslation } from '../../i18n.ts'
import * as format from '../../kit/format.ts'
import { splitAtMatches } from '../../kit/logText.ts'
import type { LogLook, ShownLine } from './logLines.ts'
import '../../kit/log.css'
import './container.css'

/** Lines of a log. Stays at the end while more come, unless the person scrolled away from it. */
export function LogPane({
  lines,
  look,
  name,
  search,
  found,
  current,
  held = false,
}: {
  readonly lines: readonly ShownLine[]
  readonly look: LogLook
  /** Of the container, said to screen readers. */
  readonly name: string
  readonly search: string
  /** Numbers of the lines in which the text occurs. */
  readonly found: readonly number[]
  /** The one that is gone to; null for none. */
  readonly current: number | null
  /** Stays where it is. */
  readonly held?: boolean
}) {
  const { t } = useTranslation('container')
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    if (!held && atEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [held, lines])
  useEffect(() => {
    if (current !== null) box.current?.querySelector(`[data-line="${current}"]`)?.scrollIntoView({ block: 'center' })
  }, [current])
  const matching = new Set(found)
  return (
    <div
      ref={box}
      className={`zs-log${look.wrap ? ' zs-log-wrap' : ''}`}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label={t('log.label', { name })}
      onScroll={({ currentTarget: at }) => {
        atEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24
      }}
    >
      {lines.map((line) => (
        <Line key={line.number} line={line} times={look.times} search={matching.has(line.number) ? search : ''} current={line.number === current} />
      ))}
    </div>
  )
}

const Line = memo(({ line: { number, at, stream, text }, times, search, current }: { line: ShownLine; times: boolean; search: string; current: boolean }) => (
  <div data-line={number} className={[current ? 'zs-log-current' : '', stream === 'stderr' ? 'cn-log-stderr' : ''].join(' ').trim()}>
    {times && at !== null && <span className="cn-log-time">{`${format.dateTime(at)} `}</span>}
    {search === '' ? text : splitAtMatches(text, search).map((part, place) => (place % 2 === 1 ? <mark key={place}>{part}</mark> : part))}
    {'\n'}
  </div>
))
