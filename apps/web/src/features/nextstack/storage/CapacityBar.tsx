import Progress from 'antd/es/progress'
import { useTranslation } from '../../../i18n.ts'
import * as format from '../../../kit/format.ts'
import './storage.css'
import { fillOf, shareOf } from './storageRules.ts'

const colours = { fine: 'var(--brand)', near: 'var(--warning)', full: 'var(--bad)' } as const

/** How full something is, as a bar and in words: colour is never the only sign. Bytes. */
export function CapacityBar({ label, used, total }: { readonly label: string; readonly used: number; readonly total: number }) {
  const { t } = useTranslation('storage')
  const share = shareOf(used, total)
  if (share === null) return format.nothing
  const fill = fillOf(used, total)
  const words = t('capacity.used', { used: format.bytes(used), total: format.bytes(total) })
  return (
    <div className="st-capacity">
      <Progress percent={share * 100} showInfo={false} size="small" strokeColor={colours[fill]} aria-label={`${label} ${words}`} />
      <div className="st-capacity-text zs-number">
        <span>{words}</span>
        <span className={`st-fill-${fill}`}>
          {format.percent(share)}
          {fill !== 'fine' && ` ${t(`capacity.${fill}`)}`}
        </span>
      </div>
    </div>
  )
}
