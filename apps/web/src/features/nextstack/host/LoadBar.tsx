import Progress from 'antd/es/progress'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import './host.css'
import { fillOf } from './hostRules.ts'

const colours = { fine: 'var(--brand)', near: 'var(--warning)', over: 'var(--bad)' } as const

/** How much of something is taken, as a bar and in words: colour is never the only sign. */
export function LoadBar({
  label,
  shown = false,
  used,
  total,
  words,
}: {
  readonly label: string
  /** Whether the label stands above the bar, too; else a column's title says it. */
  readonly shown?: boolean
  readonly used: number
  readonly total: number
  readonly words: string
}) {
  const { t } = useTranslation('hardware')
  if (total <= 0) return format.nothing
  const fill = fillOf(used, total)
  const note = fill === 'over' ? t('load.over', { factor: format.number(used / total) }) : fill === 'near' ? t('load.near') : ''
  return (
    <div>
      <div className="nh-load-line">
        {shown && <span>{label}</span>}
        <span className="zs-number zs-soft">{words}</span>
        {note !== '' && <span className={`nh-load-${fill}`}>{note}</span>}
      </div>
      <Progress
        className="zs-meter"
        percent={Math.min(100, (used / total) * 100)}
        size="small"
        showInfo={false}
        strokeColor={colours[fill]}
        aria-label={`${label} ${words} ${note}`.trim()}
      />
    </div>
  )
}
